// SPDX-License-Identifier: Apache-2.0
#include "vm/base/time_offset.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>

#include "vm/base/base_upcalls.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/thread.hpp"

namespace vmrun {

namespace {

SWord measured_offset() { return static_cast<SWord>(system_ns()) - static_cast<SWord>(monotonic_ns()); }

std::atomic<SWord>& offset() {
  static std::atomic<SWord> value{measured_offset()};
  return value;
}
std::atomic<TimeWarp> mode{TimeWarp::kNone};
std::atomic<bool> preliminary{false};

void change_offset() {
  const SWord now = measured_offset();
  offset().store(now, std::memory_order_relaxed);
  base_upcalls.offset_changed(now);
}

/// Waits for changes of the system's clock: a read of a timer of that clock fails with ECANCELED
/// when the clock has been set (timerfd_settime(2)).
void follow_system_clock() {
  const int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  if (fd < 0) return;
  itimerspec never{};
  never.it_value.tv_sec = static_cast<time_t>(1) << 40;
  for (std::uint64_t times = 0;;) {
    timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, nullptr);
    if (read(fd, &times, sizeof times) < 0 && errno == ECANCELED) change_offset();
  }
}

}  // namespace

SWord time_offset_ns() { return offset().load(std::memory_order_relaxed); }

void use_time_warp(TimeWarp wanted) {
  offset();
  mode.store(wanted, std::memory_order_relaxed);
  preliminary.store(wanted == TimeWarp::kSingle, std::memory_order_relaxed);
  if (wanted == TimeWarp::kMulti) start_needed_thread("time_warp", follow_system_clock).detach();
}
TimeWarp time_warp() { return mode.load(std::memory_order_relaxed); }

bool offset_is_preliminary() { return preliminary.load(std::memory_order_relaxed); }
bool finalize_offset() {
  if (!preliminary.exchange(false, std::memory_order_relaxed)) return false;
  change_offset();
  return true;
}

}  // namespace vmrun
