// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/file_names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace vmrun::efile {
namespace {

int answer(int result) { return result < 0 ? errno : 0; }

std::uint32_t type_of(mode_t mode) {
  if (S_ISCHR(mode) || S_ISBLK(mode)) return 1;
  if (S_ISDIR(mode)) return 2;
  if (S_ISREG(mode)) return 3;
  return S_ISLNK(mode) ? 4 : 5;
}

void fill(const struct stat& s, FileInfo* out) {
  out->size = static_cast<std::uint64_t>(s.st_size);
  out->type = type_of(s.st_mode);
  out->mode = s.st_mode;
  out->links = static_cast<std::uint32_t>(s.st_nlink);
  out->major = static_cast<std::uint32_t>(s.st_dev);
  out->minor = static_cast<std::uint32_t>(s.st_rdev);
  out->inode = s.st_ino;
  out->uid = s.st_uid;
  out->gid = s.st_gid;
  out->atime = s.st_atim.tv_sec;
  out->mtime = s.st_mtim.tv_sec;
  out->ctime = s.st_ctim.tv_sec;
}

std::uint32_t access_to(const char* name) {
  return (::access(name, W_OK) == 0 ? 1u : 0u) | (::access(name, R_OK) == 0 ? 2u : 0u);
}

timespec new_time(std::int64_t seconds) {
  if (seconds == kKeepTime) return {0, UTIME_OMIT};
  return {static_cast<time_t>(seconds), 0};
}

}  // namespace

int file_info(const char* name, bool of_link, FileInfo* out) {
  struct stat s;
  if ((of_link ? ::lstat(name, &s) : ::stat(name, &s)) < 0) return errno;
  fill(s, out);
  out->access = access_to(name);
  return 0;
}

int file_info(int fd, FileInfo* out) {
  struct stat s;
  if (::fstat(fd, &s) < 0) return errno;
  fill(s, out);
  char name[32];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  out->access = access_to(name);
  return 0;
}

int change_info(const Request& change) {
  // The owner is changed first, because that clears the set-user-id bits of the mode.
  if (change.uid != kKeepId || change.gid != kKeepId)
    if (::chown(change.name, change.uid, change.gid) < 0) return errno;
  if (change.mode != kKeepId)
    if (::chmod(change.name, change.mode & 07777) < 0) return errno;
  if (change.atime == kKeepTime && change.mtime == kKeepTime) return 0;
  const timespec times[2] = {new_time(change.atime), new_time(change.mtime)};
  return answer(::utimensat(AT_FDCWD, change.name, times, 0));
}

int read_directory(const char* name, std::string* out) {
  DIR* directory = ::opendir(name);
  if (!directory) return errno;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (!entry) break;
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    const std::size_t size = std::strlen(entry->d_name);
    out->push_back(static_cast<char>(size >> 8));
    out->push_back(static_cast<char>(size));
    out->append(entry->d_name, size);
  }
  const int error = errno;
  ::closedir(directory);
  return error;
}

int working_directory(std::string* out) {
  out->resize(256);
  while (!::getcwd(out->data(), out->size())) {
    if (errno != ERANGE) return errno;
    out->resize(2 * out->size());
  }
  out->resize(std::strlen(out->c_str()));
  return 0;
}

int read_link(const char* name, std::string* out) {
  out->resize(256);
  for (;;) {
    const ssize_t n = ::readlink(name, out->data(), out->size());
    if (n < 0) return errno;
    if (static_cast<std::size_t>(n) < out->size()) {
      out->resize(static_cast<std::size_t>(n));
      return 0;
    }
    out->resize(2 * out->size());  // the text may have been cut off
  }
}

/// unlink says EISDIR for a directory on Linux; file:delete has always said eperm.
int remove_file(const char* name) {
  if (::unlink(name) == 0) return 0;
  return errno == EISDIR ? EPERM : errno;
}

namespace {
bool is_current_directory(const char* name) {
  const std::unique_ptr<char, decltype(&std::free)> directory(::realpath(name, nullptr), &std::free);
  std::string here;
  return directory && !working_directory(&here) && here == directory.get();
}
}  // namespace

/// A directory that is not empty gives eexist, whatever the file system says; the current directory
/// gives einval.
int remove_directory(const char* name) {
  if (::rmdir(name) == 0) return 0;
  if (errno != ENOTEMPTY && errno != EEXIST) return errno;
  return is_current_directory(name) ? EINVAL : EEXIST;
}

/// Renaming the root gives einval, whatever the system says.
int rename_file(const char* from, const char* to) {
  if (::rename(from, to) == 0) return 0;
  if (std::string_view(from) == "/") return EINVAL;
  return errno == ENOTEMPTY ? EEXIST : errno;
}

int change_directory(const char* name) { return answer(::chdir(name)); }
int make_directory(const char* name) { return answer(::mkdir(name, 0777)); }
int make_link(const char* existing, const char* name) { return answer(::link(existing, name)); }
int make_symlink(const char* target, const char* name) { return answer(::symlink(target, name)); }

}  // namespace vmrun::efile
