// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/ioctl_table.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// Requests: about network interfaces, through a socket, and about what a socket has received.
namespace vmrun::sockets {
namespace {

/// An errno.
int control(const Socket& socket, unsigned long request, void* argument) {
  return ::ioctl(socket.fd, request, argument) == 0 ? 0 : errno;
}

bool get_interface(ErlNifEnv* env, ERL_NIF_TERM term, ifreq* to) {
  char name[256];
  if (enif_get_string(env, term, name, sizeof name, ERL_NIF_LATIN1) <= 0) return false;
  std::memcpy(to->ifr_name, name, IFNAMSIZ - 1);
  to->ifr_name[IFNAMSIZ - 1] = 0;
  return true;
}

ERL_NIF_TERM interface_address(ErlNifEnv* env, const sockaddr& address) {
  Address copy{};
  copy.base = address;
  return address_term(env, copy, sizeof address);
}

// ---- Results ----

ERL_NIF_TERM show_address(ErlNifEnv* env, const ifreq& r) { return interface_address(env, r.ifr_addr); }
ERL_NIF_TERM show_hardware(ErlNifEnv* env, const ifreq& r) {
  return map(env, {{atoms::family, hardware_term(env, r.ifr_hwaddr.sa_family)},
                   {atoms::addr, binary(env, r.ifr_hwaddr.sa_data, sizeof r.ifr_hwaddr.sa_data)}});
}
ERL_NIF_TERM show_index(ErlNifEnv* env, const ifreq& r) { return enif_make_int(env, r.ifr_ifindex); }
ERL_NIF_TERM show_mtu(ErlNifEnv* env, const ifreq& r) { return enif_make_int(env, r.ifr_mtu); }
ERL_NIF_TERM show_queue(ErlNifEnv* env, const ifreq& r) { return enif_make_int(env, r.ifr_qlen); }
ERL_NIF_TERM show_name(ErlNifEnv* env, const ifreq& r) {
  return enif_make_string_len(env, r.ifr_name, strnlen(r.ifr_name, IFNAMSIZ), ERL_NIF_LATIN1);
}
ERL_NIF_TERM show_flags(ErlNifEnv* env, const ifreq& r) {
  std::vector<ERL_NIF_TERM> names;
  for (const Named& flag : interface_flags())
    if (r.ifr_flags & flag.value) names.push_back(atom(env, flag.name));
  return list(env, names);
}
ERL_NIF_TERM show_map(ErlNifEnv* env, const ifreq& r) {
  return map(env, {{atom(env, "mem_start"), enif_make_uint64(env, r.ifr_map.mem_start)},
                   {atom(env, "mem_end"), enif_make_uint64(env, r.ifr_map.mem_end)},
                   {atom(env, "base_addr"), enif_make_uint(env, r.ifr_map.base_addr)},
                   {atom(env, "irq"), enif_make_uint(env, r.ifr_map.irq)},
                   {atom(env, "dma"), enif_make_uint(env, r.ifr_map.dma)},
                   {atoms::port, enif_make_uint(env, r.ifr_map.port)}});
}

struct Question {
  unsigned long request;
  ERL_NIF_TERM (*show)(ErlNifEnv*, const ifreq&);
};
constexpr Question kQuestions[] = {
    {SIOCGIFNAME, show_name},       {SIOCGIFINDEX, show_index},     {SIOCGIFFLAGS, show_flags},
    {SIOCGIFADDR, show_address},    {SIOCGIFDSTADDR, show_address}, {SIOCGIFBRDADDR, show_address},
    {SIOCGIFNETMASK, show_address}, {SIOCGIFHWADDR, show_hardware}, {SIOCGIFMTU, show_mtu},
    {SIOCGIFTXQLEN, show_queue},    {SIOCGIFMAP, show_map},
};

/// [#{name, addr}] of the interfaces with IPv4 addresses.
ERL_NIF_TERM interfaces(ErlNifEnv* env, const Socket& socket) {
  ifconf all{};
  if (const int number = control(socket, SIOCGIFCONF, &all)) return posix_error(env, number);
  std::vector<ifreq> rows(static_cast<std::size_t>(all.ifc_len) / sizeof(ifreq) + 1);
  all.ifc_len = static_cast<int>(rows.size() * sizeof(ifreq));
  all.ifc_req = rows.data();
  if (const int number = control(socket, SIOCGIFCONF, &all)) return posix_error(env, number);
  rows.resize(static_cast<std::size_t>(all.ifc_len) / sizeof(ifreq));
  std::vector<ERL_NIF_TERM> terms;
  for (const ifreq& row : rows)
    terms.push_back(map(env, {{atoms::name, show_name(env, row)}, {atoms::addr, show_address(env, row)}}));
  return ok(env, list(env, terms));
}

// ---- Settings ----

bool set_address(ErlNifEnv* env, const Socket&, ERL_NIF_TERM value, ifreq* to) {
  SizedAddress address;
  if (!get_address(env, value, &address)) return false;
  to->ifr_addr = address.address.base;
  return true;
}
bool set_mtu(ErlNifEnv* env, const Socket&, ERL_NIF_TERM value, ifreq* to) {
  return enif_get_int(env, value, &to->ifr_mtu);
}
bool set_queue(ErlNifEnv* env, const Socket&, ERL_NIF_TERM value, ifreq* to) {
  return enif_get_int(env, value, &to->ifr_qlen);
}
/// Reads #{Flag := boolean()} into their numbers; other flags do not change. A missing interface is
/// noticed later.
bool set_flags(ErlNifEnv* env, const Socket& socket, ERL_NIF_TERM value, ifreq* to) {
  if (control(socket, SIOCGIFFLAGS, to) != 0) return true;
  ErlNifMapIterator all;
  if (!enif_map_iterator_create(env, value, &all, ERL_NIF_MAP_ITERATOR_FIRST)) return false;
  bool valid = true;
  ERL_NIF_TERM key, set;
  for (; valid && enif_map_iterator_get_pair(env, &all, &key, &set); enif_map_iterator_next(env, &all)) {
    int flag;
    bool is_on;
    valid = enif_get_int(env, key, &flag) && get_boolean(set, &is_on);
    if (!valid) break;
    const int flags = is_on ? to->ifr_flags | flag : to->ifr_flags & ~flag;
    to->ifr_flags = static_cast<short>(flags);
  }
  enif_map_iterator_destroy(env, &all);
  return valid;
}

struct Command {
  unsigned long request;
  const char* what;  // the name of a wrong value
  bool (*set)(ErlNifEnv*, const Socket&, ERL_NIF_TERM, ifreq*);
};
constexpr Command kCommands[] = {
    {SIOCSIFFLAGS, "flags", set_flags},
    {SIOCSIFADDR, "sockaddr", set_address},
    {SIOCSIFDSTADDR, "sockaddr", set_address},
    {SIOCSIFBRDADDR, "sockaddr", set_address},
    {SIOCSIFMTU, "mtu", set_mtu},
    {SIOCSIFTXQLEN, "txqlen", set_queue},
};

ERL_NIF_TERM ask(ErlNifEnv* env, const Socket& socket, const Question& question, ERL_NIF_TERM about) {
  ifreq r{};
  const bool by_index = question.request == SIOCGIFNAME;
  if (by_index ? !enif_get_int(env, about, &r.ifr_ifindex) : !get_interface(env, about, &r))
    return enif_make_badarg(env);
  const int number = control(socket, question.request, &r);
  return number ? posix_error(env, number) : ok(env, question.show(env, r));
}

ERL_NIF_TERM command(ErlNifEnv* env, const Socket& socket, const Command& c, ERL_NIF_TERM name,
                     ERL_NIF_TERM value) {
  ifreq r{};
  if (!get_interface(env, name, &r)) return enif_make_badarg(env);
  if (!c.set(env, socket, value, &r)) return invalid(env, atom(env, c.what));
  const int number = control(socket, c.request, &r);
  return number ? posix_error(env, number) : atoms::ok;
}

/// Calls act(socket, request) with the socket open and its read_mutex held.
template <class Act>
ERL_NIF_TERM with_socket(ErlNifEnv* env, const ERL_NIF_TERM* a, Act act) {
  Socket* socket = socket_of(env, a[0]);
  unsigned long request;
  if (!socket || !enif_get_ulong(env, a[1], &request)) return enif_make_badarg(env);
  std::lock_guard lock(socket->read_mutex);
  return socket->can_read() ? act(*socket, request) : closed(env);
}

}  // namespace

namespace native {

/// (Socket, gifconf | nread | atmark): {ok, Value}, {error, Reason}
ERL_NIF_TERM ioctl_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return with_socket(env, a, [&](const Socket& socket, unsigned long request) {
    if (request == SIOCGIFCONF) return interfaces(env, socket);
    if (request != FIONREAD && request != SIOCATMARK) return posix_error(env, ENOTSUP);
    int value = 0;
    if (const int number = control(socket, request, &value)) return posix_error(env, number);
    return ok(env, request == FIONREAD ? enif_make_int(env, value) : boolean(value != 0));
  });
}

/// (Socket, Request, Interface): {ok, Value}, {error, Reason}
ERL_NIF_TERM ioctl_3(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return with_socket(env, a, [&](const Socket& socket, unsigned long request) {
    for (const Question& question : kQuestions)
      if (question.request == request) return ask(env, socket, question, a[2]);
    return posix_error(env, ENOTSUP);
  });
}

/// (Socket, Request, Interface, Value): ok, {error, Reason}, {invalid, What}
ERL_NIF_TERM ioctl_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return with_socket(env, a, [&](const Socket& socket, unsigned long request) {
    for (const Command& c : kCommands)
      if (c.request == request) return command(env, socket, c, a[2], a[3]);
    return posix_error(env, ENOTSUP);
  });
}

}  // namespace native
}  // namespace vmrun::sockets
