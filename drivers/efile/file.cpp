// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>

#include "drivers/efile/file_command.hpp"
#include "vm/base/uninterrupted.hpp"

namespace vmrun::efile {
namespace {

constexpr std::size_t kOneCall = std::size_t{1} << 30;  // upper bound of one system call
constexpr std::size_t kVectorsMax = 1024;               // IOV_MAX of Linux
constexpr unsigned kGzipBuffer = 64 * 1024;

/// Waits until a descriptor is ready that other code has made non-blocking.
void wait_for(int fd, short events) {
  pollfd p{fd, events, 0};
  uninterrupted([&] { return poll(&p, 1, -1); });
}

int gzip_error(gzFile gz) {
  int code = Z_OK;
  gzerror(gz, &code);
  const int error = errno;
  gzclearerr(gz);
  if (code == Z_ERRNO) return error ? error : EIO;
  return code == Z_MEM_ERROR ? ENOMEM : EIO;
}

int open_flags(unsigned flags) {
  int result = O_CLOEXEC;
  switch (flags & (kModeRead | kModeWrite)) {
    case kModeRead: result |= O_RDONLY; break;
    case kModeWrite: result |= O_WRONLY | O_CREAT | (flags & kModeAppend ? 0 : O_TRUNC); break;
    default: result |= O_RDWR | O_CREAT; break;
  }
  if (flags & kModeAppend) result |= O_APPEND;
  if (flags & kModeExclusive) result |= O_EXCL;
  if (flags & kModeSync) result |= O_SYNC;
  if (flags & kModeDirectory) result |= O_DIRECTORY;
  return result;
}

/// Duplicates the open descriptor whose number is in the text.
int duplicate(const char* text) {
  int fd = -1;
  const char* const end = text + std::strlen(text);
  if (std::from_chars(text, end, fd).ptr != end || fd < 0) return errno = EBADF, -1;
  return ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int begin_compressed(File& file) {
  const unsigned both = kModeRead | kModeWrite;
  if ((file.flags & both) == both) return EINVAL;
  file.gz = gzdopen(file.fd, file.flags & kModeRead ? "rb" : file.flags & kModeAppend ? "ab" : "wb");
  if (!file.gz) return ENOMEM;
  gzbuffer(file.gz, kGzipBuffer);
  return 0;
}

int read_gzip(File& file, char* bytes, std::size_t size, std::size_t* got) {
  const int n = gzread(file.gz, bytes, static_cast<unsigned>(std::min(size, kOneCall)));
  if (n < 0) return gzip_error(file.gz);
  *got = static_cast<std::size_t>(n);
  // The contents of a truncated file come first, and what zlib says with them is forgotten, so that
  // it looks again: since 1.3.2 it says nothing afterwards.
  int code = Z_OK;
  gzerror(file.gz, &code);
  if (code != Z_BUF_ERROR) return 0;
  gzclearerr(file.gz);
  return n == 0 ? EIO : 0;
}

int write_gzip(File& file, const iovec* vectors, std::size_t count, std::size_t* done) {
  for (std::size_t i = 0; i < count; ++i) {
    const char* bytes = static_cast<const char*>(vectors[i].iov_base);
    for (std::size_t left = vectors[i].iov_len; left;) {
      const int n = gzwrite(file.gz, bytes, static_cast<unsigned>(std::min(left, kOneCall)));
      if (n <= 0) return gzip_error(file.gz);
      bytes += n;
      left -= static_cast<std::size_t>(n);
      *done += static_cast<std::size_t>(n);
    }
  }
  return 0;
}

/// A position in a list of vectors.
class Cursor {
 public:
  Cursor(const iovec* vectors, std::size_t count) : next_(vectors), end_(vectors + count) { skip_empty(); }
  bool at_end() const { return next_ == end_; }
  /// Writes the next vectors to `out`, at most as many as one call takes.
  int fill(iovec* out) const {
    int n = 0;
    std::size_t bytes = 0;
    for (const iovec* v = next_; v != end_ && n < static_cast<int>(kVectorsMax) && bytes < kOneCall;
         ++v, ++n) {
      out[n] = *v;
      if (v == next_) out[n] = {static_cast<char*>(v->iov_base) + used_, v->iov_len - used_};
      out[n].iov_len = std::min(out[n].iov_len, kOneCall - bytes);
      bytes += out[n].iov_len;
    }
    return n;
  }
  void advance(std::size_t bytes) {
    used_ += bytes;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (next_ != end_ && used_ >= next_->iov_len) used_ -= next_++->iov_len;
  }
  const iovec* next_;
  const iovec* end_;
  std::size_t used_ = 0;
};

/// Writes all vectors; `call` writes some of them. A write of nothing is not an error of the system
/// call, but would repeat forever, so it is one here.
template <class F>
int write_vectors(int fd, const iovec* vectors, std::size_t count, std::size_t* done, F&& call) {
  iovec part[kVectorsMax];
  for (Cursor cursor(vectors, count); !cursor.at_end();) {
    const int n = cursor.fill(part);
    const ssize_t written = uninterrupted([&] { return call(part, n, *done); });
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(fd, POLLOUT);
      continue;
    }
    if (written <= 0) return written < 0 ? errno : EIO;
    *done += static_cast<std::size_t>(written);
    cursor.advance(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_one(int fd, const iovec* v) {
  return static_cast<int>(uninterrupted([&] { return ::write(fd, v->iov_base, v->iov_len); }));
}

}  // namespace

int open_file(const char* name, unsigned flags, File* out) {
  if (!(flags & (kModeRead | kModeWrite))) return EINVAL;
  const int fd = flags & kModeDescriptor
                     ? duplicate(name)
                     : uninterrupted([&] { return ::open(name, open_flags(flags), 0666); });
  if (fd < 0) return errno;
  struct stat info;
  int error = ::fstat(fd, &info) < 0                               ? errno
              : S_ISDIR(info.st_mode) && !(flags & kModeDirectory) ? EISDIR
                                                                   : 0;
  *out = File{fd, nullptr, flags};
  if (!error && flags & kModeCompressed) error = begin_compressed(*out);
  if (error) {
    ::close(fd);
    *out = File{};
  }
  return error;
}

int close_file(File& file) {
  int error = 0;
  if (file.gz) {
    errno = 0;
    const int code = file.flags & kModeRead ? gzclose_r(file.gz) : gzclose_w(file.gz);
    // Z_BUF_ERROR of a reader that stopped inside the file is not an error.
    if (code == Z_ERRNO) error = errno ? errno : EIO;
    else if (code != Z_OK && code != Z_BUF_ERROR) error = EIO;
  } else if (::close(file.fd) < 0 && errno != EINTR) {  // Linux closes it even with EINTR
    error = errno;
  }
  file = File{};
  return error;
}

int read_some(File& file, char* bytes, std::size_t size, std::size_t* got) {
  *got = 0;
  if (file.gz) return read_gzip(file, bytes, size, got);
  for (;;) {
    const std::size_t most = std::min(size - *got, kOneCall);
    const ssize_t n = uninterrupted([&] { return ::read(file.fd, bytes + *got, most); });
    if (n >= 0) {
      *got += static_cast<std::size_t>(n);
      if (static_cast<std::size_t>(n) < most || *got == size) return 0;
      continue;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) return errno;
    wait_for(file.fd, POLLIN);
  }
}

int read_two(File& file, char* first, std::size_t first_size, char* second, std::size_t second_size,
             std::size_t* got) {
  if (file.gz || second_size == 0 || first_size + second_size > kOneCall)
    return read_some(file, first, first_size, got);
  *got = 0;
  const iovec both[2] = {{first, first_size}, {second, second_size}};
  for (;;) {
    const ssize_t n = uninterrupted([&] { return ::readv(file.fd, both, 2); });
    if (n >= 0) {
      *got = static_cast<std::size_t>(n);
      return 0;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) return errno;
    wait_for(file.fd, POLLIN);
  }
}

int read_at(File& file, char* bytes, std::size_t size, std::int64_t offset, std::size_t* got) {
  *got = 0;
  if (offset < 0) return EINVAL;
  if (file.gz && gzseek(file.gz, offset, SEEK_SET) < 0) return EINVAL;
  while (*got < size) {
    if (file.gz) {
      std::size_t n = 0;
      if (int error = read_gzip(file, bytes + *got, size - *got, &n)) return error;
      if (n == 0) return 0;
      *got += n;
      continue;
    }
    const ssize_t n = uninterrupted([&] {
      return ::pread(file.fd, bytes + *got, std::min(size - *got, kOneCall),
                     offset + static_cast<std::int64_t>(*got));
    });
    if (n < 0) return errno;
    if (n == 0) return 0;
    *got += static_cast<std::size_t>(n);
  }
  return 0;
}

int write_all(File& file, const iovec* vectors, std::size_t count, std::size_t* done) {
  *done = 0;
  if (file.gz) return write_gzip(file, vectors, count, done);
  if (count == 1 && vectors->iov_len <= kOneCall) {  // the usual case
    const int n = write_one(file.fd, vectors);
    if (n == static_cast<int>(vectors->iov_len)) {
      *done = vectors->iov_len;
      return 0;
    }
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return errno;
    *done = n > 0 ? static_cast<std::size_t>(n) : 0;
    const iovec rest{static_cast<char*>(vectors->iov_base) + *done, vectors->iov_len - *done};
    return write_vectors(file.fd, &rest, 1, done,
                         [&](const iovec* v, int k, std::size_t) { return ::writev(file.fd, v, k); });
  }
  return write_vectors(file.fd, vectors, count, done,
                       [&](const iovec* v, int n, std::size_t) { return ::writev(file.fd, v, n); });
}

int write_at(File& file, const iovec* vectors, std::size_t count, std::int64_t offset, std::size_t* done) {
  *done = 0;
  if (offset < 0) return EINVAL;
  if (file.gz) {
    if (gzseek(file.gz, offset, SEEK_SET) < 0) return EINVAL;
    return write_gzip(file, vectors, count, done);
  }
  return write_vectors(file.fd, vectors, count, done, [&](const iovec* v, int n, std::size_t before) {
    return ::pwritev(file.fd, v, n, offset + static_cast<std::int64_t>(before));
  });
}

int seek(File& file, std::int64_t offset, unsigned origin, std::int64_t* position) {
  static constexpr int kOrigins[] = {SEEK_SET, SEEK_CUR, SEEK_END};
  if (origin > 2) return EINVAL;
  if (file.gz) {
    *position = gzseek(file.gz, offset, kOrigins[origin]);
    return *position < 0 ? EINVAL : 0;
  }
  *position = ::lseek(file.fd, offset, kOrigins[origin]);
  return *position < 0 ? errno : 0;
}

int truncate_here(File& file) {
  if (file.gz) return EINVAL;
  const off_t position = ::lseek(file.fd, 0, SEEK_CUR);
  if (position < 0) return errno;
  return uninterrupted([&] { return ::ftruncate(file.fd, position); }) < 0 ? errno : 0;
}

int sync_file(File& file, bool data_only) {
  if (file.gz && file.flags & kModeWrite && gzflush(file.gz, Z_SYNC_FLUSH) != Z_OK)
    return gzip_error(file.gz);
  return uninterrupted([&] { return data_only ? ::fdatasync(file.fd) : ::fsync(file.fd); }) < 0 ? errno : 0;
}

int advise(File& file, std::int64_t offset, std::int64_t length, unsigned advice) {
  static constexpr int kAdvices[] = {POSIX_FADV_NORMAL,   POSIX_FADV_RANDOM,   POSIX_FADV_SEQUENTIAL,
                                     POSIX_FADV_WILLNEED, POSIX_FADV_DONTNEED, POSIX_FADV_NOREUSE};
  if (advice >= std::size(kAdvices)) return EINVAL;
  return ::posix_fadvise(file.fd, offset, length, kAdvices[advice]);
}

int allocate(File& file, std::int64_t offset, std::int64_t length) {
  int error;
  do error = ::posix_fallocate(file.fd, offset, length);
  while (error == EINTR);
  return error;
}

std::uint64_t size_of(const File& file) {
  struct stat info;
  if (file.gz || ::fstat(file.fd, &info) < 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

std::uint64_t bytes_ahead(const File& file) {
  const std::uint64_t size = size_of(file);
  if (!size) return 0;
  const off_t position = ::lseek(file.fd, 0, SEEK_CUR);
  return position >= 0 && static_cast<std::uint64_t>(position) < size
             ? size - static_cast<std::uint64_t>(position)
             : 0;
}

}  // namespace vmrun::efile
