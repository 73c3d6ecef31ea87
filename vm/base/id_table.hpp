// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "vm/base/allocate.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/base/word.hpp"

/// All live things of one kind (processes, ports) by number. A lookup takes no lock: it is one load
/// and a compare. The low bits of a number are its slot. A slot is used again with another number,
/// so a stale identity finds nothing. Pointers are good until the thread's next quiescent state
/// (epoch.hpp).
///
/// Threads do not contend with each other. Each thread gives out the numbers of a range of its own
/// in sequence. It takes the next range when its range is used up, or when the new entry must get a
/// larger number than something in a later range. Each thread also counts for itself what it has
/// entered and removed. A walk over the table visits only those chunks that have been used since
/// they were last found empty. A walk in pieces marks these chunks, and threads that enter
/// something find the mark.
namespace vmrun {

/// T has a member `id` of type Id. make_id turns a number into an Id, and Id::id_number() turns it
/// back.
template <class T, class Id, Id (*make_id)(Word)>
class IdTable {
 public:
  static constexpr Word kChunk = usual_or_small<Word>(1024, 16);

  /// Called once, before anything is published. limit is rounded up to a power of two, at least
  /// 1024. Before the call the table is empty and has no room.
  void init(Word limit, Word most, const char* what) {
    Word size = 1024;
    while (size < limit && size < most) size *= 2;
    slots_ = map<std::atomic<T*>>(size, what);
    used_ = map<std::atomic<std::uint8_t>>(size / kChunk, what);
    taken_ = new T;
    mask_ = size - 1;
    limit_ = size;
    range_ = std::clamp<Word>(size / 256, kLeastRange, 256);
  }
  Word limit() const { return limit_; }
  /// The address of the places, in memory whose pages are there once they are used.
  const void* places() const { return slots_; }
  /// The address of the marks of chunks, a byte for each: 0: it is empty.
  const void* marks() const { return used_; }
  /// How many things there are. Exact when nothing changes meanwhile.
  Word count() const {
    SWord sum = 0;
    for (unsigned i = epoch_slots_used(); i--;) sum += shares_[i].count.load(std::memory_order_acquire);
    return sum < 0 ? 0 : static_cast<Word>(sum);
  }

  /// How many places a walk over the table has to visit.
  Word marked_places() const {
    Word places = 0;
    for (Word chunk = 0; chunk < chunks_used(); ++chunk)
      places += used_[chunk].load(std::memory_order_relaxed) ? kChunk : 0;
    return places;
  }

  /// Returns nullptr when there is no such thing (any more).
  T* find(Id id) const {
    // Sequentially consistent: see epoch.hpp.
    T* found = slots_[id.id_number() & mask_].load(std::memory_order_seq_cst);
    return found && found->id == id ? found : nullptr;
  }

  /// Takes a free number, to be published: a larger one than `behind`, the number of something
  /// entered before. Returns false at the limit.
  [[nodiscard]] bool reserve(Word* number, std::optional<Word> behind = {}) {
    const Word least = behind ? *behind + 1 : 0;
    Share& share = own_share();
    for (;;) {
      Word next = share.next.load(std::memory_order_relaxed);
      if (next >= share.end.load(std::memory_order_relaxed) || next < least) [[unlikely]] {
        if (!take_range(share)) return false;
        next = share.next.load(std::memory_order_relaxed);
      }
      share.next.store(next + 1, std::memory_order_relaxed);
      *number = next;
      std::atomic<T*>& slot = slots_[next & mask_];
      T* expected = nullptr;
      // Pairs with for_each, which changes a chunk's mark and then visits the chunk again. Either
      // that visit finds the place taken, or publish finds the mark changed.
      if (slot.load(std::memory_order_relaxed) ||
          !slot.compare_exchange_strong(expected, taken_, std::memory_order_seq_cst))
        continue;
      share.add(1);
      return true;
    }
  }
  /// Gives the thing its number and makes it known. Everything else about it is complete.
  void publish(T& it, Word number) {
    it.id = make_id(number);
    const Word place = number & mask_;
    if (used_[place / kChunk].load(std::memory_order_seq_cst) != kUsed) [[unlikely]]
      note_entered(place);
    slots_[place].store(&it, std::memory_order_seq_cst);
  }
  /// Lookups no longer find it from here on.
  void remove(T& it) {
    const Word number = it.id.id_number();
    if (walks_.load(std::memory_order_relaxed)) [[unlikely]]
      note(number & mask_, kFirst + number);
    // In this order: whoever finds the place empty finds the tally changed too (all_at_one_moment).
    own_share().add(-1);
    slots_[number & mask_].store(nullptr, std::memory_order_release);
  }

  /// The number that is given out next, modulo kRound: the smallest that any thread has left or
  /// would take.
  Word next_number() const {
    Word least = next_range_.load(std::memory_order_relaxed);
    for (unsigned i = epoch_slots_used(); i--;) {
      const Word next = shares_[i].next.load(std::memory_order_relaxed);
      if (next < shares_[i].end.load(std::memory_order_relaxed)) least = std::min(least, next);
    }
    for (Word n = limit_; n && slots_[least & mask_].load(std::memory_order_relaxed); --n) ++least;
    return least % kRound;
  }
  /// Numbers go on from this one, or from the equal one of the next round, so that none comes
  /// twice. Threads give up what is left of their ranges.
  void go_on_from(Word number) {
    // Before the shares are read: see take_range.
    changes_.fetch_add(1, std::memory_order_seq_cst);
    Word now = next_range_.load(std::memory_order_relaxed), then;
    do {
      then = now / kRound * kRound + number % kRound;
      if (then < now) then += kRound;
    } while (!next_range_.compare_exchange_weak(now, then, std::memory_order_relaxed));
    for (unsigned i = epoch_slots_used(); i--;) shares_[i].end.store(0, std::memory_order_seq_cst);
  }

  /// Returns the first thing at this place of the table or behind it, and sets `place` behind that.
  /// Returns nullptr when there are no more.
  T* next(Word& place) const {
    const Word used = places_used();
    while (place < used) {
      if (!used_[place / kChunk].load(std::memory_order_acquire)) {
        place = (place / kChunk + 1) * kChunk;
        continue;
      }
      T* found = slots_[place++].load(std::memory_order_acquire);
      if (found && found != taken_) return found;
    }
    return nullptr;
  }

  /// Visits everything that is in the table the whole time. The time depends on what is there, not
  /// on the limit.
  template <class F>
  void for_each(F&& visit) const {
    for (Word chunk = 0; chunk < chunks_used(); ++chunk)
      if (used_[chunk].load(std::memory_order_acquire) && !visit_chunk(chunk, visit) && !clear_mark(chunk))
        visit_chunk(chunk, visit);
  }

  /// Visits what is in the table at the moment the walk begins, in pieces, backwards. Things that
  /// enter later are not visited, and things that are removed meanwhile are. For this a thread that
  /// enters or removes something during a walk first notes what was at its place. (What is just
  /// being entered or removed at that first moment may count either way.) One thread at a time.
  class Walk {
   public:
    explicit Walk(IdTable& table)
        : table_(table), before_(map<std::atomic<Word>>(table.limit_, "a walk through a table")) {
      std::unique_lock lock(table.walk_lock_);
      while (chunks_.capacity() < table.chunks_used()) {
        lock.unlock();
        chunks_.reserve(table.chunks_used() + 16);
        lock.lock();
      }
      next_ = table.walks_.load(std::memory_order_relaxed);
      table.walks_.store(this, std::memory_order_relaxed);
      const Word chunks = std::min(chunks_.capacity(), table.chunks_used());
      for (Word chunk = 0; chunk < chunks; ++chunk)
        if (table.used_[chunk].load(std::memory_order_relaxed)) {
          table.used_[chunk].store(kWatched, std::memory_order_relaxed);
          chunks_.push_back(static_cast<std::uint32_t>(chunk));
        }
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    ~Walk() {
      table_.forget(this);
      for (const std::uint32_t chunk : empty_) table_.clear_mark(chunk);
      munmap(before_, table_.limit_ * sizeof(*before_));
    }
    Walk(const Walk&) = delete;

    /// Calls visit(id) for what was at the next places. `steps` says how many: a place takes one
    /// step, and a thing that is found there kStepsOfOne. Returns false when that was all.
    template <class F>
    bool go_on(SWord steps, F&& visit) {
      const EpochGuard guard;
      for (; steps > 0; --steps) {
        if (left_ == 0) {
          if (chunks_.empty()) return false;
          first_ = chunks_.back() * kChunk;
          chunks_.pop_back();
          left_ = kChunk;
          found_ = 0;
        }
        const Word place = first_ + --left_;
        // In this order: a thread that changes the slot has noted it before.
        const T* found = table_.slots_[place].load(std::memory_order_seq_cst);
        const Word before = before_[place].load(std::memory_order_seq_cst);
        if (found || before) ++found_;
        else if (left_ == 0 && found_ == 0 && empty_.size() < kClearedAtOnce)
          empty_.push_back(static_cast<std::uint32_t>(first_ / kChunk));
        if (before == kNobody || (!before && (!found || found == table_.taken_))) continue;
        visit(before ? make_id(before - kFirst) : found->id);
        steps -= kStepsOfOne;
      }
      return true;
    }
    static constexpr SWord kStepsOfOne = 32;

   private:
    friend IdTable;
    IdTable& table_;
    Walk* next_;
    std::atomic<Word>* const before_;    // by place, once it has changed: kNobody, or kFirst + number
    std::vector<std::uint32_t> chunks_;  // chunks still to be visited
    Word first_ = 0, left_ = 0;          // places of the current chunk
    Word found_ = 0;                     // things found in it
    // Chunks that seem to be empty now.
    static constexpr std::size_t kClearedAtOnce = 256;
    std::vector<std::uint32_t> empty_;
  };

  /// Returns the identities of all that is there at one moment, in the order of their places.
  std::vector<Id> all_at_one_moment() {
    const EpochGuard guard;
    std::vector<Id> ids;
    const Tally before = tally();
    for_each([&](const T& it) { ids.push_back(it.id); });
    if (tally() == before) return ids;
    ids.clear();
    Walk(*this).go_on(std::numeric_limits<SWord>::max(), [&](Id id) { ids.push_back(id); });
    std::reverse(ids.begin(), ids.end());
    return ids;
  }

  static constexpr Word kRound = Word{1} << 28;

 protected:
  /// The system provides pages when they are touched, so a large limit costs nothing.
  template <class U>
  static U* map(Word count, const char* what) {
    void* memory = mmap(nullptr, count * sizeof(U), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) out_of_memory(what, count * sizeof(U));
    return static_cast<U*>(memory);
  }

 private:
  static constexpr Word kLeastRange = 4;
  // Marks of chunks, and what a walk is told about a place. kLooking: the chunk seemed empty and is
  // visited again. Only the holder of the walk lock changes the marks kUsed and kWatched.
  static constexpr std::uint8_t kEmpty = 0, kUsed = 1, kWatched = 2, kLooking = 3;
  static constexpr Word kNobody = 1, kFirst = 2;

  /// What one thread gives out and counts. Only this thread writes it, except that others may set
  /// `end` to 0.
  struct alignas(64) Share {
    std::atomic<Word> next{0}, end{0};  // the rest of its range...
    Word size = 0;                      // ...and how long that was
    std::atomic<SWord> count{0};
    void add(SWord n) { count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_release); }
  };
  Share& own_share() { return shares_[epoch_slot_number()]; }

  /// Changes with whatever is entered or removed. When two tallies are equal, a visit of the table
  /// between them has seen what was there at one moment.
  struct Tally {
    Word given_out = 0;
    SWord count = 0;
    bool operator==(const Tally&) const = default;
  };
  Tally tally() const {
    Tally sum;
    for (unsigned i = epoch_slots_used(); i--;) {
      sum.given_out += shares_[i].next.load(std::memory_order_acquire);
      sum.count += shares_[i].count.load(std::memory_order_acquire);
    }
    return sum;
  }

  /// A thread that has used up its range gets one of twice the length; a thread that leaves some of
  /// its range gets a short one. This is rare enough to read all shares. Only here does a full
  /// table end the search.
  bool take_range(Share& share) {
    if (count() >= limit_) return false;
    const Word length = share.next.load(std::memory_order_relaxed) == share.end ? 2 * share.size : 0;
    share.size = std::clamp(length, kLeastRange, range_);
    // Pairs with go_on_from: either that takes this range away again, or this sees that it was
    // called.
    for (Word changes = changes_.load(std::memory_order_seq_cst), seen;; changes = seen) {
      const Word next = next_range_.fetch_add(share.size, std::memory_order_relaxed) & ((Word{1} << 56) - 1);
      share.next.store(next, std::memory_order_relaxed);
      share.end.store(next + share.size, std::memory_order_seq_cst);
      seen = changes_.load(std::memory_order_seq_cst);
      if (seen == changes) return true;
    }
  }

  Word places_used() const { return std::min(limit_, next_range_.load(std::memory_order_acquire)); }
  Word chunks_used() const { return (places_used() + kChunk - 1) / kChunk; }

  /// Called when something is about to be entered in a chunk whose mark is not kUsed.
  [[gnu::cold, gnu::noinline]] void note_entered(Word place) {
    std::atomic<std::uint8_t>& mark = used_[place / kChunk];
    std::uint8_t was = mark.load(std::memory_order_seq_cst);
    while (was == kEmpty || was == kLooking)
      if (mark.compare_exchange_weak(was, kUsed, std::memory_order_seq_cst)) return;
    if (was == kWatched) note(place, kNobody);
  }
  /// Notes for all walks what was at the place before it changes. Only the first change counts.
  [[gnu::cold, gnu::noinline]] void note(Word place, Word before) {
    std::lock_guard guard(walk_lock_);
    for (Walk* w = walks_.load(std::memory_order_relaxed); w; w = w->next_) {
      Word expected = 0;
      w->before_[place].compare_exchange_strong(expected, before, std::memory_order_seq_cst);
    }
  }
  void forget(Walk* walk) {
    std::lock_guard guard(walk_lock_);
    Walk* first = walks_.load(std::memory_order_relaxed);
    if (first == walk) walks_.store(first = walk->next_, std::memory_order_relaxed);
    else {
      Walk* w = first;
      while (w->next_ != walk) w = w->next_;
      w->next_ = walk->next_;
    }
    if (first) return;
    for (Word chunk = 0; chunk < chunks_used(); ++chunk)
      if (used_[chunk].load(std::memory_order_relaxed) == kWatched)
        used_[chunk].store(kUsed, std::memory_order_relaxed);
  }
  /// Clears the mark of a chunk that seems empty. Returns false when it is not empty after all.
  bool clear_mark(Word chunk) const {
    const std::unique_lock lock(walk_lock_, std::try_to_lock);
    if (!lock || used_[chunk].load(std::memory_order_relaxed) != kUsed) return true;
    used_[chunk].store(kLooking, std::memory_order_seq_cst);
    const bool any = visit_chunk(chunk, [](T&) {});
    std::uint8_t mark = kLooking;  // still, unless something is being entered
    used_[chunk].compare_exchange_strong(mark, any ? kUsed : kEmpty, std::memory_order_seq_cst);
    return !any;
  }

  /// Returns whether there was anything, published or not yet.
  template <class F>
  bool visit_chunk(Word chunk, F&& visit) const {
    bool any = false;
    for (Word i = chunk * kChunk; i < (chunk + 1) * kChunk; ++i)
      if (T* found = slots_[i].load(std::memory_order_seq_cst)) {
        any = true;
        if (found != taken_) visit(*found);
      }
    return any;
  }

  inline static std::atomic<T*> none_[1];
  std::atomic<T*>* slots_ = none_;
  std::atomic<std::uint8_t>* used_ = nullptr;  // by chunk: whether it may hold something
  T* taken_ = nullptr;                         // stands where a number is reserved; its id belongs to nothing
  Word mask_ = 0, limit_ = 0, range_ = 0;
  std::atomic<Walk*> walks_{nullptr};  // a list, guarded by the lock
  mutable SpinLock walk_lock_;
  std::atomic<Word> changes_{0};  // how often go_on_from was called
  alignas(64) std::atomic<Word> next_range_{0};
  Share shares_[kEpochSlots];
};

}  // namespace vmrun
