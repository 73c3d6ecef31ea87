// SPDX-License-Identifier: Apache-2.0
#include "vm/port/task.hpp"

#include <utility>

#include "vm/base/activity.hpp"
#include "vm/base/clock.hpp"
#include "vm/port/operation.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/trace/system_monitor.hpp"
#include "vm/trace/system_profile.hpp"

/// Which thread holds a port. The states of Port::run:
///
///   kIdle     --- queue_task: something is queued ---> kQueued    (the thread that makes the
///             change puts the port on a scheduler's list)
///   kQueued   --- a scheduler takes it off its list -> kRunning
///   kIdle     --- try_hold_port ---------------------> kRunning
///   kRunning  --- release_port ----------------------> kIdle, or kQueued when there is more to do
///   kRunning  --- a busy port's turn ends -----------> kWaiting: like kIdle, but try_hold_port
///             does not take it: its waiting tasks must not be overtaken
///   kRunning  --- release_port, of a closed port ----> kGone, for ever
///
/// A port is on one scheduler's list if and only if it is kQueued. Tasks go to an Inbox; the holder
/// takes all of it at once. A thread that queues pushes first and then reads `run`. A holder that
/// leaves writes `run` first and then reads the inbox. So one of them sees the other (both are
/// sequentially consistent), and no task is left behind.
///
/// A closed inbox alone does not keep a port that is gone off the lists: a thread whose task was
/// pushed before the closing, and dropped, may read `run` only now. If that were kIdle, it would
/// queue a port that waits to be freed.
namespace vmrun {
namespace {

constexpr std::int32_t kTaskReductions = 200, kTurnReductions = 4000;
thread_local std::int32_t turn_used = 0;  // of the port whose turn it is

/// Reports that the port has become active or inactive.
void profile(const Port& p, bool active) {
  if (p.tracing.is_on(kPortProfiled)) [[unlikely]]
    profile_port(p.id, active);
}

void append(PortTask** list, PortTask* tasks) {
  while (*list) list = &(*list)->next;
  *list = tasks;
}
void take_inbox(Port& p) { append(&p.pending, p.inbox.take()); }

/// A command that was queued before the port became busy waits too, and so do the later tasks of
/// its sender: signals of one sender stay in order.
bool has_to_wait(const Port& p, const PortTask& task) {
  if (task.when_busy == WhenBusy::kWaits && p.busy.load(std::memory_order_relaxed)) return p.is_open();
  if (task.when_busy == WhenBusy::kRuns) return false;
  for (const PortTask* t = p.waiting_tasks; t; t = t->next)
    if (t->from == task.from) return true;
  return false;
}
[[gnu::cold, gnu::noinline]] void let_wait(Port& p, PortTask* task) {
  task->next = nullptr;
  append(&p.waiting_tasks, task);
}
/// Puts the waiting tasks in front of later ones, once the port is not busy.
[[gnu::cold, gnu::noinline]] void fetch_waiting_tasks(Port& p) {
  if (p.busy.load(std::memory_order_relaxed)) return;
  append(&p.waiting_tasks, std::exchange(p.pending, nullptr));
  p.pending = std::exchange(p.waiting_tasks, nullptr);
}

void uncount_bytes(Port& p, const PortTask& task) {
  if (!task.bytes) return;
  const Word left = p.queued_bytes.fetch_sub(task.bytes, std::memory_order_relaxed) - task.bytes;
  if (left <= p.inbox_low && p.inbox_full.load(std::memory_order_relaxed)) set_inbox_full(p, false);
}

void run_task(Port& p, PortTask* task) {
  uncount_bytes(p, *task);
  if (p.state.load(std::memory_order_relaxed) == Port::State::kClosed) task->drop(p.id);
  else task->run(p);
  delete task;
  finish_closing(p);  // what was to be flushed may be gone now
}

}  // namespace

namespace {

[[gnu::cold, gnu::noinline]] bool held_and_reported(const Port& p) {
  profile_port(p.id, true);
  return true;
}
/// Another thread has queued a task and has not made the port runnable yet: that task comes first.
[[gnu::cold, gnu::noinline]] bool give_way(Port& p) {
  profile(p, true);
  release_port(p);
  return false;
}

}  // namespace

bool try_hold_port(Port& p) {
  Port::Run idle = Port::Run::kIdle;
  if (!p.run.compare_exchange_strong(idle, Port::Run::kRunning, std::memory_order_seq_cst)) return false;
  if (!p.pending && !p.inbox.has_mail()) [[likely]] {
    p.scheduler.store(this_scheduler(), std::memory_order_relaxed);
    if (p.tracing.is_on(kPortProfiled)) [[unlikely]]
      return held_and_reported(p);
    return true;
  }
  return give_way(p);
}

namespace {

/// rest: the state when there is nothing to do.
[[gnu::always_inline]] inline void release(Port& p, bool profiled, Port::Run idle_state = Port::Run::kIdle) {
  if (p.state.load(std::memory_order_relaxed) == Port::State::kClosed && p.leaves_table) [[unlikely]] {
    p.leaves_table = false;
    if (profiled) profile_port(p.id, false);
    p.run.store(Port::Run::kGone, std::memory_order_release);
    return release_reference(p);
  }
  if (!p.pending) {
    if (profiled) profile_port(p.id, false);
    p.run.store(idle_state, std::memory_order_seq_cst);
    if (!p.inbox.has_mail()) [[likely]]
      return;  // `pending` belongs to the next holder already
    if (p.run.compare_exchange_strong(idle_state, Port::Run::kQueued, std::memory_order_seq_cst)) {
      if (profiled) profile_port(p.id, true);
      make_runnable(p, nullptr);
    }
    return;
  }
  p.run.store(Port::Run::kQueued, std::memory_order_release);
  make_runnable(p, nullptr);
}
[[gnu::cold, gnu::noinline]] void release_reported(Port& p) { release(p, true); }
[[gnu::cold, gnu::noinline]] void release_with_waiting(Port& p) {
  fetch_waiting_tasks(p);
  const Port::Run idle_state = p.waiting_tasks ? Port::Run::kWaiting : Port::Run::kIdle;
  release(p, p.tracing.is_on(kPortProfiled), idle_state);
}

}  // namespace

void release_port(Port& p) {
  if (p.tracing.is_on(kPortProfiled)) [[unlikely]]
    return release_reported(p);
  release(p, false);
}

void queue_task(Port& p, PortTask* task, Scheduler* on) {
  if (!p.inbox.try_push(*task)) {
    task->drop(p.id);
    delete task;
    return;
  }
  Port::Run idle_state = p.run.load(std::memory_order_seq_cst);
  if (idle_state <= Port::Run::kWaiting &&
      p.run.compare_exchange_strong(idle_state, Port::Run::kQueued, std::memory_order_seq_cst)) {
    profile(p, true);
    make_runnable(p, on);
  }
}

void queue_task(Term port, PortTask* task, Scheduler* on) {
  if (Port* p = port_table.find(port)) return queue_task(*p, task, on);
  task->drop(port);
  delete task;
}

bool run_or_queue(Port& p, PortTask* task, Term name) {
  Scheduler* s = this_scheduler();
  if (!s || current_port || !try_hold_port(p)) {
    queue_task(p, task);
    return false;
  }
  if (s->current) run_at_once(*s->current, p, name, [&] { run_task(p, task); });
  else run_task(p, task);
  release_port(p);
  return true;
}

namespace {

[[gnu::cold, gnu::noinline]] void run_timed_task(Port& p, PortTask* task) {
  const Term kind = task->kind();
  const Word begun_ns = monotonic_ns();
  run_task(p, task);
  monitor_port_task(p.id, kind, begun_ns);
}

constexpr Activity kTurnOfPort{"[port]"};

}  // namespace

std::int32_t run_port(RunnablePort& runnable) {
  auto& p = static_cast<Port&>(runnable);
  p.run.store(Port::Run::kRunning, std::memory_order_seq_cst);
  p.scheduler.store(this_scheduler(), std::memory_order_relaxed);
  std::int32_t& used = turn_used;
  used = 0;
  const InKnownActivity runs(kTurnOfPort);
  trace_port_running(p.tracing, p.id, true);
  const bool timed = slices_monitored();
  while (used < kTurnReductions) {
    if (p.waiting_tasks) [[unlikely]]
      fetch_waiting_tasks(p);
    if (!p.pending) take_inbox(p);
    PortTask* task = p.pending;
    if (!task) break;
    p.pending = task->next;
    if (has_to_wait(p, *task)) [[unlikely]]
      let_wait(p, task);
    else if (timed) [[unlikely]] run_timed_task(p, task);
    else run_task(p, task);
    used += kTaskReductions;
  }
  trace_port_running(p.tracing, p.id, false);
  if (p.waiting_tasks) [[unlikely]]
    release_with_waiting(p);
  else release_port(p);
  return used;
}

bool consume_port_turn(int percent) {
  // If a process has called the driver itself, it pays.
  const Scheduler* const s = this_scheduler();
  if (s && s->current) {
    bump_reductions(*s->current, kSliceReductions / 100 * percent);
    return s->current->reductions <= 0;
  }
  turn_used += kTurnReductions / 100 * percent;
  return turn_used >= kTurnReductions;
}

void close_inbox(Port& p) {
  append(&p.waiting_tasks, std::exchange(p.pending, nullptr));
  append(&p.waiting_tasks, p.inbox.close());
  p.pending = std::exchange(p.waiting_tasks, nullptr);
  while (PortTask* task = p.pending) {
    p.pending = task->next;
    task->drop(p.id);
    delete task;
  }
}

}  // namespace vmrun
