// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>

#include "vm/base/small_limits.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/process/reference.hpp"

/// The timers of one scheduler: a hierarchical wheel of 4 × 256 slots with ticks of a millisecond
/// (Varghese, Lauck: "Hashed and Hierarchical Timing Wheels", 1987). Starting, cancelling, reading
/// and firing take constant time, however many timers there are. The links are in the timers
/// themselves, each slot that is not empty has its bit set, and the reference that a program gets
/// holds the wheel of its timer and the place there (docs/internals/timers.md).
///
/// Only its scheduler starts timers. Any thread may cancel or read one, or fire what is due
/// (advance). So a lock guards the wheel. It is nearly always free, and is held for a bounded
/// number of timers at a time.
namespace vmrun {

class TimerWheel;

struct Timer {
  Timer* next = nullptr;  // in its slot, or in the list of free ones
  Timer* previous = nullptr;
  Word tick = 0;  // fires when the clock has reached it; ms
  TimerWheel* wheel = nullptr;
  std::uint32_t slot = 0;          // where it is linked: level * 256 + slot
  std::uint32_t index = 0;         // its place in the wheel's memory
  Term target;                     // local pid or port, or registered name
  Fragment* message = nullptr;     // nullptr: wakes `target`
  Word number = 0;                 // with a message, while it waits: unique on this wheel
  std::atomic<bool> fired{false};  // without a message: set before the target is woken
};

class TimerWheel {
 public:
  static constexpr unsigned kNumberBits = 10, kMostWheels = 1u << kNumberBits;

  /// number is below kMostWheels; references contain it.
  explicit TimerWheel(unsigned number = 0) : number_(number) {}
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;

  /// Starts a timer that wakes `target` (a process, a port) without a message. It belongs to the
  /// target, which gives it back with cancel_receive.
  Timer* start_receive(Term target, Word now_tick, Word tick);
  /// Gives the timer back, whether or not it has fired.
  static void cancel_receive(Timer* timer);

  /// Starts a timer that sends `message`, and takes the fragment over. `place`: nullptr, or
  /// kRefWords words inside the message into which the timer's reference is written before any
  /// other thread sees it.
  RefKey start_message(Term target, Word now_tick, Word tick, Fragment* message, Term* place = nullptr);
  /// Returns the number of the wheel that a timer with this reference is, or was, on; -1 when it is
  /// not the reference of a timer.
  static int number_of(RefKey key);
  /// Returns the milliseconds left, or -1 when there is no such timer (any more). cancel: drops the
  /// timer. A timer whose target process has ended is dropped in any case and counts as none.
  /// asker: a process that lives.
  SWord look_up(RefKey key, Word now_tick, bool cancel, Term asker);

  /// Calls visit(target, message) for each timer that has a message. visit starts no timers.
  void for_each_message(const std::function<void(Term target, const Fragment& message)>& visit);

  struct Expired {
    Term target;
    Fragment* message;  // nullptr: wakes the target
  };
  /// Advances to now_tick. Calls `fire` without the lock for each timer that is due, in the order
  /// of their ticks. Called by any thread that may run `fire`; while one thread advances, calls by
  /// others return at once.
  template <class F>
  void advance(Word now_tick, F&& fire) {
    if (advancing_.exchange(true, std::memory_order_acquire)) return;
    Expired batch[kBatch];
    bool more = true;
    while (more) {
      const unsigned n = collect_due(now_tick, batch, &more);
      for (unsigned i = 0; i < n; ++i) fire(batch[i]);
    }
    advancing_.store(false, std::memory_order_release);
  }

  bool empty() const { return count() == 0; }
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }
  /// Returns when to call advance next; ~0: never. May be early, never late.
  Word next_tick();
  /// As next_tick without the lock, for other threads that check whether something may be due here.
  /// It is a hint, which may be earlier than next_tick says.
  Word next_tick_hint() const { return hint_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kLevels = 4, kBits = 8, kSlots = 1 << kBits;
  static constexpr unsigned kBatch = usual_or_small<unsigned>(32, 2),
                            kSpreadAtOnce =
                                usual_or_small<unsigned>(256, 2);  // timers handled under the lock
  // Timers lie in chunks that never move. Each is twice as large as the one before.
  static constexpr unsigned kIndexBits = 28, kFirstChunkBits = usual_or_small<unsigned>(6, 1),
                            kChunks = kIndexBits - kFirstChunkBits;
  struct Slot {
    Timer* first = nullptr;
    Timer* last = nullptr;
  };

  unsigned collect_due(Word now_tick, Expired* batch, bool* more);
  bool step(Word now_tick);
  Timer* begin(Term target, Word now_tick, Word tick);
  Timer* take();
  Timer*& place_of(std::uint32_t index, std::uint32_t* offset);
  Timer* find(RefKey key);
  RefKey key_of(const Timer& t) const;
  void link(Timer* t, std::uint32_t slot);
  void unlink(Timer* t);
  void give_back(Timer* t);
  std::uint32_t slot_of(Word tick) const;
  unsigned slot_at(unsigned level) const {
    return static_cast<unsigned>(current_ >> (kBits * level) & (kSlots - 1));
  }
  bool is_at_slot_begin(unsigned level) const { return (current_ & ((Word{1} << (kBits * level)) - 1)) == 0; }
  bool spread();
  Word earliest() const;

  SpinLock lock_;
  std::atomic<bool> advancing_{false};
  const unsigned number_;
  Slot slots_[kLevels * kSlots];
  Word occupied_[kLevels][kSlots / 64] = {};  // a bit for each slot that holds something
  Word current_ = 0;                          // every tick up to this one has been handled
  std::atomic<std::size_t> count_{0};
  std::atomic<Word> hint_{~Word{0}};
  Word started_ = 0;  // timers with messages
  Timer* free_ = nullptr;
  std::uint32_t made_ = 0;  // places that have ever been used
  Timer* chunks_[kChunks] = {};
};

}  // namespace vmrun
