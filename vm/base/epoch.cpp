// SPDX-License-Identifier: Apache-2.0
#include "vm/base/epoch.hpp"

#include <cstdio>
#include <cstdlib>

namespace vmrun {
namespace {

EpochSlot slots[kEpochSlots];
std::atomic<std::size_t> slots_used{0};

struct ThreadSlot {
  EpochSlot* slot = nullptr;
  ~ThreadSlot() {
    if (!slot) return;
    epoch_leave(*slot);
    slot->taken.store(false, std::memory_order_release);
  }
};
thread_local ThreadSlot thread_slot;

EpochSlot* take_slot() {
  for (std::size_t i = 0; i < kEpochSlots; ++i) {
    if (slots[i].taken.exchange(true, std::memory_order_acq_rel)) continue;
    std::size_t used = slots_used.load();
    while (used < i + 1 && !slots_used.compare_exchange_weak(used, i + 1)) {}
    return &slots[i];
  }
  std::fputs("vmrun: more threads than the machine allows for\n", stderr);
  std::abort();
}

}  // namespace

Epoch global_epoch;

EpochSlot& epoch_slot() {
  if (!thread_slot.slot) thread_slot.slot = take_slot();
  return *thread_slot.slot;
}

unsigned epoch_slot_number() { return static_cast<unsigned>(&epoch_slot() - slots); }

unsigned epoch_slots_used() { return static_cast<unsigned>(slots_used.load(std::memory_order_acquire)); }

Word epoch_passed(Word wanted) {
  return global_epoch.passed(slots, slots_used.load(std::memory_order_acquire), wanted);
}

Word epoch_passed_by_code(Word wanted) {
  return global_epoch.passed_by_code(slots, slots_used.load(std::memory_order_acquire), wanted);
}

EpochGuard::EpochGuard()
    : slot_(epoch_slot()), outermost_(slot_.local.load(std::memory_order_relaxed) == EpochSlot::kQuiescent) {
  if (outermost_) epoch_enter(slot_);
}

EpochGuard::~EpochGuard() {
  if (outermost_) epoch_leave(slot_);
}

}  // namespace vmrun
