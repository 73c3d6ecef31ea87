// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "vm/base/word.hpp"

/// The machine's clocks. Native time unit: nanosecond. Any thread.
namespace vmrun {

inline Word read_clock(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<Word>(t.tv_sec) * 1'000'000'000u + static_cast<Word>(t.tv_nsec);
}
inline Word monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
inline Word system_ns() { return read_clock(CLOCK_REALTIME); }
/// Processor time of all threads together.
inline Word process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

/// How far Erlang system time is ahead of Erlang monotonic time (time_offset.hpp).
SWord time_offset_ns();

/// Ticks of the timer wheels are milliseconds of the monotonic clock.
inline Word monotonic_tick() { return monotonic_ns() / 1'000'000; }
/// The first tick at which at least timeout_ms have passed since now.
inline Word tick_after(Word timeout_ms) { return (monotonic_ns() + 999'999) / 1'000'000 + timeout_ms; }

}  // namespace vmrun
