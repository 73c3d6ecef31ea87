// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/otp_options.hpp"

#include "drivers/socket/address_terms.hpp"

namespace vmrun::sockets {
namespace {

bool is_owner(ErlNifEnv* env, const Socket& socket) {
  ErlNifPid self;
  return enif_self(env, &self) && enif_compare_pids(&self, &socket.owner) == 0;
}

ERL_NIF_TERM not_owner(ErlNifEnv* env) { return error(env, invalid(env, atom(env, "not_owner"))); }
ERL_NIF_TERM invalid_value(ErlNifEnv* env) { return invalid(env, atoms::value); }

using Set = ERL_NIF_TERM (*)(ErlNifEnv*, Socket&, ERL_NIF_TERM);
using Get = ERL_NIF_TERM (*)(ErlNifEnv*, const Socket&);

template <std::atomic<bool> Socket::*flag>
ERL_NIF_TERM set_flag(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM value) {
  bool is_on;
  if (!get_boolean(value, &is_on)) return invalid_value(env);
  socket.*flag = is_on;
  return atoms::ok;
}
template <std::atomic<bool> Socket::*flag>
ERL_NIF_TERM get_flag(ErlNifEnv*, const Socket& socket) {
  return boolean(socket.*flag);
}

/// Reads a size of at least one byte; `default` stands for `otherwise`.
bool get_size(ErlNifEnv* env, ERL_NIF_TERM value, std::size_t otherwise, std::size_t* to) {
  ErlNifUInt64 bytes;
  if (value == atom(env, "default")) return *to = otherwise, true;
  if (!enif_get_uint64(env, value, &bytes) || bytes == 0 || bytes > INT32_MAX) return false;
  return *to = bytes, true;
}
template <std::size_t Socket::*size>
ERL_NIF_TERM set_control_size(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM value) {
  return get_size(env, value, Socket::kDefaultControlBytes, &(socket.*size)) ? atoms::ok : invalid_value(env);
}
template <std::size_t Socket::*size>
ERL_NIF_TERM get_control_size(ErlNifEnv* env, const Socket& socket) {
  return enif_make_uint64(env, socket.*size);
}

/// Takes Size, or {N, Size}: the size of the buffer, and how many more buffers are read, each after
/// a full one, when a call asks for all available bytes.
ERL_NIF_TERM set_read_size(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM value) {
  int arity;
  unsigned times = 0;
  const ERL_NIF_TERM* parts;
  if (enif_get_tuple(env, value, &arity, &parts)) {
    if (arity != 2 || !enif_get_uint(env, parts[0], &times) || times == 0) return invalid_value(env);
    value = parts[1];
  }
  if (!get_size(env, value, Socket::kDefaultReadBytes, &socket.read_bytes)) return invalid_value(env);
  socket.reads_at_once = times;
  socket.reads_done = 0;
  return atoms::ok;
}
ERL_NIF_TERM get_read_size(ErlNifEnv* env, const Socket& socket) {
  const ERL_NIF_TERM size = enif_make_uint64(env, socket.read_bytes);
  return socket.reads_at_once ? tuple(env, enif_make_uint(env, socket.reads_at_once), size) : size;
}

ERL_NIF_TERM set_owner(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM value) {
  ErlNifPid pid;
  if (!is_owner(env, socket)) return not_owner(env);
  if (!enif_get_local_pid(env, value, &pid)) return invalid_value(env);
  ErlNifMonitor monitor;
  if (enif_monitor_process(env, &socket, &pid, &monitor) != 0) return invalid_value(env);
  if (socket.owned) enif_demonitor_process(env, &socket, &socket.owner_monitor);
  socket.owner = pid;
  socket.owner_monitor = monitor;
  socket.owned = true;
  return atoms::ok;
}
ERL_NIF_TERM get_owner(ErlNifEnv* env, const Socket& socket) { return enif_make_pid(env, &socket.owner); }

ERL_NIF_TERM set_meta(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM value) {
  if (!is_owner(env, socket)) return not_owner(env);
  if (socket.meta_env) enif_clear_env(socket.meta_env);
  else socket.meta_env = enif_alloc_env();
  socket.meta = enif_make_copy(socket.meta_env, value);
  return atoms::ok;
}
ERL_NIF_TERM get_meta(ErlNifEnv* env, const Socket& socket) {
  return socket.meta_env ? enif_make_copy(env, socket.meta) : atoms::undefined;
}

/// The socket can be entered into the registry, but not removed from it.
ERL_NIF_TERM set_registered(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM value) {
  if (value != atoms::true_) return invalid_value(env);
  enter_in_registry(env, socket);
  return atoms::ok;
}
ERL_NIF_TERM get_registered(ErlNifEnv*, const Socket& socket) { return boolean(socket.in_registry); }

ERL_NIF_TERM get_fd(ErlNifEnv* env, const Socket& socket) { return enif_make_int(env, socket.fd); }
ERL_NIF_TERM get_domain_name(ErlNifEnv* env, const Socket& socket) { return domain_term(env, socket.domain); }
/// {Domain, Type, Protocol}
ERL_NIF_TERM get_kind(ErlNifEnv* env, const Socket& socket) {
  return tuple(env, domain_term(env, socket.domain), type_term(env, socket.type),
               enif_make_int(env, socket.protocol));
}
ERL_NIF_TERM get_type_name(ErlNifEnv* env, const Socket& socket) { return type_term(env, socket.type); }
ERL_NIF_TERM get_protocol(ErlNifEnv* env, const Socket& socket) {
  return enif_make_int(env, socket.protocol);
}

/// The numbers are those by which prim_socket names the options.
struct OtpOption {
  int number;
  Set set;
  Get get;
};
constexpr OtpOption kOptions[] = {
    {1001, set_flag<&Socket::debug>, get_flag<&Socket::debug>},
    {1002, set_flag<&Socket::counter_wrap>, get_flag<&Socket::counter_wrap>},
    {1003, set_owner, get_owner},
    {1004, set_read_size, get_read_size},
    {1006, set_control_size<&Socket::read_control_bytes>, get_control_size<&Socket::read_control_bytes>},
    {1007, set_control_size<&Socket::write_control_bytes>, get_control_size<&Socket::write_control_bytes>},
    {1008, nullptr, get_fd},
    {1009, set_meta, get_meta},
    {1010, set_registered, get_registered},
    {1011, set_flag<&Socket::select_read>, get_flag<&Socket::select_read>},
    {1996, nullptr, get_kind},
    {1997, nullptr, get_protocol},
    {1998, nullptr, get_type_name},
    {1999, nullptr, get_domain_name},
};

const OtpOption* find(int number) {
  for (const OtpOption& option : kOptions)
    if (option.number == number) return &option;
  return nullptr;
}

}  // namespace

ERL_NIF_TERM set_otp_option(ErlNifEnv* env, Socket& socket, int number, ERL_NIF_TERM value) {
  const OtpOption* option = find(number);
  if (!option || !option->set)
    return raise_invalid(env, tuple(env, atom(env, "otp_socket_option"), enif_make_int(env, number)));
  std::scoped_lock lock(socket.read_mutex, socket.write_mutex);
  return socket.can_read() ? option->set(env, socket, value) : closed(env);
}

ERL_NIF_TERM get_otp_option(ErlNifEnv* env, Socket& socket, int number) {
  const OtpOption* option = find(number);
  if (!option) return invalid(env, atoms::socket_option);
  std::scoped_lock lock(socket.read_mutex, socket.write_mutex);
  return socket.can_read() ? ok(env, option->get(env, socket)) : closed(env);
}

}  // namespace vmrun::sockets
