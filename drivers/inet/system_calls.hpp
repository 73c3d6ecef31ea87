// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

/// send(2) and recv(2) of the C library are points where a thread can be cancelled, which costs two
/// atomic operations per call. Threads of the machine are never cancelled, so these functions make
/// the bare system calls, for the paths of every message. They return what send and recv return,
/// and set errno.
namespace vmrun::inet {

inline ssize_t send_now(int fd, const void* bytes, std::size_t size) {
  return syscall(SYS_sendto, fd, bytes, size, MSG_NOSIGNAL, nullptr, 0);
}
inline ssize_t receive_now(int fd, void* room, std::size_t size) {
  return syscall(SYS_recvfrom, fd, room, size, 0, nullptr, nullptr);
}
/// Returns how many bytes can be received without waiting; 0 if not known.
inline std::size_t bytes_there(int fd) {
  int n = 0;
  return ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? static_cast<std::size_t>(n) : 0;
}

}  // namespace vmrun::inet
