// SPDX-License-Identifier: Apache-2.0
// A disk that fails on request, for LD_PRELOAD. Files whose path has $VMRUN_FAULTY in it obey the
// file $VMRUN_FAULTS, read at every call: words of the form
//
//   OPERATION:ERROR        the operation fails (open, read, write, sync, truncate, close)
//   write:ERROR:N          N more bytes can be written, counted from the last change of the file,
//                          then writes fail; the one that meets the limit is short
//   write:short:N          no write takes more than N bytes at once
//   OPERATION:eintr        every other call is interrupted
//
// An operation not named works. Only the calls that the file driver makes are replaced.
#undef _FILE_OFFSET_BITS  // both names of a function are defined here
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::map<std::string, int> kErrors = {{"enospc", ENOSPC}, {"eio", EIO},       {"edquot", EDQUOT},
                                            {"efbig", EFBIG},   {"emfile", EMFILE}, {"erofs", EROFS}};

struct Fault {
  int error = 0;
  bool interrupts = false;
  long limit = -1;       // bytes until error; -1: at once
  long most = LONG_MAX;  // bytes a write takes
};

std::mutex lock;
std::string rules;  // what the control file said last
long written = 0;   // since it changed
bool interrupted = false;

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

std::string contents_of_control() {
  const char* name = std::getenv("VMRUN_FAULTS");
  const long fd = name ? ::syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC) : -1;
  char text[256] = {};
  if (fd >= 0) {
    (void)::syscall(SYS_read, fd, text, sizeof text - 1);
    ::syscall(SYS_close, fd);
  }
  return text;
}

bool is_faulty(const char* path) {
  const char* part = std::getenv("VMRUN_FAULTY");
  return part && path && std::strstr(path, part);
}
bool is_faulty(int fd) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = ::readlink(link, path, sizeof path - 1);
  if (n < 0) return false;
  path[n] = 0;
  return is_faulty(path);
}

/// What the control file says of an operation. Under lock.
Fault fault_for(const std::string& operation) {
  const std::string now = contents_of_control();
  if (now != rules) {
    rules = now;
    written = 0;
  }
  std::istringstream words(rules);
  Fault fault;
  for (std::string word; words >> word;) {
    std::istringstream fields(word);
    std::string name, action, number;
    std::getline(fields, name, ':');
    std::getline(fields, action, ':');
    std::getline(fields, number);
    if (name != operation) continue;
    if (action == "eintr") fault.interrupts = true;
    else if (action == "short") fault.most = std::atol(number.c_str());
    else if (kErrors.count(action))
      fault.error = kErrors.at(action), fault.limit = number.empty() ? -1 : std::atol(number.c_str());
  }
  return fault;
}

/// 0: go on; else the error.
int fault_of(const std::string& operation) {
  std::lock_guard guard(lock);
  const Fault fault = fault_for(operation);
  if (fault.interrupts && (interrupted = !interrupted)) return EINTR;
  return fault.error;
}

/// How much of `size` can be written; -1 with errno: nothing.
ssize_t admit(std::size_t size) {
  std::lock_guard guard(lock);
  const Fault fault = fault_for("write");
  if (fault.interrupts && (interrupted = !interrupted)) return errno = EINTR, -1;
  auto admitted = static_cast<long>(std::min<std::size_t>(size, static_cast<std::size_t>(fault.most)));
  if (fault.error) {
    const long room = fault.limit < 0 ? 0 : fault.limit - written;
    if (room <= 0) return errno = fault.error, -1;
    admitted = std::min(admitted, room);
  }
  written += admitted;
  return admitted;
}

std::size_t total(const iovec* v, int count) {
  std::size_t n = 0;
  for (int i = 0; i < count; ++i) n += v[i].iov_len;
  return n;
}

std::vector<iovec> cut(const iovec* v, int count, std::size_t size) {
  std::vector<iovec> out;
  for (int i = 0; i < count && size; ++i) {
    out.push_back({v[i].iov_base, std::min(v[i].iov_len, size)});
    size -= out.back().iov_len;
  }
  return out;
}

template <class F>
int unless_fault(int fd, const char* operation, F&& call) {
  if (is_faulty(fd))
    if (const int error = fault_of(operation)) return errno = error, -1;
  return call();
}

int open_checked(const char* path, int flags, mode_t mode, const char* name) {
  if (is_faulty(path))
    if (const int error = fault_of("open")) return errno = error, -1;
  return next<int (*)(const char*, int, ...)>(name)(path, flags, mode);
}

ssize_t pwritev_checked(int fd, const iovec* v, int count, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
  if (!is_faulty(fd)) return real(fd, v, count, offset);
  const ssize_t n = admit(total(v, count));
  if (n < 0) return n;
  const auto part = cut(v, count, static_cast<std::size_t>(n));
  return real(fd, part.data(), static_cast<int>(part.size()), offset);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_checked(path, flags, mode, "open");
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_checked(path, flags, mode, "open64");
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!is_faulty(fd)) return real(fd, bytes, size);
  const ssize_t n = admit(size);
  return n < 0 ? n : real(fd, bytes, static_cast<std::size_t>(n));
}
ssize_t writev(int fd, const iovec* v, int count) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
  if (!is_faulty(fd)) return real(fd, v, count);
  const ssize_t n = admit(total(v, count));
  if (n < 0) return n;
  const auto part = cut(v, count, static_cast<std::size_t>(n));
  return real(fd, part.data(), static_cast<int>(part.size()));
}
ssize_t pwritev(int fd, const iovec* v, int count, off_t offset) {
  return pwritev_checked(fd, v, count, offset);
}
ssize_t pwritev64(int fd, const iovec* v, int count, off64_t offset) {
  return pwritev_checked(fd, v, count, offset);
}

ssize_t read(int fd, void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  if (is_faulty(fd))
    if (const int error = fault_of("read")) return errno = error, -1;
  return real(fd, bytes, size);
}

int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return unless_fault(fd, "sync", [&] { return real(fd); });
}
int fdatasync(int fd) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return unless_fault(fd, "sync", [&] { return real(fd); });
}
int ftruncate(int fd, off_t size) {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return unless_fault(fd, "truncate", [&] { return real(fd, size); });
}
int ftruncate64(int fd, off64_t size) {
  static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
  return unless_fault(fd, "truncate", [&] { return real(fd, size); });
}
/// Closes all the same, as Linux does.
int close(int fd) {
  static const auto real = next<int (*)(int)>("close");
  const int error = is_faulty(fd) ? fault_of("close") : 0;
  const int result = real(fd);
  return error ? (errno = error, -1) : result;
}

}  // extern "C"
