// SPDX-License-Identifier: Apache-2.0
#include "vm/process/dirty_state.hpp"

#include <utility>

namespace vmrun {

void enter_dirty(Process& p, DirtyState state, void (*make_runnable)(Process& p)) {
  extra_of(p);
  p.dirty_state.store(state, std::memory_order_relaxed);
  p.wait_kind = WaitKind::kDirty;
  if (!p.mailbox.park()) make_runnable(p);  // park publishes the stores above
}

namespace {

/// The calling thread is the only owner of p again.
void become_only_owner(Process& p) {
  p.dirty_state.store(DirtyState::kNone, std::memory_order_relaxed);
  p.wait_kind = WaitKind::kNone;
  let_join(p);
}

}  // namespace

bool leave_dirty(Process& p) {
  // Either this thread sees what a scheduler has done with p, or the scheduler sees kWantsBack.
  DirtyState state = p.dirty_state.exchange(DirtyState::kWantsBack, std::memory_order_acq_rel);
  // A parked process belongs to no scheduler. Otherwise the scheduler that owns it, or will own it,
  // reads the mailbox once more before it parks the process, and passes one of the functions above
  // that hand it back.
  if ((state == DirtyState::kRunning || state == DirtyState::kQueued) && !p.mailbox.notify())
    while ((state = p.dirty_state.load(std::memory_order_acquire)) == DirtyState::kWantsBack)
      p.dirty_state.wait(DirtyState::kWantsBack, std::memory_order_acquire);
  become_only_owner(p);
  return state != DirtyState::kExited;
}

void hand_back(Process& p) {
  p.dirty_state.store(DirtyState::kHandedBack, std::memory_order_release);
  p.dirty_state.notify_one();
}

bool hand_back_if_wanted(Process& p) {
  if (p.dirty_state.load(std::memory_order_acquire) != DirtyState::kWantsBack) return false;
  hand_back(p);
  return true;
}

bool leave_to_dirty_thread(Process& p) {
  if (!p.extra || !p.extra->only_native_left) return false;
  p.extra->only_native_left = false;
  p.dirty_state.store(DirtyState::kExited, std::memory_order_release);
  p.dirty_state.notify_one();
  return true;
}

void take_over(Process& p, Fragment* f) {
  if (!is_with_dirty(p)) return p.heap.adopt(f);
  f->next = std::exchange(p.extra->joins_later, f);
}

void let_join(Process& p) {
  while (Fragment* f = p.extra->joins_later) {
    p.extra->joins_later = f->next;
    p.heap.adopt(f);
  }
}

}  // namespace vmrun
