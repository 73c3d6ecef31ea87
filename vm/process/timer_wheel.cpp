// SPDX-License-Identifier: Apache-2.0
#include "vm/process/timer_wheel.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include "vm/base/allocate.hpp"
#include "vm/heap/heap.hpp"
#include "vm/process/process_table.hpp"

namespace vmrun {
namespace {

/// Returns the first of 256 bits that is set, at or after `from`; 256 when there is none.
unsigned next_bit(const Word* bits, unsigned from) {
  for (unsigned word = from / 64; word < 4; ++word) {
    const Word here = word == from / 64 ? bits[word] >> (from % 64) << (from % 64) : bits[word];
    if (here) return word * 64 + static_cast<unsigned>(std::countr_zero(here));
  }
  return 256;
}

/// Returns how many slots after `from` the next set bit comes, where the beginning follows the end:
/// 1 to 256; 0 when no bit is set.
unsigned distance_to_bit(const Word* bits, unsigned from) {
  unsigned found = next_bit(bits, from + 1);
  if (found == 256) found = 256 + next_bit(bits, 0);
  return found == 512 ? 0 : found - from;
}

}  // namespace

// ---- Memory -------------------------------------------------------------------------------------

TimerWheel::~TimerWheel() {
  for (Slot& slot : slots_)
    for (Timer* t = slot.first; t; t = t->next)
      if (t->message) Fragment::destroy(t->message);
  for (Timer* chunk : chunks_) free_bytes(chunk);
}

/// Returns the entry of an index in its chunk's table; *offset is the place in the chunk.
Timer*& TimerWheel::place_of(std::uint32_t index, std::uint32_t* offset) {
  const std::uint32_t n = index + (1u << kFirstChunkBits);
  const auto top = static_cast<unsigned>(std::bit_width(n)) - 1;
  *offset = n - (1u << top);
  return chunks_[top - kFirstChunkBits];
}

Timer* TimerWheel::take() {
  Timer* t = free_;
  if (t) {
    free_ = t->next;
    t->fired.store(false, std::memory_order_relaxed);
    return t;
  }
  std::uint32_t offset;
  const std::uint32_t index = made_;
  if (index + (1u << kFirstChunkBits) == 1u << kIndexBits) out_of_memory("timers", sizeof(Timer));
  Timer*& chunk = place_of(index, &offset);
  if (!chunk)
    chunk = static_cast<Timer*>(
        allocate_bytes(sizeof(Timer) * (index + (std::size_t{1} << kFirstChunkBits)), "timers"));
  ++made_;
  t = new (&chunk[offset]) Timer;
  t->wheel = this;
  t->index = index;
  return t;
}

void TimerWheel::give_back(Timer* t) {
  t->number = 0;
  t->next = free_;
  free_ = t;
}

// ---- References ---------------------------------------------------------------------------------

// The numbers of a timer's reference. The third holds the mark of timers, the upper bits of the
// timer's number, and the wheel's number. The second holds four more bits of the timer's number,
// and its place. The first holds the lowest bits. A number comes again after 2^43 timers.
constexpr unsigned kLowNumberBits = kFirstNumberBits + 4;

RefKey TimerWheel::key_of(const Timer& t) const {
  constexpr auto kMark = static_cast<std::uint32_t>(RefSpace::kTimers);
  constexpr Word kHighMask = kMark - 1;
  const auto second = static_cast<std::uint32_t>(t.number >> kFirstNumberBits << kIndexBits) | t.index;
  return {
      Word{second} << 32 | (t.number & kFirstNumberMask),
      kMark | static_cast<std::uint32_t>((t.number >> kLowNumberBits << kNumberBits | number_) & kHighMask)};
}

int TimerWheel::number_of(RefKey key) {
  const auto space = static_cast<RefSpace>(key.high);
  return space >= RefSpace::kTimers && space <= RefSpace::kLastTimer
             ? static_cast<int>(key.high & (kMostWheels - 1))
             : -1;
}

/// Returns nullptr when the timer has fired, or was never here.
Timer* TimerWheel::find(RefKey key) {
  const auto index = static_cast<std::uint32_t>(key.low >> 32) & ((1u << kIndexBits) - 1);
  if (index >= made_) return nullptr;
  std::uint32_t offset;
  Timer* t = place_of(index, &offset) + offset;
  return t->number && key_of(*t) == key ? t : nullptr;
}

void TimerWheel::for_each_message(const std::function<void(Term target, const Fragment& message)>& visit) {
  std::lock_guard lock(lock_);
  for (std::uint32_t index = 0; index < made_; ++index) {
    std::uint32_t offset;
    const Timer* t = place_of(index, &offset) + offset;
    if (t->number && t->message) visit(t->target, *t->message);
  }
}

// ---- Slots --------------------------------------------------------------------------------------

/// Returns a slot of the lowest level whose span reaches the tick. A timer beyond the whole wheel
/// waits in the last slot of the last level, and is placed anew when that slot comes round.
std::uint32_t TimerWheel::slot_of(Word tick) const {
  constexpr Word kSpan = Word{1} << (kBits * kLevels), kLastSlot = kSpan - (kSpan >> kBits);
  if (tick <= current_) return current_ & (kSlots - 1);
  Word ahead = tick - current_;
  if (ahead >= kSpan) {
    ahead = kLastSlot;
    tick = current_ + kLastSlot;
  }
  unsigned level = 0;
  while (ahead >> (kBits * (level + 1))) ++level;
  return level * kSlots + (tick >> (kBits * level) & (kSlots - 1));
}

void TimerWheel::link(Timer* t, std::uint32_t number) {
  Slot& slot = slots_[number];
  t->slot = number;
  t->next = nullptr;
  t->previous = slot.last;
  (slot.last ? slot.last->next : slot.first) = t;
  slot.last = t;
  occupied_[number / kSlots][number % kSlots / 64] |= Word{1} << (number % 64);
}

void TimerWheel::unlink(Timer* t) {
  const std::uint32_t number = t->slot;
  Slot& slot = slots_[number];
  (t->previous ? t->previous->next : slot.first) = t->next;
  (t->next ? t->next->previous : slot.last) = t->previous;
  if (!slot.first) occupied_[number / kSlots][number % kSlots / 64] &= ~(Word{1} << (number % 64));
}

// ---- Starting, cancelling, reading --------------------------------------------------------------

Timer* TimerWheel::begin(Term target, Word now_tick, Word tick) {
  if (empty() && now_tick > current_) current_ = now_tick;
  Timer* t = take();
  t->target = target;
  t->tick = std::max(tick, current_ + 1);
  link(t, slot_of(t->tick));
  count_.store(count() + 1, std::memory_order_relaxed);
  if (t->tick < hint_.load(std::memory_order_relaxed)) hint_.store(t->tick, std::memory_order_relaxed);
  return t;
}

Timer* TimerWheel::start_receive(Term target, Word now_tick, Word tick) {
  std::lock_guard guard(lock_);
  Timer* t = begin(target, now_tick, tick);
  t->message = nullptr;
  return t;
}

void TimerWheel::cancel_receive(Timer* t) {
  TimerWheel& wheel = *t->wheel;
  std::lock_guard guard(wheel.lock_);
  if (!t->fired.load(std::memory_order_relaxed)) {
    wheel.unlink(t);
    wheel.count_.store(wheel.count() - 1, std::memory_order_relaxed);
  }
  wheel.give_back(t);
}

RefKey TimerWheel::start_message(Term target, Word now_tick, Word tick, Fragment* message, Term* place) {
  std::lock_guard guard(lock_);
  Timer* t = begin(target, now_tick, tick);
  t->message = message;
  t->number = ++started_;
  const RefKey key = key_of(*t);
  if (place) make_ref(place, key);
  return key;
}

SWord TimerWheel::look_up(RefKey key, Word now_tick, bool cancel, Term asker) {
  Fragment* dropped;
  SWord left;
  {
    std::lock_guard guard(lock_);
    Timer* t = find(key);
    if (!t) return -1;
    left = t->tick > now_tick ? static_cast<SWord>(t->tick - now_tick) : 0;
    if (t->target != asker && t->target.is_local_pid() && !process_table.find(t->target)) left = -1;
    else if (!cancel) return left;
    unlink(t);
    count_.store(count() - 1, std::memory_order_relaxed);
    dropped = t->message;
    give_back(t);
  }
  Fragment::destroy(dropped);
  return left;
}

// ---- Advancing ----------------------------------------------------------------------------------

/// When the current tick reaches the beginning of a slot of a higher level, its timers are spread
/// over the levels below before the tick advances. Nothing is added to the slot meanwhile, because
/// a timer that is a full turn ahead of its beginning belongs to the next level. Returns false when
/// there is more to do, after other threads have had the lock.
bool TimerWheel::spread() {
  unsigned n = 0;
  for (unsigned level = 1; level < kLevels && is_at_slot_begin(level); ++level) {
    const Slot& slot = slots_[level * kSlots + slot_at(level)];
    while (Timer* t = slot.first) {
      if (n++ == kSpreadAtOnce) return false;
      unlink(t);
      link(t, slot_of(t->tick));
    }
  }
  return true;
}

/// Advances to the next tick at which there is something to do, at most to now_tick. Returns false
/// when now_tick is reached.
bool TimerWheel::step(Word now_tick) {
  if (current_ >= now_tick) return false;
  unsigned level = 0;
  while (level < kLevels && next_bit(occupied_[level], 0) == kSlots) ++level;
  if (level == kLevels) {
    current_ = now_tick;
    return false;
  }
  // Timers in slots before the present slot of this level are due after the next slot of the higher
  // level has begun, so the tick stops there too.
  const unsigned slot = slot_at(level);
  const Word turn = (current_ >> (kBits * level)) - slot;
  current_ = std::min((turn + next_bit(occupied_[level], slot + 1)) << (kBits * level), now_tick);
  return true;
}

/// Fills the batch. *more: more timers may be due.
unsigned TimerWheel::collect_due(Word now_tick, Expired* batch, bool* more) {
  std::lock_guard guard(lock_);
  unsigned n = 0;
  *more = true;
  do {
    if (!spread()) return n;
    // The slot of the current tick may hold timers for which the last batch had no room.
    Slot& due = slots_[current_ & (kSlots - 1)];
    while (due.first && due.first->tick <= current_) {
      if (n == kBatch) return n;
      Timer* t = due.first;
      unlink(t);
      count_.store(count() - 1, std::memory_order_relaxed);
      batch[n++] = {t->target, t->message};
      // A timer without a message belongs to its target from here on. Release: a thread that sees
      // `fired` sees it unlinked.
      if (t->message) give_back(t);
      else t->fired.store(true, std::memory_order_release);
    }
  } while (step(now_tick));
  *more = false;
  hint_.store(earliest(), std::memory_order_relaxed);
  return n;
}

Word TimerWheel::earliest() const {
  Word least = ~Word{0};
  for (unsigned level = 0; level < kLevels; ++level) {
    const unsigned slot = slot_at(level);
    if (is_at_slot_begin(level) && slots_[level * kSlots + slot].first) return current_;
    if (const unsigned ahead = distance_to_bit(occupied_[level], slot))
      least = std::min(least, ((current_ >> (kBits * level)) + ahead) << (kBits * level));
  }
  return least;
}

Word TimerWheel::next_tick() {
  std::lock_guard guard(lock_);
  const Word tick = earliest();
  hint_.store(tick, std::memory_order_relaxed);
  return tick;
}

}  // namespace vmrun
