// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// The kernel sends a file without copying it through the machine. The disk may be slow, so this is
// done on a dirty scheduler and without a lock. The caller stays the served process, other
// processes wait, and duplicates of both descriptors stay open even if the originals are closed.
namespace vmrun::sockets {
namespace {

constexpr std::size_t kOneCall = std::size_t{1} << 30;

/// The result of several calls of sendfile(2). number: an errno; 0: all is sent.
struct Sent {
  std::uint64_t bytes = 0, calls = 0, largest = 0;
  int number = 0;
};

/// count 0: to the end of the file.
Sent send_file(int to, int from, off_t offset, std::uint64_t count) {
  Sent sent;
  for (;;) {
    const std::size_t wanted = count ? std::min<std::uint64_t>(count - sent.bytes, kOneCall) : kOneCall;
    ++sent.calls;
    const ssize_t n = ::sendfile(to, from, &offset, wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return sent.number = errno, sent;
    const auto bytes = static_cast<std::uint64_t>(n);
    sent.bytes += bytes;
    sent.largest = std::max(sent.largest, bytes);
    if (n == 0 || sent.bytes == count) return sent;
  }
}

int copy_of(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

void count_sent(Counters& c, const Sent& sent) {
  c.sendfile += sent.calls;
  c.sendfile_byte += sent.bytes;
  c.sendfile_max = std::max(c.sendfile_max, sent.largest);
}

/// Called while the caller is the served process, without the lock. Takes ownership of the file's
/// duplicate.
ERL_NIF_TERM send_unlocked(ErlNifEnv* env, Socket& socket, int file, int to, off_t offset,
                           std::uint64_t count, ERL_NIF_TERM handle) {
  const Sent sent = to < 0 ? Sent{.number = EMFILE} : send_file(to, file, offset, count);
  if (to >= 0) ::close(to);
  std::lock_guard lock(socket.write_mutex);
  count_sent(socket.counters, sent);
  if (socket.can_write() && sent.number == EAGAIN) {
    ++socket.counters.sendfile_waits;
    socket.file = file;
    if (!socket.writers.await(env, socket, handle)) return select_failed(env);
    return tuple(env, atoms::select, enif_make_uint64(env, sent.bytes));
  }
  ::close(file);
  if (!socket.can_write()) return closed(env);
  if (sent.number) {
    ++socket.counters.sendfile_fails;
    const ERL_NIF_TERM reason = posix(env, sent.number);
    socket.writers.fail(env, socket, reason);
    return error(env, reason);
  }
  if (sent.bytes) ++socket.counters.sendfile_pkg;
  socket.counters.sendfile_pkg_max = std::max(socket.counters.sendfile_pkg_max, sent.bytes);
  socket.writers.next(env, socket);
  return ok(env, enif_make_uint64(env, sent.bytes));
}

struct Arguments {
  Socket* socket;
  ErlNifSInt64 offset;
  ErlNifUInt64 count;
};

/// (Socket, Handle, Offset, Count, …)
bool get_arguments(ErlNifEnv* env, const ERL_NIF_TERM* a, Arguments* to) {
  to->socket = socket_of(env, a[0]);
  return to->socket && enif_is_ref(env, a[1]) && enif_get_int64(env, a[2], &to->offset) &&
         enif_get_uint64(env, a[3], &to->count);
}

}  // namespace

namespace native {

/// (Socket, Handle, Offset, Count, descriptor of a file): {ok, Bytes}, {select, Bytes}, {error,
/// Reason}; select when other processes write: the caller then makes the same call again.
ERL_NIF_TERM sendfile_5(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Arguments of;
  int fd;
  if (!get_arguments(env, a, &of) || !enif_get_int(env, a[4], &fd)) return enif_make_badarg(env);
  Socket& socket = *of.socket;
  std::unique_lock lock(socket.write_mutex);
  if (!socket.can_write()) return closed(env);
  if (!socket.connectors.empty()) return busy(env);
  if (const auto answer = socket.writers.ask(env, socket, a[1])) return *answer;
  if (const int left = std::exchange(socket.file, -1); left >= 0) ::close(left);  // was abandoned
  const int file = copy_of(fd);
  if (file < 0) return posix_error(env, errno == EBADF ? EINVAL : errno);
  ++socket.counters.sendfile_tries;
  socket.writers.serve(env, socket, a[1]);
  const int to = copy_of(socket.fd);
  lock.unlock();
  return send_unlocked(env, socket, file, to, of.offset, of.count, a[1]);
}

/// (Socket, Handle, Offset, Count): continues with the file that is being sent.
ERL_NIF_TERM sendfile_4(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Arguments of;
  if (!get_arguments(env, a, &of)) return enif_make_badarg(env);
  Socket& socket = *of.socket;
  std::unique_lock lock(socket.write_mutex);
  if (!socket.can_write()) return closed(env);
  ErlNifPid self;
  enif_self(env, &self);
  if (socket.file < 0 || !socket.writers.is_served(self)) return raise_invalid(env, atoms::state);
  ++socket.counters.sendfile_tries;
  socket.writers.serve(env, socket, a[1]);
  const int file = std::exchange(socket.file, -1), to = copy_of(socket.fd);
  lock.unlock();
  return send_unlocked(env, socket, file, to, of.offset, of.count, a[1]);
}

/// (Socket): releases the file. Here closing the socket does that.
ERL_NIF_TERM sendfile_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* socket = socket_of(env, a[0]);
  if (!socket) return enif_make_badarg(env);
  std::lock_guard lock(socket->write_mutex);
  if (const int left = std::exchange(socket->file, -1); left >= 0) ::close(left);
  return atoms::ok;
}

}  // namespace native
}  // namespace vmrun::sockets
