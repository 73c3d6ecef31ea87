#pragma once

#include <atomic>
#include <cstdint>

#include "vm/term/term.hpp"

/// When may memory be freed that other threads look at without a lock? Quiescent-state-based
/// reclamation: every thread that follows such pointers has a slot and says now and then that it
/// holds none (schedulers: between two slices; while asleep it says so for the whole time). What is
/// unlinked gets a stamp; once every slot has moved on to that stamp, nobody can hold it.
/// (McKenney, Slingwine: "Read-Copy Update", 1998; Hart et al., "Performance of memory reclamation
/// for lockless synchronization", 2007.)
namespace vmrun {

struct alignas(64) EpochSlot {
  static constexpr Word kQuiescent = ~Word{0};
  std::atomic<Word> local{kQuiescent};  // the epoch the owner has reached
  std::atomic<bool> taken{false};
};

extern std::atomic<Word> global_epoch;

/// The calling thread's slot, taken on first use, given back when the thread ends.
EpochSlot& epoch_slot();

/// The thread starts following pointers (after sleep, or for a while).
void epoch_enter(EpochSlot& slot);
/// It holds none, until the next epoch_enter.
inline void epoch_leave(EpochSlot& slot) {
  slot.local.store(EpochSlot::kQuiescent, std::memory_order_release);
}
/// It holds none at this moment. The acquire makes later lookups see every unlinking that came
/// before the epoch it reports; the release keeps earlier accesses before the report.
inline void epoch_quiescent(EpochSlot& slot) {
  slot.local.store(global_epoch.load(std::memory_order_acquire), std::memory_order_release);
}

/// Stamp for what has just been unlinked.
inline Word epoch_stamp() { return global_epoch.fetch_add(1, std::memory_order_seq_cst) + 1; }
/// What is stamped with this or less can be freed.
Word epoch_passed();

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
