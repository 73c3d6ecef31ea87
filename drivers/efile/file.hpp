// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include <zlib.h>

/// Open files and the operating system's operations on them: all system calls on descriptors are
/// here. The functions block; one thread at a time per file. They return 0 or an errno, and
/// continue after EINTR and after short writes. Their last argument tells how far they came, also
/// when they fail.
namespace vmrun::efile {

/// A handle that can be copied freely. Exactly one copy must be passed to close_file.
struct File {
  int fd = -1;
  gzFile gz = nullptr;  // compressed files: owns fd
  unsigned flags = 0;   // kMode… of file_command.hpp
  bool is_open() const { return fd >= 0; }
};

[[nodiscard]] int open_file(const char* name, unsigned flags, File* out);
/// Closes the file in any case. An error says that data did not reach the file.
int close_file(File& file);

/// Does one read of up to `size` bytes; 0 bytes mean the end of the file.
[[nodiscard]] int read_some(File& file, char* bytes, std::size_t size, std::size_t* got);
/// Does one read into two places, in order.
[[nodiscard]] int read_two(File& file, char* first, std::size_t first_size, char* second,
                           std::size_t second_size, std::size_t* got);
/// Reads until `size` bytes or the end of the file. The position does not move, except in
/// compressed files.
[[nodiscard]] int read_at(File& file, char* bytes, std::size_t size, std::int64_t offset, std::size_t* got);
/// Writes all bytes, or returns an error.
[[nodiscard]] int write_all(File& file, const iovec* vectors, std::size_t count, std::size_t* done);
[[nodiscard]] int write_at(File& file, const iovec* vectors, std::size_t count, std::int64_t offset,
                           std::size_t* done);

[[nodiscard]] int seek(File& file, std::int64_t offset, unsigned origin, std::int64_t* position);
[[nodiscard]] int truncate_here(File& file);
[[nodiscard]] int sync_file(File& file, bool data_only);
[[nodiscard]] int advise(File& file, std::int64_t offset, std::int64_t length, unsigned advice);
[[nodiscard]] int allocate(File& file, std::int64_t offset, std::int64_t length);

/// Returns the number of bytes between a regular file's position and its end; 0 if not known.
std::uint64_t bytes_ahead(const File& file);
/// Returns the size of a regular file; 0 if not known.
std::uint64_t size_of(const File& file);

/// Copies up to `bytes` from `offset` on to a descriptor, inside the kernel where it can do that.
/// The file's position does not move. *would_block: the other side takes nothing at the moment; try
/// again later.
[[nodiscard]] int send_some(File& file, int out_fd, std::int64_t offset, std::uint64_t bytes,
                            std::uint64_t* sent, bool* would_block);

}  // namespace vmrun::efile
