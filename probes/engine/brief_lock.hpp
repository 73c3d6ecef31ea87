#pragma once

#include <sched.h>

#include <atomic>

/// A lock that is given up on: who fires must never wait for long, also when the holder lost its
/// core. Held for copying a value, not more.
namespace vmrun::d {

class BriefLock {
 public:
  /// False: held for too long by somebody else.
  [[nodiscard]] bool lock() {
    if (!held_.exchange(true, std::memory_order_acquire)) [[likely]]
      return true;
    return lock_later();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline]] bool lock_later() {
    for (int turn = 0; turn < 64; ++turn) {
      for (int i = 0; i < 128; ++i) {
        if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire))
          return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      sched_yield();
    }
    return false;
  }

  std::atomic<bool> held_{false};
};

}  // namespace vmrun::d
