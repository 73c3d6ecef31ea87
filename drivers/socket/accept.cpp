// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <cerrno>

#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"
#include "vm/base/release.hpp"

// Accepts connections.
namespace vmrun::sockets {
namespace {

ERL_NIF_TERM accepted(ErlNifEnv* env, Socket& socket, int fd) {
  ++socket.counters.acc_success;
  socket.acceptors.next(env, socket);
  return make_socket(env, fd, socket.domain, socket.type, socket.protocol,
                     {.registers = socket.in_registry, .debugs = socket.debug, .listener = &socket});
}

ERL_NIF_TERM not_accepted(ErlNifEnv* env, Socket& socket, int number, ERL_NIF_TERM handle) {
  if (number == EAGAIN) {
    if (!socket.acceptors.empty()) ++socket.counters.acc_waits;
    if (release_has(Trait::kAcceptReplaced))
      socket.acceptors.abort_served(env, socket, atom(env, "cancelled"));
    return socket.acceptors.await(env, socket, handle) ? atoms::select : select_failed(env);
  }
  ++socket.counters.acc_fails;
  const ERL_NIF_TERM reason = posix(env, number);
  socket.acceptors.fail(env, socket, reason);
  return error(env, reason);
}

}  // namespace

namespace native {

/// (Socket, Handle): {ok, Reference}, select, {error, Reason}
ERL_NIF_TERM accept_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket || !enif_is_ref(env, a[1])) return enif_make_badarg(env);
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  if (!socket->readers.empty()) return busy(env);
  if (const auto answer = socket->acceptors.ask(env, *socket, a[1])) return *answer;
  ++socket->counters.acc_tries;
  const int fd = accept4(socket->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return fd >= 0 ? accepted(env, *socket, fd) : not_accepted(env, *socket, errno, a[1]);
}

}  // namespace native
}  // namespace vmrun::sockets
