#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "vm/base/allocate.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/base/word.hpp"

/// All live things of one kind (processes, ports) by number. Lookup takes no lock: one load and a
/// compare. A number's low bits are its slot, so a slot comes round again with another number and a
/// stale identity finds nothing. Pointers are good until the thread's next quiescent state
/// (epoch.hpp).
///
/// Threads do not get into each other's way: each gives out the numbers of a range of its own, in
/// sequence, and takes the next range when it is through, or when what it enters must come behind
/// something in a later range; and each counts for itself what it has entered and removed. What
/// walks the table looks at the chunks only that were used since they were last found empty.
namespace vmrun {

/// T has a member `id` of type Id; make_id turns a number into one, Id::id_number() turns it back.
template <class T, class Id, Id (*make_id)(Word)>
class IdTable {
 public:
  /// Once, before anything is published. limit: rounded up to a power of two, at least 1024. Until
  /// then there is nothing and no room.
  void init(Word limit, Word most, const char* what) {
    Word size = 1024;
    while (size < limit && size < most) size *= 2;
    slots_ = map<std::atomic<T*>>(size, what);
    used_ = map<std::atomic<bool>>(size / kChunk, what);
    taken_ = new T;
    mask_ = size - 1;
    limit_ = size;
    range_ = std::clamp<Word>(size / 256, kLeastRange, 256);
  }
  Word limit() const { return limit_; }
  /// How many there are: exact when nothing changes meanwhile.
  Word count() const {
    SWord sum = 0;
    for (unsigned i = epoch_slots_used(); i--;) sum += shares_[i].count.load(std::memory_order_acquire);
    return sum < 0 ? 0 : static_cast<Word>(sum);
  }

  /// nullptr when there is no such thing (any more).
  T* find(Id id) const {
    // Sequentially consistent: see epoch.hpp.
    T* found = slots_[id.id_number() & mask_].load(std::memory_order_seq_cst);
    return found && found->id == id ? found : nullptr;
  }

  /// Takes a free number, to be published: a larger one than `behind`, that of something entered
  /// before. False at the limit.
  [[nodiscard]] bool reserve(Word* number, std::optional<Word> behind = {}) {
    const Word least = behind ? *behind + 1 : 0;
    Share& share = own_share();
    for (;;) {
      if (share.next == share.end || share.next < least) [[unlikely]]
        if (!take_range(share)) return false;
      *number = share.next++;
      std::atomic<T*>& slot = slots_[*number & mask_];
      T* expected = nullptr;
      if (slot.load(std::memory_order_relaxed) ||
          !slot.compare_exchange_strong(expected, taken_, std::memory_order_relaxed))
        continue;
      share.add(1);
      return true;
    }
  }
  /// Gives it the number and makes it known. Everything else about it is complete.
  void publish(T& it, Word number) {
    it.id = make_id(number);
    slots_[number & mask_].store(&it, std::memory_order_seq_cst);
    // Against for_each, which clears the mark and looks again: either that finds it, or this finds
    // the mark cleared.
    std::atomic<bool>& used = used_[(number & mask_) / kChunk];
    if (!used.load(std::memory_order_seq_cst)) used.store(true, std::memory_order_release);
  }
  /// Not found from here on.
  void remove(T& it) {
    slots_[it.id.id_number() & mask_].store(nullptr, std::memory_order_release);
    own_share().add(-1);
  }

  /// The first at this place of the table or behind it; the place behind that. nullptr: no more.
  /// Looks at every place that was ever used: nothing that is there all the time is missed, as it
  /// might be while for_each clears a mark.
  T* next(Word& place) const {
    const Word used = std::min(limit_, next_range_.load(std::memory_order_acquire));
    while (place < used) {
      T* found = slots_[place++].load(std::memory_order_acquire);
      if (found && found != taken_) return found;
    }
    return nullptr;
  }

  /// Takes time for what there is, not for what there could be.
  template <class F>
  void for_each(F&& visit) const {
    const Word numbers = std::min(limit_, next_range_.load(std::memory_order_relaxed));
    for (Word chunk = 0; chunk * kChunk < numbers; ++chunk) {
      if (!used_[chunk].load(std::memory_order_acquire) || visit_chunk(chunk, visit)) continue;
      used_[chunk].store(false, std::memory_order_seq_cst);
      if (visit_chunk(chunk, visit)) used_[chunk].store(true, std::memory_order_release);
    }
  }

 private:
  static constexpr Word kChunk = usual_or_small<Word>(1024, 16), kLeastRange = 4;

  /// What one thread gives out and counts; written by it alone.
  struct alignas(64) Share {
    Word next = 0, end = 0, size = 0;  // the rest of its range; how long that was
    std::atomic<SWord> count{0};
    void add(SWord n) { count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_release); }
  };
  Share& own_share() { return shares_[epoch_slot_number()]; }

  /// Who is through with a range gets one of twice the length; who leaves some of it, a short one.
  /// Rare enough for a look at all shares: here a full table ends the search.
  bool take_range(Share& share) {
    if (count() >= limit_) return false;
    const Word length = share.next == share.end ? 2 * share.size : 0;
    share.size = std::clamp(length, kLeastRange, range_);
    share.next = next_range_.fetch_add(share.size, std::memory_order_relaxed) & ((Word{1} << 56) - 1);
    share.end = share.next + share.size;
    return true;
  }

  /// Pages come into being when touched, so a large limit costs nothing.
  template <class U>
  static U* map(Word count, const char* what) {
    void* memory = mmap(nullptr, count * sizeof(U), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) out_of_memory(what, count * sizeof(U));
    return static_cast<U*>(memory);
  }

  /// Whether there was anything, published or not yet.
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
  std::atomic<bool>* used_ = nullptr;  // by chunk: may hold something
  T* taken_ = nullptr;                 // stands where a number is reserved; its id is nobody's
  Word mask_ = 0, limit_ = 0, range_ = 0;
  alignas(64) std::atomic<Word> next_range_{0};
  Share shares_[kEpochSlots];
};

}  // namespace vmrun
