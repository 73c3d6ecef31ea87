#include "vm/process/timer_wheel.hpp"

#include <algorithm>
#include <mutex>

#include "vm/heap/heap.hpp"

namespace vmrun {

TimerWheel::TimerWheel() = default;

TimerWheel::~TimerWheel() {
  for (Slot& slot : slots_)
    while (Timer* t = slot.first) {
      slot.first = t->next;
      if (t->message) Fragment::destroy(t->message);
      delete t;
    }
  while (Timer* t = free_) {
    free_ = t->next;
    delete t;
  }
}

Timer* TimerWheel::take() {
  Timer* t = free_;
  if (!t) {
    t = new Timer;
    t->wheel = this;
    return t;
  }
  free_ = t->next;
  t->fired.store(false, std::memory_order_relaxed);
  return t;
}

void TimerWheel::give_back(Timer* t) {
  t->next = free_;
  free_ = t;
}

/// The lowest level whose span reaches the tick. What is further away than the whole wheel waits in
/// the last level's last slot and is placed anew when that comes round.
std::uint32_t TimerWheel::slot_of(Word tick) const {
  constexpr Word kSpan = Word{1} << (kBits * kLevels), kLastSlot = kSpan - (kSpan >> kBits);
  Word ahead = tick - current_;
  if (ahead >= kSpan) {
    ahead = kLastSlot;
    tick = current_ + kLastSlot;
  }
  unsigned level = 0;
  while (ahead >> (kBits * (level + 1))) ++level;
  return level * kSlots + (tick >> (kBits * level) & (kSlots - 1));
}

void TimerWheel::insert(Timer* t) {
  if (t->tick <= current_) t->tick = current_ + 1;
  t->slot = slot_of(t->tick);
  Slot& slot = slots_[t->slot];
  t->next = nullptr;
  t->previous = slot.last;
  (slot.last ? slot.last->next : slot.first) = t;
  slot.last = t;
  ++level_count_[t->slot / kSlots];
  count_.store(count() + 1, std::memory_order_relaxed);
}

void TimerWheel::unlink(Timer* t) {
  Slot& slot = slots_[t->slot];
  (t->previous ? t->previous->next : slot.first) = t->next;
  (t->next ? t->next->previous : slot.last) = t->previous;
  --level_count_[t->slot / kSlots];
  count_.store(count() - 1, std::memory_order_relaxed);
}

Timer* TimerWheel::start_receive(Term target, Word now_tick, Word tick) {
  std::lock_guard guard(lock_);
  catch_up(now_tick);
  Timer* t = take();
  t->target = target;
  t->tick = tick;
  t->message = nullptr;
  insert(t);
  return t;
}

void TimerWheel::cancel_receive(Timer* t) {
  TimerWheel& wheel = *t->wheel;
  std::lock_guard guard(wheel.lock_);
  if (!t->fired.load(std::memory_order_relaxed)) wheel.unlink(t);
  wheel.give_back(t);
}

void TimerWheel::start_message(Term target, Word now_tick, Word tick, RefKey key, Fragment* message) {
  std::lock_guard guard(lock_);
  catch_up(now_tick);
  Timer* t = take();
  t->target = target;
  t->tick = tick;
  t->message = message;
  t->key = key;
  Timer*& bucket = buckets_[hash_key(key) % kBuckets];
  t->same_bucket = bucket;
  bucket = t;
  insert(t);
}

void TimerWheel::forget_key(Timer* t) {
  Timer** link = &buckets_[hash_key(t->key) % kBuckets];
  while (*link != t) link = &(*link)->same_bucket;
  *link = t->same_bucket;
}

SWord TimerWheel::look_up(RefKey key, Word now_tick, bool cancel) {
  Fragment* dropped = nullptr;
  SWord left = -1;
  {
    std::lock_guard guard(lock_);
    Timer* t = buckets_[hash_key(key) % kBuckets];
    while (t && !(t->key == key)) t = t->same_bucket;
    if (!t) return -1;
    left = t->tick > now_tick ? static_cast<SWord>(t->tick - now_tick) : 0;
    if (cancel) {
      forget_key(t);
      unlink(t);
      dropped = t->message;
      give_back(t);
    }
  }
  if (dropped) Fragment::destroy(dropped);
  return left;
}

/// Spreads the slot of `level` that begins at the current tick over the levels below.
void TimerWheel::cascade(unsigned level) {
  Slot& slot = slots_[level * kSlots + (current_ >> (kBits * level) & (kSlots - 1))];
  Timer* t = slot.first;
  slot = {};
  while (t) {
    Timer* next = t->next;
    --level_count_[level];
    count_.store(count() - 1, std::memory_order_relaxed);
    // What is due at this very tick must still find its slot ahead: it goes to the slot of the
    // current tick, which is emptied next.
    if (t->tick <= current_) {
      t->slot = current_ & (kSlots - 1);
      Slot& due = slots_[t->slot];
      t->next = nullptr;
      t->previous = due.last;
      (due.last ? due.last->next : due.first) = t;
      due.last = t;
      ++level_count_[0];
      count_.store(count() + 1, std::memory_order_relaxed);
    } else {
      insert(t);
    }
    t = next;
  }
}

unsigned TimerWheel::collect_due(Word now_tick, Expired* batch, unsigned room) {
  std::lock_guard guard(lock_);
  unsigned n = 0;
  for (;;) {
    // The slot of the current tick may hold what the last batch had no room for.
    Slot& due = slots_[current_ & (kSlots - 1)];
    while (due.first && due.first->tick <= current_) {
      if (n == room) return n;
      Timer* t = due.first;
      unlink(t);
      batch[n++] = {t->target, t->message};
      if (t->message) {
        forget_key(t);
        give_back(t);
      } else {
        // From here the timer belongs to its process. Release: who sees `fired` sees it unlinked.
        t->fired.store(true, std::memory_order_release);
      }
    }
    if (current_ >= now_tick) return n;
    if (empty()) {
      current_ = now_tick;
      return n;
    }
    // Nothing at the lowest level: on to where the next level's slot begins.
    if (level_count_[0] == 0) current_ = std::min(now_tick, current_ | (kSlots - 1));
    if (current_ == now_tick) continue;
    ++current_;
    for (unsigned level = 1; level < kLevels; ++level) {
      if (current_ & ((Word{1} << (kBits * level)) - 1)) break;
      cascade(level);
    }
  }
}

Word TimerWheel::next_tick() {
  std::lock_guard guard(lock_);
  Word least = ~Word{0};
  for (unsigned level = 0; level < kLevels; ++level) {
    if (level_count_[level] == 0) continue;
    const Word here = current_ >> (kBits * level);
    for (unsigned ahead = level == 0 ? 0 : 1; ahead <= kSlots; ++ahead)
      if (slots_[level * kSlots + ((here + ahead) & (kSlots - 1))].first) {
        least = std::min(least, (here + ahead) << (kBits * level));
        break;
      }
  }
  return least;
}

}  // namespace vmrun
