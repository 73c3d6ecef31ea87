// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The built-in `timestamp`: nanoseconds of CLOCK_MONOTONIC. They are read from the processor's
/// counter where it runs at one rate on all cores, else from the system. The clock never goes back
/// within a thread, and all threads have the same one.
namespace vmrun::d {

/// May be called by any thread.
std::uint64_t timestamp();
/// Controlling threads call it before the first timestamp, and now and then later. The first call
/// takes a few milliseconds; later ones keep the counter's rate in step with the system's clock.
void adjust_clock();

std::uint64_t thread_time_ns();  // the built-in vtimestamp
std::uint64_t wall_time_ns();    // the built-in walltimestamp

}  // namespace vmrun::d
