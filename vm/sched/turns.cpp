// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/turns.hpp"

#include <condition_variable>
#include <mutex>

#include "vm/base/clock.hpp"
#include "vm/base/microstate.hpp"
#include "vm/sched/poll.hpp"

namespace vmrun {
namespace {

std::mutex mutex;  // guards everything below
std::condition_variable changed;
bool under_way = false;                               // a dirty scheduler has begun a turn
unsigned waiting_cpu = 0, waiting_io = 0;             // dirty schedulers
std::atomic<DirtyKind> whose_turn{DirtyKind::kNone};  // kNone: the scheduler's
std::atomic<bool> taken{false};

unsigned& waiting(DirtyKind kind) { return kind == DirtyKind::kIo ? waiting_io : waiting_cpu; }

void wake(Scheduler& s) {
  if (s.parker.wake() == Parker::kPolling) poll_interrupt();
}

void ask_scheduler(bool to_give) {
  Scheduler& s = scheduler_at(0);
  if (to_give) s.asked.fetch_or(kAskedForTurn, std::memory_order_seq_cst);
  else s.asked.fetch_and(static_cast<std::uint8_t>(~kAskedForTurn), std::memory_order_seq_cst);
  wake(s);
}

void pass_to(DirtyKind kind) {
  whose_turn.store(kind, std::memory_order_seq_cst);
  if (kind == DirtyKind::kNone) ask_scheduler(waiting_cpu + waiting_io);
  else changed.notify_all();
}

}  // namespace

void take_turns(bool on) {
  std::lock_guard guard(mutex);
  if (taken.load(std::memory_order_relaxed) == on || (on && !schedulers_started())) return;
  taken.store(on, std::memory_order_seq_cst);
  changed.notify_all();
  pass_to(DirtyKind::kNone);
}

bool turns_are_taken() { return taken.load(std::memory_order_seq_cst); }

bool begin_turn(DirtyKind kind) {
  std::unique_lock lock(mutex);
  if (!turns_are_taken()) return false;
  ++waiting(kind);
  if (whose_turn.load(std::memory_order_relaxed) == DirtyKind::kNone) ask_scheduler(true);
  {
    const InMicrostate asleep(Microstate::kSleep);
    changed.wait(lock, [&] { return !turns_are_taken() || (whose_turn == kind && !under_way); });
  }
  --waiting(kind);
  if (!turns_are_taken()) return false;
  return under_way = true;
}

void end_turn() {
  std::lock_guard guard(mutex);
  under_way = false;
  if (!turns_are_taken()) return;
  pass_to(whose_turn == DirtyKind::kCpu && waiting_io ? DirtyKind::kIo : DirtyKind::kNone);
}

bool give_turn_away(Scheduler& s) {
  {
    std::lock_guard guard(mutex);
    if (whose_turn == DirtyKind::kNone && (!turns_are_taken() || !(waiting_cpu + waiting_io))) {
      ask_scheduler(false);
      return true;
    }
    if (whose_turn == DirtyKind::kNone) pass_to(waiting_cpu ? DirtyKind::kCpu : DirtyKind::kIo);
  }
  const auto is_back = [] { return whose_turn.load(std::memory_order_seq_cst) == DirtyKind::kNone; };
  epoch_leave(*s.epoch);
  s.idle.store(true, std::memory_order_seq_cst);
  s.idle_time.start(monotonic_ns());
  {
    const InMicrostate asleep(Microstate::kSleep);
    s.parker.park([&] { return is_back() || s.asked.load(std::memory_order_seq_cst) != kAskedForTurn; }, -1);
  }
  s.idle_time.stop(monotonic_ns());
  s.idle.store(false, std::memory_order_seq_cst);
  epoch_enter(*s.epoch);
  return is_back();
}

}  // namespace vmrun
