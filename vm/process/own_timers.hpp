// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/process/timer_wheel.hpp"

/// The timers with messages that a process has started, so that they can be given back: those that
/// aim at the process itself when it ends, and those that aim at others once these have ended. A
/// timer leaves the wheel without word to this list, so the list asks the wheels when it has become
/// twice as long as what was left then. The process's own thread.
namespace vmrun {

class OwnTimers {
 public:
  /// own: the timer aims at the process itself.
  void add(TimerWheel& wheel, RefKey key, bool own, Term process);
  /// The timer was cancelled. Only the latest one is looked for: that is what most programs cancel.
  void forget(RefKey key);
  /// Gives timers back at the end of the process, at most *left of them. Returns false when there
  /// are more.
  bool give_back(Term process, int* left);

 private:
  static constexpr std::size_t kLeast = 8;
  struct Started {
    TimerWheel* wheel;
    Word low;  // of the key
    std::uint32_t high;
    bool own;

    RefKey key() const { return {low, high}; }
  };

  std::vector<Started> started_;
  std::size_t ask_at_ = kLeast;
};

}  // namespace vmrun
