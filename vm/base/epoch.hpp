#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vm/base/sync.hpp"
#include "vm/base/word.hpp"

/// When may memory be freed that other threads look at without a lock? Quiescent-state-based
/// reclamation: every thread that follows such pointers has a slot and says now and then that it
/// holds none (schedulers: between two slices; while asleep it says so for the whole time). What is
/// unlinked gets a stamp, the next epoch; that begins when every slot has reached the one before
/// and somebody waits for it. Once every slot has moved on to the stamp, nobody can hold it. So the
/// one line that all share is written as often as the slowest thread comes round, at most.
/// (McKenney, Slingwine: "Read-Copy Update", 1998; Hart et al., "Performance of memory reclamation
/// for lockless synchronization", 2007.)
namespace vmrun {

/// The algorithm; the functions below are what the machine uses.
template <class Sync>
struct BasicEpoch {
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

  struct alignas(64) Slot {
    static constexpr Word kQuiescent = ~Word{0};
    Atomic<Word> local{kQuiescent};  // the epoch the owner has reached
    Atomic<Word> code{kQuiescent};   // where it was when it entered code that it is in the middle of
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
    // Before the report: who sees that sees this too.
    if (slot.code.load(std::memory_order_relaxed) == Slot::kQuiescent)
      slot.code.store(slot.local.load(std::memory_order_relaxed), std::memory_order_release);
    quiescent(slot);
  }
  void let_go_of_code(Slot& slot) {
    if (slot.code.load(std::memory_order_relaxed) != Slot::kQuiescent)
      slot.code.store(Slot::kQuiescent, std::memory_order_release);
  }
  Word stamp() {
    // The unlinking comes before this look, and so before the epoch that follows the one it sees.
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
    // Somebody else may have been faster.
    if (least == now && now < wanted)
      (void)global.compare_exchange_strong(now, now + 1, std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
    return least;
  }
  /// The same for code that threads run, which quiescent_but_for_code lets them keep.
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

/// The calling thread's slot, taken on first use, given back when the thread ends.
EpochSlot& epoch_slot();

/// At most as many threads; the calling thread's slot is this one of them. No two living threads
/// have the same number.
inline constexpr std::size_t kEpochSlots = 8192;  // half for the machine's (boot.cpp), half for native code's
unsigned epoch_slot_number();
/// All numbers that were ever given are below.
unsigned epoch_slots_used();

/// The thread starts following pointers (after sleep, or for a while).
inline void epoch_enter(EpochSlot& slot) { global_epoch.enter(slot); }
/// It holds none, until the next epoch_enter.
inline void epoch_leave(EpochSlot& slot) {
  global_epoch.let_go_of_code(slot);
  global_epoch.leave(slot);
}
/// It holds none at this moment.
inline void epoch_quiescent(EpochSlot& slot) {
  global_epoch.let_go_of_code(slot);
  global_epoch.quiescent(slot);
}
/// The same in the middle of a slice: a built-in function returns to machine code that may have
/// been made for its caller (vm/hot).
inline void epoch_quiescent_in_slice(EpochSlot& slot) { global_epoch.quiescent_but_for_code(slot); }

/// Stamp for what has just been unlinked.
inline Word epoch_stamp() { return global_epoch.stamp(); }
/// What is stamped with this or less can be freed. wanted: the stamp that the caller waits for; it
/// is reached only if who waits asks again and again.
Word epoch_passed(Word wanted);
/// The same for machine code made for functions.
Word epoch_passed_by_code(Word wanted);

/// For threads that are not schedulers: process pointers are good while it lives. Nests.
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
