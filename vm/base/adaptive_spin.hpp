// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/spin_lock.hpp"

/// Adaptive spinning: what a thread does before it goes to sleep. It checks for a few microseconds
/// whether there is something to do, because a wake-up takes longer than many pieces of work that
/// it waits for. When spinning is in vain (the work takes long, or there are more threads than
/// cores), it spins less, and tries the full time again now and then. An object belongs to one
/// thread.
namespace vmrun {

class AdaptiveSpin {
 public:
  /// The largest and the smallest number of checks in a row. The usual check reads memory and
  /// takes, with the pause after it, some 30 ns.
  explicit AdaptiveSpin(unsigned most = 800, unsigned least = 25)
      : most_(most), least_(least), limit_(most) {}

  /// Returns true as soon as `there` returns true, and false when it has spun long enough.
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
