#include "vm/process/dirty_state.hpp"

#include <utility>

namespace vmrun {

void enter_dirty(Process& p, void (*make_runnable)(Process& p)) {
  extra_of(p);
  p.dirty_state.store(DirtyState::kRunning, std::memory_order_relaxed);
  p.wait_kind = WaitKind::kDirty;
  if (!p.mailbox.park()) make_runnable(p);  // park publishes what stands above
}

namespace {

/// It is this thread's alone.
void is_home(Process& p) {
  p.dirty_state.store(DirtyState::kNone, std::memory_order_relaxed);
  p.wait_kind = WaitKind::kNone;
  let_join(p);
}

}  // namespace

bool leave_dirty(Process& p) {
  std::atomic<DirtyState>& away = p.dirty_state;
  // Either this one sees what a scheduler has done with it, or that one sees what is wanted.
  DirtyState state = away.exchange(DirtyState::kWantsBack, std::memory_order_acq_rel);
  // If it was parked no scheduler has it; else the one that has it, or will have it, looks at the
  // mailbox once more before it parks it, and comes past one of those that answer.
  if (state == DirtyState::kRunning && !p.mailbox.notify())
    while ((state = away.load(std::memory_order_acquire)) == DirtyState::kWantsBack)
      away.wait(DirtyState::kWantsBack, std::memory_order_acquire);
  is_home(p);
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
  if (!is_running_dirty(p)) return p.heap.adopt(f);
  f->next = std::exchange(p.extra->joins_later, f);
}

void let_join(Process& p) {
  while (Fragment* f = p.extra->joins_later) {
    p.extra->joins_later = f->next;
    p.heap.adopt(f);
  }
}

}  // namespace vmrun
