// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "drivers/socket/buffer.hpp"
#include "drivers/socket/option_table.hpp"
#include "drivers/socket/option_values.hpp"
#include "drivers/socket/otp_options.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// Sets and reads options of sockets.
namespace vmrun::sockets {
namespace {

/// `socket`, or the number of a protocol.
bool get_level(ErlNifEnv* env, ERL_NIF_TERM term, int* to) {
  if (term != atoms::socket) return enif_get_int(env, term, to);
  *to = SOL_SOCKET;
  return true;
}

ERL_NIF_TERM set(ErlNifEnv* env, Socket& socket, int level, int option, const void* bytes, std::size_t size) {
  std::lock_guard lock(socket.read_mutex);
  if (!socket.can_read()) return closed(env);
  const auto length = static_cast<socklen_t>(size);
  return ::setsockopt(socket.fd, level, option, bytes, length) == 0 ? atoms::ok : posix_error(env, errno);
}

ERL_NIF_TERM set_native(ErlNifEnv* env, Socket& socket, int level, int option, ERL_NIF_TERM value) {
  int number;
  const void* bytes;
  std::size_t size;
  if (!get_native(env, value, &number, &bytes, &size)) return error(env, invalid(env, atoms::value));
  return set(env, socket, level, option, bytes, size);
}

ERL_NIF_TERM set_known(ErlNifEnv* env, Socket& socket, int level, int option, ERL_NIF_TERM value) {
  const OptionKind* kind = find_option(level, option);
  std::vector<char> bytes;
  if (!kind || !kind->read) return invalid(env, atoms::socket_option);
  if (!kind->read(env, value, &bytes)) return invalid(env, atoms::value);
  return set(env, socket, level, option, bytes.data(), bytes.size());
}

constexpr int kClosedNumber = -1;

/// Returns an errno, or kClosedNumber. *size: of the room, then of the value.
int get(Socket& socket, int level, int option, void* bytes, socklen_t* size) {
  std::lock_guard lock(socket.read_mutex);
  if (!socket.can_read()) return kClosedNumber;
  return ::getsockopt(socket.fd, level, option, bytes, size) == 0 ? 0 : errno;
}

ERL_NIF_TERM got_nothing(ErlNifEnv* env, int number) {
  return number == kClosedNumber ? closed(env) : posix_error(env, number);
}

ERL_NIF_TERM get_number(ErlNifEnv* env, Socket& socket, int level, int option, bool is_boolean) {
  int value = 0;
  socklen_t size = sizeof value;
  if (const int number = get(socket, level, option, &value, &size)) return got_nothing(env, number);
  return ok(env, is_boolean ? boolean(value) : enif_make_int(env, value));
}

/// Reads an option into room of this size, which contains `given` before.
ERL_NIF_TERM get_bytes(ErlNifEnv* env, Socket& socket, int level, int option, std::size_t room,
                       const ErlNifBinary* given) {
  Buffer buffer(env, room);
  if (!buffer.data()) return posix_error(env, ENOMEM);
  if (given) std::memcpy(buffer.data(), given->data, given->size);
  auto size = static_cast<socklen_t>(room);
  // With no room at all, the system is to answer the error.
  if (const int number = get(socket, level, option, buffer.data(), room ? &size : nullptr))
    return got_nothing(env, number);
  return ok(env, buffer.take(size));
}

}  // namespace

namespace native {

/// (Socket, otp | socket | Level, Option, Value, 1 when that is native): ok, {error, Reason},
/// {invalid, socket_option | value}
ERL_NIF_TERM setopt_5(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  int option, is_native, level;
  if (!socket || !enif_get_int(env, a[2], &option) || !enif_get_int(env, a[4], &is_native))
    return enif_make_badarg(env);
  if (a[1] == atoms::otp) return set_otp_option(env, *socket, option, a[3]);
  if (!get_level(env, a[1], &level)) return enif_make_badarg(env);
  return is_native ? set_native(env, *socket, level, option, a[3])
                   : set_known(env, *socket, level, option, a[3]);
}

/// (Socket, otp | socket | Level, Option): {ok, Value}, {error, Reason}, {invalid, socket_option}
ERL_NIF_TERM getopt_3(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  int option, level;
  if (!socket || !enif_get_int(env, a[2], &option)) return enif_make_badarg(env);
  if (a[1] == atoms::otp) return get_otp_option(env, *socket, option);
  if (!get_level(env, a[1], &level)) return enif_make_badarg(env);
  const OptionKind* kind = find_option(level, option);
  if (!kind || !kind->show) return invalid(env, atoms::socket_option);
  char bytes[1024];
  socklen_t size = kind->size;
  if (const int number = get(*socket, level, option, bytes, &size)) return got_nothing(env, number);
  // The protocol table names 0 as `ip`, which is wrong for a local socket.
  const bool says_nothing = level == SOL_SOCKET && option == SO_PROTOCOL && socket->domain == AF_LOCAL;
  return ok(env, says_nothing ? atom(env, "default") : kind->show(env, bytes, size));
}

/// (Socket, Level, Option, integer | boolean | Size | Binary): {ok, Value}, {error, Reason},
/// {invalid, value}
ERL_NIF_TERM getopt_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  int option, level, size;
  ErlNifBinary given;
  if (!socket || !get_level(env, a[1], &level) || !enif_get_int(env, a[2], &option))
    return enif_make_badarg(env);
  if (a[3] == atom(env, "integer")) return get_number(env, *socket, level, option, false);
  if (a[3] == atom(env, "boolean")) return get_number(env, *socket, level, option, true);
  if (enif_inspect_binary(env, a[3], &given))
    return get_bytes(env, *socket, level, option, given.size, &given);
  if (!enif_get_int(env, a[3], &size)) return invalid(env, atoms::value);
  if (size < 0) return posix_error(env, EINVAL);
  return get_bytes(env, *socket, level, option, static_cast<std::size_t>(size), nullptr);
}

/// (Socket, Level, Option, native | value, ValueSpec | Value): as getopt_4, or as getopt_3: no
/// option here is asked for by a value.
ERL_NIF_TERM getopt_5(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  if (a[3] != atom(env, "native")) return getopt_3(env, 3, a);
  const ERL_NIF_TERM given[] = {a[0], a[1], a[2], a[4]};
  return getopt_4(env, 4, given);
}

}  // namespace native
}  // namespace vmrun::sockets
