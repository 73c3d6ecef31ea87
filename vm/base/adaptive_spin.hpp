#pragma once

#include "vm/base/spin_lock.hpp"

/// Adaptive spinning: what a thread does before it goes to sleep. It looks for a few microseconds
/// whether there is something, because being woken takes longer than many a piece of work that
/// others do for it. Where looking is in vain (the work takes long, or there are more threads than
/// cores) it learns to look less, and tries again now and then. Belongs to one thread.
namespace vmrun {

class AdaptiveSpin {
 public:
  /// True as soon as `there` says so, false when it has looked long enough.
  template <class F>
  bool until(F&& there) {
    unsigned spins = limit_;
    if (++waits_ % kTryAgainEvery == 0) spins = kMost;
    for (; spins; --spins) {
      if (there()) {
        limit_ = kMost;
        return true;
      }
      cpu_relax();
    }
    limit_ = limit_ / 2 < kLeast ? kLeast : limit_ / 2;
    return false;
  }

 private:
  static constexpr unsigned kMost = 800, kLeast = 25;  // times some 30 ns
  static constexpr unsigned kTryAgainEvery = 32;
  unsigned limit_ = kMost, waits_ = 0;
};

}  // namespace vmrun
