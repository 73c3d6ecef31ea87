#pragma once

#include <atomic>
#include <cstdint>

#include "vm/base/sync.hpp"
#include "vm/base/word.hpp"

/// Each scheduler has an alarm, a timer of the kernel. It is set while the scheduler works,
/// something waits behind what it runs, and another one sleeps; a scheduler that comes round puts
/// it off. So it rings only when the scheduler has not come round for half a millisecond, and a
/// machine on which nothing runs long has no thread that looks on. It rings in a thread of its own
/// (idle.cpp).
namespace vmrun {

/// Whether the alarm is set, and that the timer is so when it is. Any thread may set it; only the
/// owner clears it, and only the thread in which it rings says that it has rung. The kernel's timer
/// is set in another moment than the flag is: who turns the timer off, or puts it far off, looks at
/// the flag again then, and who has set the flag sets the timer behind that. So one of them leaves
/// it set. A thread that queues something and finds the alarm set leaves it at that: has_rung makes
/// sure that what was queued before is seen behind it. Timer: soon() and off() and late(when), each
/// of which replaces what was set before.
template <class Sync, class Timer>
class BasicAlarm {
 public:
  template <class... Arguments>
  explicit BasicAlarm(Arguments&&... arguments) : timer_(static_cast<Arguments&&>(arguments)...) {}

  bool is_set() const {
    Sync::light_fence();  // uneven against has_rung
    return set_.load(std::memory_order_relaxed);
  }
  void set() {
    if (!is_set() && !set_.exchange(true, std::memory_order_seq_cst)) timer_.soon();
  }
  /// The owner: it rings that much later.
  void put_off() { timer_.soon(); }
  /// The owner, which looks then at what others may have handed to it.
  void clear() {
    if (set_.exchange(false, std::memory_order_seq_cst)) {
      timer_.off();
      keep();
    }
  }
  /// Where it rings, first of all.
  void has_rung() {
    set_.exchange(false, std::memory_order_seq_cst);
    Sync::heavy_fence();
  }
  /// There: it rings once more at that time, unless it has been set meanwhile.
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
  /// Rings in the thread `tid`, as number `number`. Ends the machine when there is none to be had.
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

/// After so long.
inline constexpr Word kAlarmNs = 500'000;
/// Scheduler::put_alarm_off_ns, where there is one scheduler: its alarm counts as set for ever.
inline constexpr Word kNoAlarm = ~Word{0};

/// By the thread in which the alarms ring, once, and then again and again: the number of one that
/// rings; 0: interrupt_alarms has been called.
void begin_to_wait_for_alarms();
unsigned wait_for_alarm();
/// Any thread.
void interrupt_alarms(int tid);

}  // namespace vmrun
