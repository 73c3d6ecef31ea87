// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>

#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// Closing in two steps: one that is done at once, and one that may wait until everything is sent,
// on a dirty scheduler. Also cancels waiting requests.
namespace vmrun::sockets {
namespace native {

/// (Socket): ok, {error, closed}
ERL_NIF_TERM close_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket) return enif_make_badarg(env);
  std::scoped_lock lock(socket->read_mutex, socket->write_mutex);
  if (!socket->can_read()) return closed(env);
  enif_self(env, &socket->closer);
  begin_close(env, *socket);
  // If the caller ends now, process_down does the rest.
  enif_monitor_process(env, socket, &socket->closer, &socket->owner_monitor);
  return atoms::ok;
}

/// (Socket), called by the process that has begun to close it: ok, {error, Reason}
ERL_NIF_TERM finalize_close_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket) return enif_make_badarg(env);
  int fd;
  {
    std::scoped_lock lock(socket->read_mutex, socket->write_mutex);
    if (socket->read_state & kClosed) return closed(env);
    ErlNifPid self;
    enif_self(env, &self);
    if (!(socket->read_state & kClosing) || enif_compare_pids(&self, &socket->closer) != 0)
      return raise_invalid(env, atoms::state);
    enif_demonitor_process(env, socket, &socket->owner_monitor);
    fd = end_close(*socket);
  }
  return fd < 0 || ::close(fd) == 0 ? atoms::ok : posix_error(env, errno);
}

/// (Socket, Operation, Handle): ok, select_sent, not_found, {error, closed}
ERL_NIF_TERM cancel_3(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  struct Operation {
    const char* name;
    std::mutex Socket::*mutex;
    WaitQueue Socket::*queue;
  };
  static constexpr Operation kOperations[] = {
      {"connect", &Socket::write_mutex, &Socket::connectors},
      {"accept", &Socket::read_mutex, &Socket::acceptors},
      {"send", &Socket::write_mutex, &Socket::writers},
      {"sendto", &Socket::write_mutex, &Socket::writers},
      {"sendmsg", &Socket::write_mutex, &Socket::writers},
      {"sendfile", &Socket::write_mutex, &Socket::writers},
      {"recv", &Socket::read_mutex, &Socket::readers},
      {"recvfrom", &Socket::read_mutex, &Socket::readers},
      {"recvmsg", &Socket::read_mutex, &Socket::readers},
  };
  Socket* socket = socket_of(env, a[0]);
  if (!socket || !enif_is_ref(env, a[2])) return enif_make_badarg(env);
  for (const Operation& operation : kOperations) {
    if (atom(env, operation.name) != a[1]) continue;
    std::lock_guard lock(socket->*operation.mutex);
    if (!socket->can_read() || !socket->can_write()) return closed(env);
    ErlNifPid self;
    enif_self(env, &self);
    switch ((socket->*operation.queue).cancel(env, *socket, self, a[2])) {
      case WaitQueue::Cancelled::kYes: return atoms::ok;
      case WaitQueue::Cancelled::kMessageSent: return atom(env, "select_sent");
      case WaitQueue::Cancelled::kNotFound: return atom(env, "not_found");
    }
  }
  return enif_make_badarg(env);
}

}  // namespace native
}  // namespace vmrun::sockets
