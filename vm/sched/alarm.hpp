// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "vm/base/sync.hpp"
#include "vm/base/word.hpp"

/// Each scheduler has an alarm, a timer of the kernel. It is set while the scheduler works,
/// something waits behind what it runs, and another scheduler sleeps. A scheduler that returns to
/// its loop puts its alarm off. So the alarm rings only when the scheduler has not returned to its
/// loop for half a millisecond, and a machine on which nothing runs long needs no thread that
/// watches. It rings in a thread of its own (idle.cpp).
namespace vmrun {

/// Whether the alarm is set; when it is, so is the timer. Any thread may set it. Only the owner
/// clears it, and only the thread in which it rings calls has_rung.
///
/// The kernel's timer is not set at the same moment as the flag. A thread that turns the timer off,
/// or puts it far off, reads the flag again afterwards, and a thread that has set the flag sets the
/// timer afterwards. So one of them leaves the timer set.
///
/// A thread that queues something and finds the alarm set does no more: has_rung makes sure that
/// what was queued before is seen after it. Timer has soon(), off() and late(when); each replaces
/// what was set before.
template <class Sync, class Timer>
class BasicAlarm {
 public:
  template <class... Arguments>
  explicit BasicAlarm(Arguments&&... arguments) : timer_(static_cast<Arguments&&>(arguments)...) {}

  bool is_set() const {
    Sync::light_fence();  // asymmetric, with the heavy fence in has_rung
    // Sequentially consistent against clear(), as what the caller has queued is.
    return set_.load(std::memory_order_seq_cst);
  }
  void set() {
    if (!is_set() && !set_.exchange(true, std::memory_order_seq_cst)) timer_.soon();
  }
  /// Makes it ring that much later. Called by the owner.
  void put_off() { timer_.soon(); }
  /// Clears the alarm. Called by the owner, which then checks what other threads may have handed to
  /// it.
  void clear() {
    if (set_.exchange(false, std::memory_order_seq_cst)) {
      timer_.off();
      keep();
    }
  }
  /// Called first of all where it rings.
  void has_rung() {
    set_.exchange(false, std::memory_order_seq_cst);
    Sync::heavy_fence();
  }
  /// Makes it ring once more at that time, unless it has been set meanwhile. Called where it rings.
  void ring_late(Word when) {
    timer_.late(when);
    keep();
  }
  Timer& timer() { return timer_; }

 private:
  void keep() {
    if (set_.load(std::memory_order_seq_cst)) timer_.soon();
  }

  typename Sync::template Atomic<bool> set_{false};
  Timer timer_;
};

/// timer_create(2), with a signal to the thread that waits for it.
class KernelTimer {
 public:
  /// Makes a timer that rings in the thread `tid`, as number `number`. Ends the machine when the
  /// kernel refuses it.
  void create(int tid, unsigned number);
  void remove();
  void soon();
  void off();
  void late(Word at_ns);

 private:
  void* id_ = nullptr;
  bool exists_ = false;
};

using Alarm = BasicAlarm<ThreadSync, KernelTimer>;

/// The time after which an alarm rings.
inline constexpr Word kAlarmNs = 500'000;
/// Value of Scheduler::put_alarm_off_ns when there is only one scheduler: its alarm counts as set
/// for ever.
inline constexpr Word kNoAlarm = ~Word{0};

/// Called by the thread in which the alarms ring: the first once, the second again and again. That
/// returns the number of an alarm that rings; 0 when interrupt_alarms has been called.
void begin_to_wait_for_alarms();
unsigned wait_for_alarm();
/// Any thread.
void interrupt_alarms(int tid);

}  // namespace vmrun
