#pragma once

#include "vm/base/spin_lock.hpp"

/// Adaptive spinning: what a thread does before it goes to sleep. It looks for a few microseconds
/// whether there is something, because being woken takes longer than many a piece of work that
/// others do for it. Where looking is in vain (the work takes long, or there are more threads than
/// cores) it learns to look less, and tries again now and then. Belongs to one thread.
namespace vmrun {

class AdaptiveSpin {
 public:
  /// Looks at most so often in a row, and at least. The usual look is at memory, and takes, with
  /// the pause after it, some 30 ns.
  explicit AdaptiveSpin(unsigned most = 800, unsigned least = 25)
      : most_(most), least_(least), limit_(most) {}

  /// True as soon as `there` says so, false when it has looked long enough.
  template <class F>
  bool until(F&& there) {
    unsigned spins = limit_;
    if (++waits_ % kTryAgainEvery == 0) spins = most_;
    for (; spins; --spins) {
      if (there()) {
        limit_ = most_;
        return true;
      }
      cpu_relax();
    }
    limit_ = limit_ / 2 < least_ ? least_ : limit_ / 2;
    return false;
  }

 private:
  static constexpr unsigned kTryAgainEvery = 32;
  const unsigned most_, least_;
  unsigned limit_, waits_ = 0;
};

}  // namespace vmrun
