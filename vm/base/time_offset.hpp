// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

/// The time offset, by time warp mode (erl(1), +C; erts, "Time and Time Correction"):
///    none    fixed at start
///    single  preliminary: the offset at start, until it is finalized
///    multi   follows the system's clock: whenever that is set, the offset is computed again
/// Any thread.
namespace vmrun {

enum class TimeWarp : std::uint8_t { kNone, kSingle, kMulti };

/// Called once, before anything reads the offset. With kMulti a thread waits for changes of the
/// clock.
void use_time_warp(TimeWarp mode);
TimeWarp time_warp();
/// True with kSingle until the offset is finalized.
bool offset_is_preliminary();
/// Fixes the offset at its present value. Returns whether the offset was preliminary, which happens
/// once with kSingle.
bool finalize_offset();

}  // namespace vmrun
