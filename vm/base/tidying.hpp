#pragma once

#include <algorithm>
#include <atomic>

#include "vm/base/allocate.hpp"
#include "vm/base/clock.hpp"

/// What a thread frees stays with it, to be used again. A thread that has had nothing to do for a
/// while returns it to the system: an idle machine holds what it needs, not the most it ever
/// needed. Memory that another thread has freed is returned by the thread that it came from: one that
/// returns its own after work has those that sleep do so too (ask).
namespace vmrun {

/// Belongs to a thread that sleeps for want of work, which bounds its sleep by time_left and calls
/// go_on after it.
class Tidying {
 public:
  /// How long a thread has nothing to do until it does so, for all of them; 0: it never does.
  /// Before threads start.
  static void set_delay(unsigned ms) { delay_ns_ = Word{ms} * 1'000'000; }

  /// It has worked, and is about to sleep.
  void begin(Word now) {
    if (delay_ns_) due_ = std::max(now + delay_ns_, last_ + kEveryNs);
  }
  /// -1: there is nothing to be tidied.
  SWord time_left(Word now) const {
    if (due_ == 0) return -1;
    return due_ > now ? static_cast<SWord>(due_ - now) : 0;
  }
  /// True when it has returned memory after work.
  bool go_on(Word now) {
    const bool asked = is_asked() && asked_.exchange(false, std::memory_order_seq_cst);
    const bool due = due_ != 0 && now >= due_;
    if (!asked && !due) return false;
    return_free_memory();
    if (!due) return false;
    last_ = now;
    due_ = 0;
    return true;
  }

  /// Another thread, which wakes the one that sleeps then.
  void ask() { asked_.store(true, std::memory_order_seq_cst); }
  bool is_asked() const { return asked_.load(std::memory_order_seq_cst); }

  /// Sleeps until ready().
  template <class Parker, class Ready>
  void park(Parker& parker, Ready&& ready) {
    Word now = monotonic_ns();
    for (begin(now); !ready(); go_on(now = monotonic_ns())) parker.park(ready, time_left(now));
  }

 private:
  static constexpr Word kEveryNs = 5'000'000'000;
  inline static constinit Word delay_ns_ = 0;
  Word due_ = 0, last_ = 0;  // 0: nothing is due
  std::atomic<bool> asked_{false};
};

}  // namespace vmrun
