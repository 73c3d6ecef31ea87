// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <sys/socket.h>

#include <linux/sctp.h>  // uses what sys/socket.h declares

#include <cerrno>
#include <cstring>
#include <vector>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// Connections of sockets and their names: bind, listen, connect, shutdown.
namespace vmrun::sockets {
namespace {

/// Returns the errno of a connection that was made in the background.
int outcome(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/// The caller has been told that it can go on. It holds write_mutex.
ERL_NIF_TERM finish_connect(ErlNifEnv* env, Socket& socket) {
  socket.connectors.next(env, socket);
  if (const int error = outcome(socket.fd)) return posix_error(env, error);
  socket.write_state |= kConnected;
  return atoms::ok;
}

ERL_NIF_TERM start_connect(ErlNifEnv* env, Socket& socket, const SizedAddress& to, ERL_NIF_TERM handle) {
  if (::connect(socket.fd, &to.address.base, to.size) == 0) {
    socket.write_state |= kConnected;
    return atoms::ok;
  }
  if (errno != EINPROGRESS && errno != EINTR) return posix_error(env, errno);
  return socket.connectors.await(env, socket, handle) ? atoms::select : select_failed(env);
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

ERL_NIF_TERM name_of(ErlNifEnv* env, ERL_NIF_TERM reference, NameCall call) {
  Socket* socket = socket_of(env, reference);
  if (!socket) return enif_make_badarg(env);
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  SizedAddress name;
  if (call(socket->fd, &name.address.base, &name.size) != 0) return posix_error(env, errno);
  return ok(env, address_term(env, name.address, name.size));
}

/// The addresses of one association, by this option of SCTP: sctp_getladdrs(3), sctp_getpaddrs(3).
ERL_NIF_TERM names_of(ErlNifEnv* env, const ERL_NIF_TERM* a, int option) {
  Socket* socket = socket_of(env, a[0]);
  int association;
  if (!socket || !enif_get_int(env, a[1], &association)) return enif_make_badarg(env);
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  alignas(sctp_getaddrs) char room[64 * sizeof(sockaddr_in6)] = {};
  auto* const names = reinterpret_cast<sctp_getaddrs*>(room);
  names->assoc_id = association;
  socklen_t size = sizeof room;
  if (getsockopt(socket->fd, IPPROTO_SCTP, option, room, &size) != 0) return posix_error(env, errno);
  std::vector<ERL_NIF_TERM> addresses;
  const auto* at = reinterpret_cast<const char*>(names->addrs);
  for (unsigned i = 0; i < names->addr_num; ++i) {
    Address address{};
    const bool is_in6 = reinterpret_cast<const sockaddr*>(at)->sa_family == AF_INET6;
    const socklen_t bytes = is_in6 ? sizeof address.in6 : sizeof address.in;
    std::memcpy(&address, at, bytes);
    addresses.push_back(address_term(env, address, bytes));
    at += bytes;
  }
  return ok(env, list(env, addresses));
}

}  // namespace

namespace native {

/// (Socket, Address): ok, {error, Reason}, {invalid, sockaddr}
ERL_NIF_TERM bind_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  SizedAddress address;
  if (!socket) return enif_make_badarg(env);
  if (!get_address(env, a[1], &address)) return invalid(env, atoms::sockaddr);
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  if (::bind(socket->fd, &address.address.base, address.size) != 0) return posix_error(env, errno);
  socket->read_state |= kBound;
  return atoms::ok;
}

/// (Socket, Backlog): ok, {error, Reason}
ERL_NIF_TERM listen_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  int backlog;
  if (!socket) return enif_make_badarg(env);
  if (!enif_get_int(env, a[1], &backlog)) return enif_make_badarg(env);
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  if (::listen(socket->fd, backlog) != 0) return posix_error(env, errno);
  socket->read_state |= kListening;
  return atoms::ok;
}

/// (Socket, Handle, Address): ok, select, {error, Reason}, {invalid, sockaddr}. For the process
/// that is already connecting: as connect_1.
ERL_NIF_TERM connect_3(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  SizedAddress address;
  if (!socket || !enif_is_ref(env, a[1])) return enif_make_badarg(env);
  if (!get_address(env, a[2], &address)) return invalid(env, atoms::sockaddr);
  std::lock_guard lock(socket->write_mutex);
  if (!socket->can_write()) return closed(env);
  if (!socket->writers.empty()) return busy(env);
  ErlNifPid self;
  enif_self(env, &self);
  if (socket->connectors.empty()) return start_connect(env, *socket, address, a[1]);
  return socket->connectors.is_served(self) ? finish_connect(env, *socket) : error(env, atom(env, "already"));
}

/// (Socket): ok, {error, Reason}
ERL_NIF_TERM connect_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket) return enif_make_badarg(env);
  std::lock_guard lock(socket->write_mutex);
  if (!socket->can_write()) return closed(env);
  if (!socket->writers.empty()) return busy(env);
  ErlNifPid self;
  enif_self(env, &self);
  return socket->connectors.is_served(self) ? finish_connect(env, *socket) : raise_invalid(env, atoms::state);
}

/// (Socket, read | write | read_write): ok, {error, Reason}
ERL_NIF_TERM shutdown_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket) return enif_make_badarg(env);
  int how;
  if (a[1] == atom(env, "read")) how = SHUT_RD;
  else if (a[1] == atom(env, "write")) how = SHUT_WR;
  else if (a[1] == atom(env, "read_write")) how = SHUT_RDWR;
  else return raise_invalid(env, tuple(env, atom(env, "how"), a[1]));
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  return ::shutdown(socket->fd, how) == 0 ? atoms::ok : posix_error(env, errno);
}

/// (Socket): {ok, Address}, {error, Reason}
ERL_NIF_TERM sockname_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return name_of(env, a[0], getsockname);
}
ERL_NIF_TERM peername_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return name_of(env, a[0], getpeername);
}

/// (Socket, Association): {ok, [Address]}, {error, Reason}
ERL_NIF_TERM socknames_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return names_of(env, a, SCTP_GET_LOCAL_ADDRS);
}
ERL_NIF_TERM peernames_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  return names_of(env, a, SCTP_GET_PEER_ADDRS);
}

/// (Socket, Association): {ok, Reference} of a socket of its own, {error, Reason}
ERL_NIF_TERM peeloff_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  sctp_peeloff_flags_arg_t asked{};
  int association;
  if (!socket || socket->protocol != IPPROTO_SCTP || !enif_get_int(env, a[1], &association))
    return enif_make_badarg(env);
  std::lock_guard lock(socket->read_mutex);
  if (!socket->can_read()) return closed(env);
  asked.p_arg.associd = association;
  asked.flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
  socklen_t size = sizeof asked;
  if (getsockopt(socket->fd, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF_FLAGS, &asked, &size) != 0)
    return posix_error(env, errno);
  return make_socket(env, asked.p_arg.sd, socket->domain, SOCK_STREAM, socket->protocol,
                     {.registers = socket->in_registry, .debugs = socket->debug, .listener = socket});
}

}  // namespace native
}  // namespace vmrun::sockets
