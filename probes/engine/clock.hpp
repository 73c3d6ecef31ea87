#pragma once

#include <cstdint>

/// The built-in `timestamp`: nanoseconds of CLOCK_MONOTONIC, read from the processor's counter
/// where that runs at one rate on all cores, else from the system. Never goes back in a thread, and
/// is the same clock in all.
namespace vmrun::d {

/// Any thread.
std::uint64_t timestamp();
/// Controlling threads call it before the first timestamp, and now and then: the first time takes a
/// few milliseconds, later ones keep the counter's rate in step with the system's clock.
void adjust_clock();

std::uint64_t thread_time_ns();  // vtimestamp
std::uint64_t wall_time_ns();    // walltimestamp

}  // namespace vmrun::d
