#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "vm/base/allocate.hpp"
#include "vm/base/clock.hpp"

/// What a thread frees stays with it, to be used again. A thread that has had nothing to do for a
/// while returns it to the system: an idle machine holds what it needs, not the most it ever
/// needed. A block that another thread frees comes back when the thread that has taken it does so:
/// one that returns memory after work has all others that sleep do the same.
namespace vmrun {

/// Belongs to a thread that sleeps for want of work, which bounds its sleep by time_left and calls
/// go_on after it.
class MemoryTrimmer {
 public:
  MemoryTrimmer() = default;
  MemoryTrimmer(const MemoryTrimmer&) = delete;
  ~MemoryTrimmer() { leave(); }

  /// How long a thread has nothing to do until it does so, for all of them; 0: it never does.
  /// Before threads start.
  static void set_delay(unsigned ms) { delay_ns_ = Word{ms} * 1'000'000; }

  /// From now on others may ask for it; wake ends the thread's sleep, and is called by any thread.
  void join(std::function<void()> wake);
  void leave();

  /// It has worked, and is about to sleep.
  void begin(Word now) {
    if (delay_ns_) due_ = std::max(now + delay_ns_, last_ + kEveryNs);
  }
  /// -1: there is nothing to be tidied.
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
  /// The thread wakes for it.
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
