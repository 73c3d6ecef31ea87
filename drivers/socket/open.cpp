// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"
#include "vm/base/network_namespace.hpp"

// Opens sockets, by the system or from a descriptor of the program.
namespace vmrun::sockets {
namespace {

int option_of(int fd, int option, int otherwise) {
  int value;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : otherwise;
}

bool flag_in(ErlNifEnv* env, ERL_NIF_TERM options, ERL_NIF_TERM name, bool otherwise) {
  ERL_NIF_TERM value;
  bool is_on;
  return get_field(env, options, name, &value) && get_boolean(value, &is_on) ? is_on : otherwise;
}

bool get_protocol(ErlNifEnv* env, ERL_NIF_TERM term, int* to) { return enif_get_int(env, term, to); }

/// Finds the value in an option, or else asks the system. Returns false when neither has it.
bool find_kind(ErlNifEnv* env, ERL_NIF_TERM options, ERL_NIF_TERM name, int fd, int option,
               bool (*get)(ErlNifEnv*, ERL_NIF_TERM, int*), int* value) {
  ERL_NIF_TERM given;
  if (get_field(env, options, name, &given)) return get(env, given, value);
  return (*value = option_of(fd, option, -1)) >= 0;
}

}  // namespace

namespace native {

/// (Domain, Type, Protocol, #{debug, use_registry, netns}): {ok, Reference}, {error, Posix},
/// {invalid, domain | type}
ERL_NIF_TERM open_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  int domain, type, protocol;
  if (!enif_is_map(env, a[3])) return enif_make_badarg(env);
  if (!get_domain(env, a[0], &domain)) return invalid(env, atoms::domain);
  if (!get_type(env, a[1], &type)) return invalid(env, atoms::type);
  if (!enif_get_int(env, a[2], &protocol)) return enif_make_badarg(env);
  std::string netns;
  ERL_NIF_TERM path;
  ErlNifBinary bytes;
  if (get_field(env, a[3], "netns", &path) && enif_inspect_binary(env, path, &bytes))
    netns.assign(reinterpret_cast<const char*>(bytes.data), bytes.size);
  const int fd = socket_in(netns, domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
  if (fd < 0) return posix_error(env, -fd);
  return make_socket(env, fd, domain, option_of(fd, SO_TYPE, type), option_of(fd, SO_PROTOCOL, protocol),
                     {.registers = flag_in(env, a[3], atoms::use_registry, settings.use_registry),
                      .debugs = flag_in(env, a[3], atoms::debug, settings.socket_debug)});
}

/// (Descriptor, #{domain, type, protocol, dup, debug, use_registry}): the same
ERL_NIF_TERM open_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  int given, domain, type, protocol;
  if (!enif_get_int(env, a[0], &given) || !enif_is_map(env, a[1])) return enif_make_badarg(env);
  if (!find_kind(env, a[1], atoms::domain, given, SO_DOMAIN, get_domain, &domain))
    return invalid(env, atoms::domain);
  if (!find_kind(env, a[1], atoms::type, given, SO_TYPE, get_type, &type)) return invalid(env, atoms::type);
  if (!find_kind(env, a[1], atoms::protocol, given, SO_PROTOCOL, get_protocol, &protocol))
    return invalid(env, atoms::protocol);
  const bool is_dup = flag_in(env, a[1], atom(env, "dup"), true);
  const int fd = is_dup ? fcntl(given, F_DUPFD_CLOEXEC, 0) : given;
  if (fd < 0) return posix_error(env, errno);
  if (const int flags = fcntl(fd, F_GETFL); flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    const int number = errno;
    if (is_dup) ::close(fd);
    return posix_error(env, number);
  }
  return make_socket(env, fd, domain, type, protocol,
                     {.registers = flag_in(env, a[1], atoms::use_registry, settings.use_registry),
                      .debugs = flag_in(env, a[1], atoms::debug, settings.socket_debug),
                      .opened_from = given,
                      .closes_fd = is_dup});
}

}  // namespace native
}  // namespace vmrun::sockets
