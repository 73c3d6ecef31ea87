// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/file_command.hpp"

#include <array>
#include <cstring>

namespace vmrun::efile {
namespace {

constexpr std::array<CommandRow, 256> kRows = [] {
  std::array<CommandRow, 256> rows{};
#define COMMAND(constant, name, number, level, needs, flushes, rewinds, function) \
  rows[number] = {name, level, needs, flushes, rewinds};
#include "drivers/efile_commands.inc"
#undef COMMAND
  return rows;
}();

constexpr std::uint32_t kPiecesMax = 1u << 24;

/// Reads big-endian fields from the front. Missing bytes read as 0 and make the reader bad.
class Reader {
 public:
  Reader(const char* bytes, std::size_t size) : next_(bytes), end_(bytes + size) {}
  bool short_of_bytes() const { return short_; }
  const char* next() const { return next_; }
  std::uint64_t number(unsigned bytes) {
    if (static_cast<std::size_t>(end_ - next_) < bytes) {
      next_ = end_;
      short_ = true;
      return 0;
    }
    std::uint64_t n = 0;
    while (bytes--) n = n << 8 | static_cast<std::uint8_t>(*next_++);
    return n;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::int64_t s64() { return static_cast<std::int64_t>(number(8)); }
  const char* text() {
    const void* nul = std::memchr(next_, 0, static_cast<std::size_t>(end_ - next_));
    if (!nul) {
      next_ = end_;
      short_ = true;
      return nullptr;
    }
    const char* text = next_;
    next_ = static_cast<const char*>(nul) + 1;
    return text;
  }
  /// Returns the user tag at the end; a command may have none.
  const char* tag_at_end() { return next_ == end_ ? nullptr : text(); }

 private:
  const char* next_;
  const char* end_;
  bool short_ = false;
};

/// Returns false when sizes and pieces contradict each other.
bool read_pieces(Reader& r, Request& out) {
  const std::uint32_t count = r.u32();
  if (count > kPiecesMax) return false;
  out.size = 0;
  for (std::uint32_t i = 0; i < count && !r.short_of_bytes(); ++i) {
    const std::int64_t offset = r.s64();
    const std::uint64_t size = r.u64();
    if (__builtin_add_overflow(out.size, size, &out.size)) return false;
    out.pieces.push_back({offset, size});
  }
  return true;
}

/// Returns false when the fields contradict each other.
bool read_fields(Reader& r, Request& out) {
  switch (out.command) {
    case Command::kOpen:
      out.flags = r.u32();
      out.name = r.text();
      break;
    case Command::kRead: out.size = r.u64(); break;
    case Command::kLseek:
      out.offset = r.s64();
      out.option = r.u32();
      return r.short_of_bytes() || out.option <= 2;
    case Command::kFstat:
    case Command::kReaddir:
    case Command::kChdir:
    case Command::kMkdir:
    case Command::kDelete:
    case Command::kRmdir:
    case Command::kReadFile:
    case Command::kLstat:
    case Command::kReadlink:
    case Command::kAltname: out.name = r.text(); break;
    case Command::kPwd: r.number(1); break;
    case Command::kRename:
    case Command::kLink:
    case Command::kSymlink:
      out.name = r.text();
      out.name2 = r.text();
      break;
    case Command::kWriteInfo:
      out.mode = r.u32();
      out.uid = r.u32();
      out.gid = r.u32();
      out.atime = r.s64();
      out.mtime = r.s64();
      out.ctime = r.s64();
      out.name = r.text();
      break;
    case Command::kPwritev: return read_pieces(r, out);
    case Command::kPreadv: return r.u32() == 0 && read_pieces(r, out);
    case Command::kSetopt:
      out.option = static_cast<std::uint32_t>(r.number(1));
      out.size = r.u64();
      if (out.option == kOptionDelayedWrite) out.delay_ms = r.u64();
      return out.option <= kOptionReadAhead;
    case Command::kIpread:
      if (r.number(1) != 0) return false;
      out.offset = r.s64();
      out.size = r.u32();
      break;
    case Command::kFadvise:
      out.offset = r.s64();
      out.size = r.u64();
      out.option = r.u32();
      break;
    case Command::kSendfile:
      out.option = r.u32();
      out.offset = r.s64();
      out.size = r.u64();
      break;
    case Command::kFallocate:
      out.offset = r.s64();
      out.size = r.u64();
      break;
    case Command::kWrite:
    case Command::kFsync:
    case Command::kTruncate:
    case Command::kClose:
    case Command::kReadLine:
    case Command::kFdatasync: break;
  }
  return true;
}

bool tag_comes_first(Command c) {
  return c == Command::kWrite || c == Command::kPwritev || c == Command::kPreadv;
}
bool data_follow(Command c) { return c == Command::kWrite || c == Command::kPwritev; }

}  // namespace

const CommandRow& command_row(Command c) { return kRows[static_cast<unsigned>(c)]; }

Decoded decode(const char* bytes, std::size_t size, std::size_t total, Request* out, std::size_t* data_at) {
  *out = Request{};
  Reader r(bytes, size);
  const unsigned number = static_cast<unsigned>(r.number(1));
  if (r.short_of_bytes()) return size < total ? Decoded::kNeedMore : Decoded::kInvalid;
  if (!kRows[number].name) return Decoded::kInvalid;
  out->command = static_cast<Command>(number);
  const bool tag_first = tag_comes_first(out->command);
  if (tag_first) out->user_tag = r.text();
  if (!read_fields(r, *out)) return Decoded::kInvalid;
  const bool ends_here = !data_follow(out->command);
  if (!tag_first && !r.short_of_bytes()) out->user_tag = r.tag_at_end();
  if (r.short_of_bytes() || (ends_here && size < total))
    return size < total ? Decoded::kNeedMore : Decoded::kInvalid;
  const auto used = static_cast<std::size_t>(r.next() - bytes);
  if (ends_here ? used != total : (out->command == Command::kPwritev && out->size != total - used))
    return Decoded::kInvalid;
  if (out->command == Command::kWrite) out->size = total - used;
  if (out->user_tag && !*out->user_tag) out->user_tag = nullptr;
  *data_at = used;
  return Decoded::kDone;
}

}  // namespace vmrun::efile
