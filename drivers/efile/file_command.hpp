// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drivers/efile_codes.hpp"

/// Commands that processes send to the file driver, decoded from their bytes. Pure functions, any
/// thread. The bytes and their meaning: docs/internals/files.md, "Commands".
namespace vmrun::efile {

/// Made from commands.tab, like the facts about each command.
enum class Command : std::uint8_t {
#define COMMAND(constant, name, number, ...) constant = number,
#include "drivers/efile_commands.inc"
#undef COMMAND
};

/// Options of SETOPT.
inline constexpr unsigned kOptionDelayedWrite = 0, kOptionReadAhead = 1;

/// Facts about a command that do not depend on its arguments.
struct CommandRow {
  const char* name;         // nullptr: no such command
  std::uint8_t level;       // 1: data, 2: everything else; compared with ERL_EFILE_THREAD_SHORT_CIRCUIT
  std::uint8_t needs_open;  // kNeeds…
  bool flushes_writes;      // buffered writes go out before the command
  bool rewinds;             // before the command the position moves back over bytes that were read ahead
};
inline constexpr std::uint8_t kNeedsNothing = 0, kNeedsFile = 1, kNeedsReadable = 2, kNeedsWritable = 3;
const CommandRow& command_row(Command c);

/// One part of PWRITEV or PREADV.
struct Piece {
  std::int64_t offset;
  std::uint64_t size;
};

/// WRITE_INFO: fields with these values do not change.
inline constexpr std::uint32_t kKeepId = ~std::uint32_t{0};
inline constexpr std::int64_t kKeepTime = INT64_MIN;

/// A decoded command. Texts point into the bytes it was decoded from.
struct Request {
  Command command = Command::kOpen;
  const char* user_tag = nullptr;  // nullptr: none
  const char* name = nullptr;
  const char* name2 = nullptr;
  std::uint32_t flags = 0;   // OPEN
  std::uint32_t option = 0;  // origin of LSEEK, advice, option of SETOPT, descriptor SENDFILE writes to
  std::int64_t offset = 0;
  std::uint64_t size = 0;      // bytes asked for or given, of all pieces together; value of SETOPT
  std::uint64_t delay_ms = 0;  // SETOPT delayed_write
  std::uint32_t mode = 0, uid = kKeepId, gid = kKeepId;  // WRITE_INFO
  std::int64_t atime = kKeepTime, mtime = kKeepTime, ctime = kKeepTime;
  std::vector<Piece> pieces;
};

enum class Decoded { kDone, kNeedMore, kInvalid };

/// Decodes a command from the first `size` of its `total` bytes. Returns kNeedMore when they do not
/// suffice, which cannot happen when size == total. For WRITE and PWRITEV the data begin at
/// *data_at and extend to the end.
[[nodiscard]] Decoded decode(const char* bytes, std::size_t size, std::size_t total, Request* out,
                             std::size_t* data_at);

}  // namespace vmrun::efile
