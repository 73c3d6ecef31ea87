// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>
#include <cerrno>
#include <iterator>
#include <new>
#include <utility>

namespace vmrun::sockets {

Settings settings;

namespace {

ErlNifResourceType* socket_type = nullptr;
ErlNifPid registry;  // the process socket_registry
bool has_registry = false;

Socket& socket_in(void* resource) { return *static_cast<Socket*>(resource); }

// ---- How many there are ----

struct Kind {
  const char* name;
  bool (*is)(const Socket& s);
};
constexpr Kind kKinds[] = {
    {"num_sockets", [](const Socket&) { return true; }},
    {"num_tstreams", [](const Socket& s) { return s.type == SOCK_STREAM; }},
    {"num_tdgrams", [](const Socket& s) { return s.type == SOCK_DGRAM; }},
    {"num_tseqpkgs", [](const Socket& s) { return s.type == SOCK_SEQPACKET; }},
    {"num_dlocal", [](const Socket& s) { return s.domain == AF_UNIX; }},
    {"num_dinet", [](const Socket& s) { return s.domain == AF_INET; }},
    {"num_dinet6", [](const Socket& s) { return s.domain == AF_INET6; }},
    {"num_pip", [](const Socket& s) { return s.protocol == IPPROTO_IP && s.domain != AF_UNIX; }},
    {"num_psctp", [](const Socket& s) { return s.protocol == IPPROTO_SCTP; }},
    {"num_ptcp", [](const Socket& s) { return s.protocol == IPPROTO_TCP; }},
    {"num_pudp", [](const Socket& s) { return s.protocol == IPPROTO_UDP; }},
};
std::atomic<std::int64_t> numbers[std::size(kKinds)];

void count(const Socket& s, int by) {
  for (std::size_t i = 0; i < std::size(kKinds); ++i)
    if (kKinds[i].is(s)) numbers[i].fetch_add(by, std::memory_order_relaxed);
}

// ---- socket_registry ----

/// {'$socket', Tag, Socket}
void tell_registry(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM tag) {
  ErlNifEnv* made = enif_alloc_env();
  enif_send(env, &registry, made, tuple(made, atoms::socket_tag, tag, term_of(made, socket)));
  enif_free_env(made);
}

bool is_connected(int fd) {
  sockaddr_storage peer;
  socklen_t size = sizeof peer;
  return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

// ---- The resource ----

void destroy(ErlNifEnv*, void* resource) { socket_in(resource).~Socket(); }

void descriptor_free(ErlNifEnv*, void*, ErlNifEvent, int) {}  // the caller that stops selecting does the rest

void process_down(ErlNifEnv* env, void* resource, ErlNifPid* pid, ErlNifMonitor*) {
  Socket& socket = socket_in(resource);
  std::unique_lock reading(socket.read_mutex), writing(socket.write_mutex);
  if (socket.read_state & kClosed) return;
  const bool closing = socket.read_state & kClosing;
  if (enif_compare_pids(pid, closing ? &socket.closer : &socket.owner) == 0) {
    socket.owned = false;
    if (!closing) begin_close(env, socket);
    const int fd = end_close(socket);
    writing.unlock();
    reading.unlock();
    return close_at_once(fd);
  }
  if (!closing)
    for (WaitQueue* queue : {&socket.readers, &socket.acceptors, &socket.writers, &socket.connectors})
      queue->forget(env, socket, *pid);
}

}  // namespace

Socket::~Socket() {
  if (fd >= 0) {
    if (!(read_state & kClosing)) count(*this, -1);
    close_at_once(end_close(*this));
  }
  if (meta_env) enif_free_env(meta_env);
}

bool load_sockets(ErlNifEnv* env, ERL_NIF_TERM load_info) {
  make_atoms(env);
  ERL_NIF_TERM value;
  has_registry =
      get_field(env, load_info, atoms::registry, &value) && enif_get_local_pid(env, value, &registry);
  const auto set = [&](const char* key, std::atomic<bool>& setting) {
    bool is_on;
    if (get_field(env, load_info, key, &value) && get_boolean(value, &is_on)) setting = is_on;
  };
  set("debug", settings.debug);
  set("socket_debug", settings.socket_debug);
  set("use_registry", settings.use_registry);
  set("iow", settings.counter_wrap);
  const ErlNifResourceTypeInit callbacks{destroy, descriptor_free, process_down, 3, nullptr};
  const auto flags = static_cast<ErlNifResourceFlags>(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER);
  socket_type = enif_open_resource_type_x(env, "sockets", &callbacks, flags, nullptr);
  return socket_type != nullptr;
}

Socket* socket_of(ErlNifEnv* env, ERL_NIF_TERM reference) {
  void* resource = nullptr;
  return enif_get_resource(env, reference, socket_type, &resource) ? &socket_in(resource) : nullptr;
}

ERL_NIF_TERM reference_to(ErlNifEnv* env, Socket& socket) { return enif_make_resource(env, &socket); }
ERL_NIF_TERM term_of(ErlNifEnv* env, Socket& socket) {
  return tuple(env, atoms::socket_tag, reference_to(env, socket));
}

ERL_NIF_TERM make_socket(ErlNifEnv* env, int fd, int domain, int type, int protocol, const Making& how) {
  void* resource = enif_alloc_resource(socket_type, sizeof(Socket));
  if (!resource) {
    if (how.closes_fd) ::close(fd);
    return posix_error(env, ENOMEM);
  }
  Socket& socket = *new (resource) Socket(fd, domain, type, protocol);
  socket.opened_from = how.opened_from;
  socket.closes_fd = how.closes_fd;
  socket.debug = how.debugs;
  socket.counter_wrap = settings.counter_wrap.load();
  if (how.listener) {
    socket.read_bytes = how.listener->read_bytes;
    socket.reads_at_once = how.listener->reads_at_once;
    socket.read_control_bytes = how.listener->read_control_bytes;
    socket.write_control_bytes = how.listener->write_control_bytes;
  }
  if (how.listener || (how.opened_from >= 0 && is_connected(fd))) socket.write_state |= kConnected;
  count(socket, 1);
  const ERL_NIF_TERM reference = reference_to(env, socket);
  enif_self(env, &socket.owner);
  socket.owned = enif_monitor_process(env, &socket, &socket.owner, &socket.owner_monitor) == 0;
  if (how.registers) enter_in_registry(env, socket);
  enif_release_resource(resource);
  return ok(env, reference);
}

void enter_in_registry(ErlNifEnv* env, Socket& socket) {
  if (socket.in_registry || !has_registry) return;
  socket.in_registry = true;
  tell_registry(env, socket, atoms::add);
}

void begin_close(ErlNifEnv* env, Socket& socket) {
  if (socket.owned) enif_demonitor_process(env, &socket, &socket.owner_monitor);
  socket.owned = false;
  const bool selected = (socket.read_state | socket.write_state) & kSelected;
  socket.read_state |= kClosing;
  socket.write_state |= kClosing;
  for (WaitQueue* queue : {&socket.readers, &socket.acceptors, &socket.writers, &socket.connectors})
    queue->abort_all(env, socket, atoms::closed);
  if (selected) enif_select_x(env, socket.fd, ERL_NIF_SELECT_STOP, &socket, nullptr, 0, nullptr);
  if (socket.in_registry) tell_registry(env, socket, atoms::del);
  socket.in_registry = false;
  count(socket, -1);
}

int end_close(Socket& socket) {
  socket.read_state |= kClosed;
  socket.write_state |= kClosed;
  if (const int file = std::exchange(socket.file, -1); file >= 0) ::close(file);
  const int fd = std::exchange(socket.fd, -1);
  return socket.closes_fd ? fd : -1;
}

void close_at_once(int fd) {
  linger l{};
  socklen_t size = sizeof l;
  if (getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &size) == 0 && l.l_onoff && l.l_linger != 0) {
    l = {};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
  }
  if (fd >= 0) ::close(fd);
}

ERL_NIF_TERM open_sockets(ErlNifEnv* env) {
  Pairs pairs{{atom(env, "num_cnt_bits"), enif_make_int(env, 64)}};
  for (std::size_t i = 0; i < std::size(kKinds); ++i)
    pairs.emplace_back(atom(env, kKinds[i].name),
                       enif_make_int64(env, numbers[i].load(std::memory_order_relaxed)));
  return map(env, pairs);
}

}  // namespace vmrun::sockets
