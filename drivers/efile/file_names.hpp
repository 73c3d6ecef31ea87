// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "drivers/efile/file_command.hpp"

/// Operations of the operating system on names. Names are bytes that end with NUL, passed to the
/// kernel unchanged. The functions block; any thread. They return 0 or an errno.
namespace vmrun::efile {

/// The result of FSTAT and LSTAT. Times are seconds since 1970, UTC.
struct FileInfo {
  std::uint64_t size;
  std::uint32_t type;  // 1 device, 2 directory, 3 regular, 4 symbolic link, 5 something else
  std::uint32_t mode, links, major, minor;
  std::uint64_t inode;
  std::uint32_t uid, gid;
  std::uint32_t access;  // 0 none, 1 write, 2 read, 3 both
  std::int64_t atime, mtime, ctime;
};

[[nodiscard]] int file_info(const char* name, bool of_link, FileInfo* out);
[[nodiscard]] int file_info(int fd, FileInfo* out);
[[nodiscard]] int change_info(const Request& change);

/// Appends (length:16, name) of each entry except `.` and `..` to *out.
[[nodiscard]] int read_directory(const char* name, std::string* out);
[[nodiscard]] int working_directory(std::string* out);
[[nodiscard]] int change_directory(const char* name);
[[nodiscard]] int make_directory(const char* name);
[[nodiscard]] int remove_directory(const char* name);
[[nodiscard]] int remove_file(const char* name);
[[nodiscard]] int rename_file(const char* from, const char* to);
[[nodiscard]] int make_link(const char* existing, const char* name);
[[nodiscard]] int make_symlink(const char* target, const char* name);
[[nodiscard]] int read_link(const char* name, std::string* out);

}  // namespace vmrun::efile
