// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/file_operation.hpp"

#include <algorithm>
#include <cerrno>

#include "drivers/efile/probes.hpp"

/// The implementation of each command. A function here may set `again`; when it is called the next
/// time, it continues where it stopped.
namespace vmrun::efile {
namespace {

// this much memory is allocated as the process asks; for more, the file's size is checked first
constexpr std::uint64_t kTrusted = 1024 * 1024;
constexpr std::size_t kFirstGuess = 64 * 1024;                      // for files of unknown size
constexpr std::uint64_t kUnknownMax = std::uint64_t{1} << 30;       // upper bound of one read from such a
                                                                    // file
constexpr std::size_t kLineChunk = 512, kLineChunkMax = 64 * 1024;  // READ_LINE without read-ahead
constexpr std::size_t kIndirectHeader = 8;
constexpr std::uint64_t kNoData = ~std::uint64_t{0};

/// How much of `left` to do now.
std::uint64_t part_of(const Operation& op, std::uint64_t left) {
  return op.in_pieces && left >= kAtOnce ? kPart : left;
}

void put_big_endian(char* out, std::uint64_t n, unsigned bytes) {
  while (bytes--) {
    out[bytes] = static_cast<char>(n);
    n >>= 8;
  }
}
std::uint32_t big_endian_32(const char* in) {
  std::uint32_t n = 0;
  for (int i = 0; i < 4; ++i) n = n << 8 | static_cast<std::uint8_t>(in[i]);
  return n;
}

/// Allocates memory for the answer; it grows when it is full. Returns false after setting error.
bool room_in_result(Operation& op, std::size_t wanted) {
  if (!op.result ? op.result.allocate(wanted) : (op.result.size() >= wanted || op.result.resize(wanted)))
    return true;
  op.error = ENOMEM;
  return false;
}

// ---- Reading ------------------------------------------------------------------------------------

/// Returns the room that a READ needs: as much as requested, but not more than the file has, if
/// that is known.
std::uint64_t room_for_read(const Operation& op) {
  const std::uint64_t asked = op.request.size;
  if (asked <= kTrusted) return asked;
  const std::uint64_t ahead = bytes_ahead(op.file);
  return ahead ? std::min(asked, ahead + op.buffer.unread()) : std::min(asked, kUnknownMax);
}

void take_from_buffer(Operation& op) {
  const std::size_t size = std::min<std::size_t>(op.buffer.unread(), op.result.size());
  if (!size) return;
  std::memcpy(op.result.bytes(), op.buffer.bytes(), size);
  op.buffer.consume(size);
  op.done = size;
}

void read(Operation& op) {
  if (!op.result) {
    if (!room_in_result(op, room_for_read(op))) return;
    take_from_buffer(op);
  }
  op.again = false;
  const std::uint64_t left = op.result.size() - op.done;
  if (!left) return;
  const std::uint64_t part = part_of(op, left);
  const bool fills_buffer = op.read_ahead > left && !op.file.gz && part == left;
  char* ahead = fills_buffer ? op.buffer.room(op.read_ahead) : nullptr;
  std::size_t got = 0;
  op.error = read_two(op.file, op.result.bytes() + op.done, part, ahead, ahead ? op.read_ahead : 0, &got);
  if (op.error) {
    if (op.done) op.error = 0;  // the bytes before the error are delivered; the next read will meet it again
    return;
  }
  const std::uint64_t mine = std::min<std::uint64_t>(got, part);
  op.done += mine;
  if (got > mine) op.buffer.filled(got - mine);
  op.end_of_file = op.done == 0;
  op.again = mine == part && part < left;
}

/// Takes a line of `size` bytes out of the buffer. If it ends with carriage return and line feed,
/// the carriage return is left out.
void give_line(Operation& op, std::size_t size) {
  if (!room_in_result(op, size)) return;
  std::memcpy(op.result.bytes(), op.buffer.bytes(), size);
  op.buffer.consume(size);
  char* bytes = op.result.bytes();
  if (size >= 2 && bytes[size - 1] == '\n' && bytes[size - 2] == '\r') bytes[--size - 1] = '\n';
  op.done = size;
}

/// Without read-ahead the position must be directly behind the line. If it cannot be moved, the
/// rest stays for the next command.
void put_back_rest(Operation& op) {
  if (op.read_ahead || op.file.gz || !op.buffer.unread()) return;
  std::int64_t position;
  if (seek(op.file, -static_cast<std::int64_t>(op.buffer.unread()), 1, &position) == 0) op.buffer.clear();
}

void read_line(Operation& op) {
  op.again = false;
  for (;;) {
    const std::size_t unread = op.buffer.unread();
    if (const void* feed = unread > op.scanned
                               ? std::memchr(op.buffer.bytes() + op.scanned, '\n', unread - op.scanned)
                               : nullptr) {
      give_line(op, static_cast<std::size_t>(static_cast<const char*>(feed) - op.buffer.bytes()) + 1);
      return put_back_rest(op);
    }
    op.scanned = unread;
    const std::size_t chunk = op.read_ahead ? op.read_ahead : std::clamp(unread, kLineChunk, kLineChunkMax);
    char* room = op.buffer.room(chunk);
    std::size_t got = 0;
    op.error = room ? read_some(op.file, room, chunk, &got) : ENOMEM;
    if (op.error) return;
    op.buffer.filled(got);
    if (got == 0) {
      op.end_of_file = unread == 0;
      if (unread) give_line(op, unread);
      return;
    }
    if (op.in_pieces) {
      // The next part finds the line feed, or continues to read.
      op.again = !std::memchr(op.buffer.bytes() + op.scanned, '\n', op.buffer.unread() - op.scanned);
      if (op.again) return;
    }
  }
}

/// <<N:32, N x Size:64, Data>>; the data are read to their final places.
void read_pieces(Operation& op) {
  const auto& pieces = op.request.pieces;
  const std::size_t header = 4 + 8 * pieces.size();
  op.again = false;
  if (!op.result) {
    std::uint64_t data = op.request.size;
    if (data > kTrusted)
      if (const std::uint64_t whole = size_of(op.file)) {
        data = 0;
        for (const Piece& p : pieces)
          if (const auto offset = static_cast<std::uint64_t>(p.offset); p.offset >= 0 && offset < whole)
            data += std::min(p.size, whole - offset);
      }
    if (__builtin_add_overflow(data, header, &data)) {
      op.error = ENOMEM;
      return;
    }
    if (!room_in_result(op, data)) return;
    put_big_endian(op.result.bytes(), pieces.size(), 4);
    op.done = header;
  }
  while (op.piece < pieces.size()) {
    const Piece& p = pieces[op.piece];
    const std::uint64_t room = op.result.size() - op.done;
    const std::uint64_t left = std::min(p.size - op.piece_done, room);
    const std::uint64_t part = part_of(op, left);
    std::size_t got = 0;
    op.error = read_at(op.file, op.result.bytes() + op.done, part,
                       p.offset + static_cast<std::int64_t>(op.piece_done), &got);
    if (op.error) return;
    op.done += got;
    op.piece_done += got;
    if (got == part && part < left) {
      op.again = true;
      return;
    }
    put_big_endian(op.result.bytes() + 4 + 8 * op.piece,
                   op.piece_done == 0 && p.size ? kNoData : op.piece_done, 8);
    ++op.piece;
    op.piece_done = 0;
  }
}

/// A header <<Size:32, Position:32>> at the offset refers to a block. The answer consists of both,
/// unchanged.
void read_indirect(Operation& op) {
  char header[kIndirectHeader];
  std::size_t got = 0;
  op.error = read_at(op.file, header, sizeof header, op.request.offset, &got);
  if (op.error) return;
  const std::uint32_t size = big_endian_32(header), position = big_endian_32(header + 4);
  if (got < sizeof header || size > op.request.size) {
    op.end_of_file = true;
    return;
  }
  if (!room_in_result(op, sizeof header + size)) return;
  std::memcpy(op.result.bytes(), header, sizeof header);
  fire_int_entry(op.identity, Command::kPreadv);
  op.error = read_at(op.file, op.result.bytes() + sizeof header, size, position, &got);
  fire_int_return(op.identity, Command::kPreadv);
  op.done = sizeof header + got;
}

void read_file(Operation& op) {
  if (!op.file.is_open()) {
    op.again = false;
    op.error = open_file(op.request.name, kModeRead, &op.file);
    if (op.error) return;
    op.owns_file = true;
    const std::uint64_t size = size_of(op.file);
    // One byte more, so that the end is found without another call.
    if (!room_in_result(op, size ? size + 1 : kFirstGuess)) return;
  }
  for (;;) {
    if (op.done == op.result.size() && !room_in_result(op, 2 * op.result.size())) return;
    const std::uint64_t left = op.result.size() - op.done;
    const std::uint64_t part = part_of(op, left);
    std::size_t got = 0;
    op.error = read_some(op.file, op.result.bytes() + op.done, part, &got);
    if (op.error) return;
    op.done += got;
    op.again = got == part && part < left;
    if (op.again) return;
    // A short read ends a regular file; other files end only with an empty read.
    if (got == 0 || (got < part && size_of(op.file) == op.done)) return;
  }
}

// ---- Writing ------------------------------------------------------------------------------------

/// Returns the vectors of `size` bytes from `skip` on.
std::vector<iovec> slice(const DataVectors& data, std::uint64_t skip, std::uint64_t size) {
  std::vector<iovec> out;
  for (std::size_t i = 0; i < data.count() && size; ++i) {
    iovec v = data.vectors()[i];
    if (skip >= v.iov_len) {
      skip -= v.iov_len;
      continue;
    }
    v.iov_base = static_cast<char*>(v.iov_base) + skip;
    v.iov_len = std::min<std::uint64_t>(v.iov_len - skip, size);
    skip = 0;
    size -= v.iov_len;
    out.push_back(v);
  }
  return out;
}

void write(Operation& op) {
  const std::uint64_t left = op.request.size - op.done;
  const std::uint64_t part = part_of(op, left);
  std::size_t done = 0;
  if (op.done == 0 && part == left) {
    op.error = write_all(op.file, op.data.vectors(), op.data.count(), &done);
  } else {
    const auto vectors = slice(op.data, op.done, part);
    op.error = write_all(op.file, vectors.data(), vectors.size(), &done);
  }
  op.done += done;
  op.number = op.reply_size;
  op.again = !op.error && part < left;
}

void write_pieces(Operation& op) {
  op.again = false;
  while (op.piece < op.request.pieces.size()) {
    const Piece& p = op.request.pieces[op.piece];
    const std::uint64_t left = p.size - op.piece_done;
    const std::uint64_t part = part_of(op, left);
    const auto vectors = slice(op.data, op.done, part);
    std::size_t done = 0;
    op.error = write_at(op.file, vectors.data(), vectors.size(),
                        p.offset + static_cast<std::int64_t>(op.piece_done), &done);
    op.done += done;
    op.piece_done += done;
    if (op.error) return;
    if (part < left) {
      op.again = true;
      return;
    }
    op.number = ++op.piece;
    op.piece_done = 0;
  }
}

void send_file(Operation& op) {
  const Request& r = op.request;
  std::uint64_t sent = 0;
  bool would_block = false;
  op.error = send_some(op.file, static_cast<int>(r.option), r.offset + static_cast<std::int64_t>(op.done),
                       r.size ? r.size - op.done : 0, &sent, &would_block);
  op.done += sent;
  op.number = op.done;
  op.again = !op.error && would_block;
}

// ---- The others ---------------------------------------------------------------------------------

void open(Operation& op) {
  op.error = open_file(op.request.name, op.request.flags, &op.file);
  op.owns_file = !op.error;
  op.number = static_cast<std::uint64_t>(op.file.fd);
}

void close(Operation& op) {
  op.error = close_file(op.file);
  op.owns_file = false;
}

void lseek(Operation& op) {
  std::int64_t position = 0;
  op.error = seek(op.file, op.request.offset, op.request.option, &position);
  op.number = static_cast<std::uint64_t>(position);
}

void fstat(Operation& op) {
  const bool of_file = op.file.is_open() && !*op.request.name;
  op.error = of_file ? file_info(op.file.fd, &op.info) : file_info(op.request.name, false, &op.info);
}
void lstat(Operation& op) { op.error = file_info(op.request.name, true, &op.info); }
void pwd(Operation& op) { op.error = working_directory(&op.text); }
void readdir(Operation& op) { op.error = read_directory(op.request.name, &op.text); }
void chdir(Operation& op) { op.error = change_directory(op.request.name); }
void fsync(Operation& op) { op.error = sync_file(op.file, false); }
void fdatasync(Operation& op) { op.error = sync_file(op.file, true); }
void mkdir(Operation& op) { op.error = make_directory(op.request.name); }
void remove(Operation& op) { op.error = remove_file(op.request.name); }
void rename(Operation& op) { op.error = rename_file(op.request.name, op.request.name2); }
void rmdir(Operation& op) { op.error = remove_directory(op.request.name); }
void truncate(Operation& op) { op.error = truncate_here(op.file); }
void write_info(Operation& op) { op.error = change_info(op.request); }
void readlink(Operation& op) { op.error = read_link(op.request.name, &op.text); }
void link(Operation& op) { op.error = make_link(op.request.name, op.request.name2); }
void symlink(Operation& op) { op.error = make_symlink(op.request.name, op.request.name2); }
void fadvise(Operation& op) {
  op.error =
      advise(op.file, op.request.offset, static_cast<std::int64_t>(op.request.size), op.request.option);
}
void fallocate(Operation& op) {
  op.error = allocate(op.file, op.request.offset, static_cast<std::int64_t>(op.request.size));
}
void altname(Operation& op) { op.error = ENOTSUP; }  // short names are Windows'
void setopt(Operation&) {}                           // done by the port itself

void work(Operation& op) {
  switch (op.request.command) {
#define COMMAND(constant, name, number, level, needs, flushes, rewinds, function) \
  case Command::constant:                                                         \
    return function(op);
#include "drivers/efile_commands.inc"
#undef COMMAND
  }
}

}  // namespace

Operation::~Operation() {
  if (owns_file && file.is_open()) close_file(file);
}

void run(Operation& op) {
  fire_int_entry(op.identity, op.request.command);
  work(op);
  fire_int_return(op.identity, op.request.command);
}

}  // namespace vmrun::efile
