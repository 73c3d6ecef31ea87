// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "vm/base/allocate.hpp"
#include "vm/base/clock.hpp"

/// Memory trim. The allocator keeps what a thread frees, for that thread to use again. A thread
/// that has been idle for a while returns this memory to the system, so an idle machine holds what
/// it needs and not the most it ever needed. A block that another thread has freed returns only
/// when the thread that allocated it trims, so a thread that trims after work has all sleeping
/// threads trim too.
namespace vmrun {

/// Belongs to one thread that sleeps when it has no work. The thread bounds its sleep by time_left
/// and calls go_on after it.
class MemoryTrimmer {
 public:
  MemoryTrimmer() = default;
  MemoryTrimmer(const MemoryTrimmer&) = delete;
  ~MemoryTrimmer() { leave(); }

  /// How long any thread is idle before it trims; 0: never. Called before threads start.
  static void set_delay(unsigned ms) { delay_ns_ = Word{ms} * 1'000'000; }

  /// From now on other threads may ask this one to trim. `wake` ends the thread's sleep; any thread
  /// calls it.
  void join(std::function<void()> wake);
  void leave();

  /// Called when the thread has worked and is about to sleep.
  void begin(Word now) {
    if (delay_ns_) due_ = std::max(now + delay_ns_, last_ + kEveryNs);
  }
  /// Nanoseconds until the trim is due; -1: none is due.
  SWord time_left(Word now) const {
    if (due_ == 0) return -1;
    return due_ > now ? static_cast<SWord>(due_ - now) : 0;
  }
  void go_on(Word now) {
    const bool is_due = due_ != 0 && now >= due_;
    if (!is_due && !is_asked()) return;
    asked_.store(false, std::memory_order_seq_cst);
    return_free_memory();
    if (!is_due) return;
    last_ = now;
    due_ = 0;
    ask_others();
  }
  /// Whether another thread has asked for a trim. The thread wakes for it.
  bool is_asked() const { return asked_.load(std::memory_order_seq_cst); }

  /// Sleeps until ready().
  template <class Parker, class Ready>
  void park(Parker& parker, Ready&& ready) {
    const auto called = [&] { return ready() || is_asked(); };
    Word now = monotonic_ns();
    for (begin(now); !ready(); go_on(now = monotonic_ns())) parker.park(called, time_left(now));
  }

 private:
  void ask_others() const;

  static constexpr Word kEveryNs = 5'000'000'000;
  inline static constinit Word delay_ns_ = 0;
  Word due_ = 0, last_ = 0;  // 0: nothing is due
  std::atomic<bool> asked_{false};
};

}  // namespace vmrun
