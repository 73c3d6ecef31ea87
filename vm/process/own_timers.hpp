// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "vm/process/timer_wheel.hpp"

/// The timers with messages that aim at a process, so that they can be given back when it ends.
/// Those that it has started itself are in a list of its own, those that others have started in one
/// that anybody can reach. A timer leaves the wheel without word to its list, so the list asks the
/// wheels about two entries for each that is added: it is at most about twice as long as what is
/// there, and none waits long for it.
namespace vmrun {

class OwnTimers {
 public:
  void add(TimerWheel& wheel, RefKey key, Term process);
  /// The timer was cancelled. Only the latest one is looked for: that is what most programs cancel.
  void forget(RefKey key);
  /// Gives timers back after the end of the process, at most *left of them. Returns false when
  /// there are more.
  bool give_back(Term process, int* left);

 private:
  static constexpr std::size_t kFewEnough = 8;  // not asked about
  struct Started {
    TimerWheel* wheel;
    Word low;  // of the key
    std::uint32_t high;

    RefKey key() const { return {low, high}; }
  };

  std::vector<Started> started_;
  std::size_t next_asked_ = 0;
};

/// Lists a timer that another process has started for this one. If that one has ended meanwhile,
/// the timer is given back. Any thread.
void list_timer_of_other(Term target, TimerWheel& wheel, RefKey key);
/// Returns the list of a process that has left the process table; nullptr: there is none. Any
/// thread.
std::unique_ptr<OwnTimers> take_timers_of_others(Term target);

}  // namespace vmrun
