// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "drivers/efile/file.hpp"
#include "vm/base/uninterrupted.hpp"

/// SENDFILE. Between two regular files the kernel copies (and on some file systems shares) the
/// blocks; to anything else it sends pages of the page cache. Where neither is possible, and for
/// compressed files, the bytes go through a buffer here.
namespace vmrun::efile {
namespace {

constexpr std::size_t kOneCall = std::size_t{1} << 30;
constexpr std::size_t kBuffer = 64 * 1024;
constexpr int kPatience_ms = 50;  // a worker also serves other ports

bool cannot(int error) {
  return error == EINVAL || error == EXDEV || error == ENOSYS || error == EOPNOTSUPP || error == EBADF ||
         error == EISDIR;
}

bool is_regular(int fd) {
  struct stat info;
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

/// Waits for a short time. Returns true when the transfer can continue.
bool ready_for_output(int fd) {
  pollfd p{fd, POLLOUT, 0};
  return uninterrupted([&] { return ::poll(&p, 1, kPatience_ms); }) > 0;
}

/// Writes a whole buffer, but gives up after some time.
int put(int out_fd, const char* bytes, std::size_t size, std::uint64_t* sent, bool* would_block) {
  while (size) {
    const ssize_t n = ::write(out_fd, bytes, size);
    if (n > 0) {
      bytes += n;
      size -= static_cast<std::size_t>(n);
      *sent += static_cast<std::uint64_t>(n);
    } else if (n == 0) {
      return EIO;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (ready_for_output(out_fd)) continue;
      *would_block = true;
      return 0;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int through_buffer(File& file, int out_fd, std::int64_t offset, std::uint64_t bytes, std::uint64_t* sent,
                   bool* would_block) {
  const auto buffer = std::make_unique<char[]>(kBuffer);
  const std::uint64_t before = *sent;
  while (*sent - before < bytes && !*would_block) {
    const std::uint64_t done = *sent - before;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, bytes - done));
    std::size_t got = 0;
    if (int error = read_at(file, buffer.get(), size, offset + static_cast<std::int64_t>(done), &got))
      return error;
    if (got == 0) return 0;
    if (int error = put(out_fd, buffer.get(), got, sent, would_block)) return error;
  }
  return 0;
}

}  // namespace

int send_some(File& file, int out_fd, std::int64_t offset, std::uint64_t bytes, std::uint64_t* sent,
              bool* would_block) {
  *sent = 0;
  *would_block = false;
  if (bytes == 0) bytes = INT64_MAX;
  if (file.gz) return through_buffer(file, out_fd, offset, bytes, sent, would_block);
  bool copying = is_regular(out_fd) && is_regular(file.fd);
  while (*sent < bytes) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - *sent, kOneCall));
    off_t from = offset + static_cast<off_t>(*sent);
    const ssize_t n = copying ? ::copy_file_range(file.fd, &from, out_fd, nullptr, size, 0)
                              : ::sendfile(out_fd, file.fd, &from, size);
    if (n > 0) {
      *sent += static_cast<std::uint64_t>(n);
    } else if (n == 0 && copying && *sent == 0) {
      copying = false;  // files in /proc and similar ones claim to be empty
    } else if (n == 0) {
      return 0;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (ready_for_output(out_fd)) continue;
      *would_block = true;
      return 0;
    } else if (copying && cannot(errno)) {
      copying = false;
    } else if (cannot(errno)) {
      return through_buffer(file, out_fd, offset + static_cast<std::int64_t>(*sent), bytes - *sent, sent,
                            would_block);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace vmrun::efile
