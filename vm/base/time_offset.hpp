#pragma once

#include "vm/base/word.hpp"

/// The time offset, as of the time warp mode (erl(1), +C; erts, "Time and Time Correction"):
///   none    fixed at start
///   single  preliminary, that of the start, until it is finalized
///   multi   follows the system's clock: whenever that is set, the offset is what it says then
/// Any thread.
namespace vmrun {

enum class TimeWarp : std::uint8_t { kNone, kSingle, kMulti };

/// Once, before anybody asks for the offset. With kMulti a thread waits for the clock to be set.
void use_time_warp(TimeWarp mode);
TimeWarp time_warp();
/// With kSingle, until it is finalized.
bool offset_is_preliminary();
/// From now on the offset is what it is now. Whether this was the time for that, which is once with
/// kSingle.
bool finalize_offset();

/// Who is told of a change; filled in before main begins. Any thread.
using OffsetChanged = void (*)(SWord offset_ns);
extern constinit OffsetChanged offset_changed;

}  // namespace vmrun
