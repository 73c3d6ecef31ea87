// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vm/base/sync.hpp"
#include "vm/base/word.hpp"

/// When may memory be freed that other threads read without a lock? Quiescent-state-based
/// reclamation: every thread that follows such pointers has a slot, and reports now and then that
/// it holds none of them (a scheduler between two slices; a sleeping thread for the whole time).
/// What is unlinked gets a stamp, which is the next epoch. That epoch begins when every slot has
/// reached the one before and a thread waits for it. Once every slot has moved on to the stamp, no
/// thread can hold the pointer. So the one cache line that all threads share is written at most as
/// often as the slowest thread reports. (McKenney, Slingwine: "Read-Copy Update", 1998; Hart et
/// al., "Performance of memory reclamation for lockless synchronization", 2007.)
namespace vmrun {

/// The algorithm; the machine uses the functions below.
template <class Sync>
struct BasicEpoch {
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

  struct alignas(64) Slot {
    static constexpr Word kQuiescent = ~Word{0};
    Atomic<Word> local{kQuiescent};  // the epoch the owner has reached
    Atomic<Word> code{kQuiescent};   // its epoch when it entered the code that it is in
    Atomic<bool> taken{false};
  };

  alignas(64) Atomic<Word> global{1};

  void enter(Slot& slot) {
    // Sequentially consistent against passed(): either that sees this slot, or the lookups that
    // follow see what was unlinked before it looked.
    slot.local.store(global.load(std::memory_order_acquire), std::memory_order_seq_cst);
    Sync::fence();
  }
  void leave(Slot& slot) { slot.local.store(Slot::kQuiescent, std::memory_order_release); }
  void quiescent(Slot& slot) {
    // Sequentially consistent with the lookups that follow: they see every unlinking whose stamp is
    // the epoch it reports. The release keeps earlier accesses before the report.
    slot.local.store(global.load(std::memory_order_seq_cst), std::memory_order_release);
  }
  /// The owner holds nothing but the code that it runs, until let_go_of_code.
  void quiescent_but_for_code(Slot& slot) {
    // Before the report: a thread that sees the report sees this store too.
    if (slot.code.load(std::memory_order_relaxed) == Slot::kQuiescent)
      slot.code.store(slot.local.load(std::memory_order_relaxed), std::memory_order_release);
    quiescent(slot);
  }
  void let_go_of_code(Slot& slot) {
    if (slot.code.load(std::memory_order_relaxed) != Slot::kQuiescent)
      slot.code.store(Slot::kQuiescent, std::memory_order_release);
  }
  Word stamp() {
    // The unlinking comes before this load, and so before the epoch that follows the one it reads.
    Sync::fence();
    return global.load(std::memory_order_seq_cst) + 1;
  }
  Word passed(const Slot* slots, std::size_t count, Word wanted) {
    Sync::fence();
    Word now = global.load(std::memory_order_seq_cst), least = now;
    for (std::size_t i = 0; i < count; ++i) {
      const Word local = slots[i].local.load(std::memory_order_seq_cst);
      if (local < least) least = local;
    }
    // Another thread may have advanced the epoch already.
    if (least == now && now < wanted)
      (void)global.compare_exchange_strong(now, now + 1, std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
    return least;
  }
  /// As passed, for code that threads run and that quiescent_but_for_code lets them keep.
  Word passed_by_code(const Slot* slots, std::size_t count, Word wanted) {
    Word least = passed(slots, count, wanted);
    for (std::size_t i = 0; i < count; ++i) {
      const Word code = slots[i].code.load(std::memory_order_acquire);
      if (code < least) least = code;
    }
    return least;
  }
};

using Epoch = BasicEpoch<ThreadSync>;
using EpochSlot = Epoch::Slot;
extern Epoch global_epoch;

/// The calling thread's slot. It is taken on first use and given back when the thread ends.
EpochSlot& epoch_slot();

/// The most threads that can have a slot, and the number of the calling thread's slot. No two
/// living threads have the same number.
inline constexpr std::size_t kEpochSlots = 8192;  // half for the machine's (boot.cpp), half for native code's
unsigned epoch_slot_number();
/// All numbers that were ever given out are below this one.
unsigned epoch_slots_used();

/// The thread begins to follow pointers (after sleep, or for a while).
inline void epoch_enter(EpochSlot& slot) { global_epoch.enter(slot); }
/// The thread holds no pointers until its next epoch_enter.
inline void epoch_leave(EpochSlot& slot) {
  global_epoch.let_go_of_code(slot);
  global_epoch.leave(slot);
}
/// The thread holds no pointers at this moment.
inline void epoch_quiescent(EpochSlot& slot) {
  global_epoch.let_go_of_code(slot);
  global_epoch.quiescent(slot);
}
/// As above, in the middle of a slice: a built-in function returns to machine code that may have
/// been made for its caller (vm/hot), so the thread keeps the code that it runs.
inline void epoch_quiescent_in_slice(EpochSlot& slot) { global_epoch.quiescent_but_for_code(slot); }

/// Returns the stamp for what has just been unlinked.
inline Word epoch_stamp() { return global_epoch.stamp(); }
/// What has this stamp or a smaller one can be freed. wanted: the stamp that the caller waits for.
/// It is reached only if the caller asks again and again.
Word epoch_passed(Word wanted);
/// As above, for machine code made for functions.
Word epoch_passed_by_code(Word wanted);

/// For threads that are not schedulers: pointers to processes stay valid while it lives. Guards may
/// nest.
class EpochGuard {
 public:
  EpochGuard();
  ~EpochGuard();
  EpochGuard(const EpochGuard&) = delete;

 private:
  EpochSlot& slot_;
  bool outermost_;
};

}  // namespace vmrun
