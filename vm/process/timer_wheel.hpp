#pragma once

#include <atomic>

#include "vm/base/spin_lock.hpp"
#include "vm/process/reference.hpp"

/// Timers of one scheduler: a hierarchical wheel of 4 × 256 slots with ticks of a millisecond
/// (Varghese, Lauck: "Hashed and Hierarchical Timing Wheels", 1987). Its scheduler starts and
/// expires timers; any thread may cancel or look at one, so a lock guards it, which nearly always
/// is free.
namespace vmrun {

class TimerWheel;

struct Timer {
  Timer* next = nullptr;
  Timer* previous = nullptr;
  Word tick = 0;  // fires when the clock has reached it, ms
  TimerWheel* wheel = nullptr;
  std::uint32_t slot = 0;       // where it is linked: level * 256 + slot
  Term target;                  // local pid or registered name
  Fragment* message = nullptr;  // nullptr: receive timeout of `target`
  RefKey key;                   // of timers that programs made
  Timer* same_bucket = nullptr;
  std::atomic<bool> fired{false};  // receive timeouts: set before the process is woken
};

class TimerWheel {
 public:
  TimerWheel();
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;

  /// A timer that wakes process `target` without a message. It belongs to the process, which gives
  /// it back with cancel_receive.
  Timer* start_receive(Term target, Word now_tick, Word tick);
  /// Whether or not it has fired.
  static void cancel_receive(Timer* timer);

  /// A timer that sends `message`. Takes the fragment over.
  void start_message(Term target, Word now_tick, Word tick, RefKey key, Fragment* message);
  /// Milliseconds left, or -1 when there is no such timer (here). cancel: it will not fire.
  SWord look_up(RefKey key, Word now_tick, bool cancel);

  struct Expired {
    Term target;
    Fragment* message;  // nullptr: receive timeout
  };
  /// Moves on to now_tick; calls `fire` without the lock for each timer that is due, in order.
  template <class F>
  void advance(Word now_tick, F&& fire) {
    Expired batch[32];
    while (const unsigned n = collect_due(now_tick, batch, 32))
      for (unsigned i = 0; i < n; ++i) fire(batch[i]);
  }

  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }
  /// When to call advance next; ~0: never. May be early, never late.
  Word next_tick();

 private:
  static constexpr unsigned kLevels = 4, kBits = 8, kSlots = 1 << kBits, kBuckets = 1024;
  struct Slot {
    Timer* first = nullptr;
    Timer* last = nullptr;
  };

  unsigned collect_due(Word now_tick, Expired* batch, unsigned room);
  Timer* take();
  void catch_up(Word now_tick) {
    if (empty() && now_tick > current_) current_ = now_tick;
  }
  void insert(Timer* t);
  void unlink(Timer* t);
  void give_back(Timer* t);
  std::uint32_t slot_of(Word tick) const;
  void cascade(unsigned level);
  void forget_key(Timer* t);

  SpinLock lock_;
  Slot slots_[kLevels * kSlots];
  std::size_t level_count_[kLevels] = {};
  Word current_ = 0;  // every tick up to this one has been dealt with
  std::atomic<std::size_t> count_{0};
  Timer* free_ = nullptr;
  Timer* buckets_[kBuckets] = {};
};

}  // namespace vmrun
