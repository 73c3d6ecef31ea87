#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include <zlib.h>

/// Open files and what the operating system does with them: all system calls on descriptors are
/// here. The functions block; one thread at a time per file. They answer 0 or an errno, go on after
/// EINTR and after short writes, and say through their last argument how far they came, also when
/// they fail.
namespace vmrun::efile {

/// A handle, freely copied; somebody must close_file it once.
struct File {
  int fd = -1;
  gzFile gz = nullptr;  // compressed files: owns fd
  unsigned flags = 0;   // kMode… of command.hpp
  bool is_open() const { return fd >= 0; }
};

[[nodiscard]] int open_file(const char* name, unsigned flags, File* out);
/// The file is closed whatever the answer; an error says that data did not reach it.
int close_file(File& file);

/// One read: what there is, up to size; 0 bytes is the end of the file.
[[nodiscard]] int read_some(File& file, char* bytes, std::size_t size, std::size_t* got);
/// One read into two places, in order.
[[nodiscard]] int read_two(File& file, char* first, std::size_t first_size, char* second,
                           std::size_t second_size, std::size_t* got);
/// Until `size` bytes or the end of the file. The position does not move, compressed files'
/// excepted.
[[nodiscard]] int read_at(File& file, char* bytes, std::size_t size, std::int64_t offset, std::size_t* got);
/// All of it, or an error.
[[nodiscard]] int write_all(File& file, const iovec* vectors, std::size_t count, std::size_t* done);
[[nodiscard]] int write_at(File& file, const iovec* vectors, std::size_t count, std::int64_t offset,
                           std::size_t* done);

[[nodiscard]] int seek(File& file, std::int64_t offset, unsigned origin, std::int64_t* position);
[[nodiscard]] int truncate_here(File& file);
[[nodiscard]] int sync_file(File& file, bool data_only);
[[nodiscard]] int advise(File& file, std::int64_t offset, std::int64_t length, unsigned advice);
[[nodiscard]] int allocate(File& file, std::int64_t offset, std::int64_t length);

/// Bytes between the file's position and its end, of a regular file; 0 where that is not known.
std::uint64_t bytes_ahead(const File& file);
/// Size of a regular file; 0 where that is not known.
std::uint64_t size_of(const File& file);

/// Copies up to `bytes` from `offset` on to a descriptor, without a detour through this process
/// where the kernel can; the file's position stays. *would_block: the other side takes nothing at
/// the moment; ask again.
[[nodiscard]] int send_some(File& file, int out_fd, std::int64_t offset, std::uint64_t bytes,
                            std::uint64_t* sent, bool* would_block);

}  // namespace vmrun::efile
