#include "vm/process/away.hpp"

#include <utility>

namespace vmrun {

void go_away(Process& p, void (*make_runnable)(Process& p)) {
  extra_of(p);
  p.away.store(AwayState::kAway, std::memory_order_relaxed);
  p.wait_kind = WaitKind::kAway;
  if (!p.mailbox.park()) make_runnable(p);  // park publishes what stands above
}

namespace {

/// It is this thread's alone.
void is_home(Process& p) {
  p.away.store(AwayState::kHome, std::memory_order_relaxed);
  p.wait_kind = WaitKind::kNone;
  let_join(p);
}

}  // namespace

bool come_home(Process& p) {
  std::atomic<AwayState>& away = p.away;
  // Either this one sees what a scheduler has done with it, or that one sees what is wanted.
  AwayState state = away.exchange(AwayState::kWantsBack, std::memory_order_acq_rel);
  // If it was parked no scheduler has it; else the one that has it, or will have it, looks at the
  // mailbox once more before it parks it, and comes past one of those that answer.
  if (state == AwayState::kAway && !p.mailbox.notify())
    while ((state = away.load(std::memory_order_acquire)) == AwayState::kWantsBack)
      away.wait(AwayState::kWantsBack, std::memory_order_acquire);
  is_home(p);
  return state != AwayState::kLeft;
}

void hand_back(Process& p) {
  p.away.store(AwayState::kHandedBack, std::memory_order_release);
  p.away.notify_one();
}

bool hand_back_if_wanted(Process& p) {
  if (p.away.load(std::memory_order_acquire) != AwayState::kWantsBack) return false;
  hand_back(p);
  return true;
}

bool leave_to_native(Process& p) {
  if (!p.extra || !p.extra->only_native_left) return false;
  p.extra->only_native_left = false;
  p.away.store(AwayState::kLeft, std::memory_order_release);
  p.away.notify_one();
  return true;
}

void take_over(Process& p, Fragment* f) {
  if (!is_away(p)) return p.heap.adopt(f);
  f->next = std::exchange(p.extra->joins_later, f);
}

void let_join(Process& p) {
  while (Fragment* f = p.extra->joins_later) {
    p.extra->joins_later = f->next;
    p.heap.adopt(f);
  }
}

}  // namespace vmrun
