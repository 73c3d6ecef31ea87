// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/run_queue_wait.hpp"

#include <utility>

#include "vm/base/clock.hpp"
#include "vm/process/deep_stack.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

constinit thread_local WaitKind waited_for = WaitKind::kNone;

namespace {

/// Returns the time.
Word begin(const Process& p, QueueOf queue) {
  const auto now = static_cast<Word>(monotonic_ns());
  if (probe::process_runnable_enabled())
    probe::fire_process_runnable(p.id, p.priority, static_cast<std::int64_t>(queue));
  return now;
}

void end(const Process& p, QueueOf queue, Word since) {
  const auto now = static_cast<Word>(monotonic_ns());
  if (probe::process_running_enabled())
    probe::fire_process_running(p.id, static_cast<std::int64_t>(now - since),
                                static_cast<std::int64_t>(queue));
}

}  // namespace

void begin_observed_wait(Process& p, QueueOf queue) {
  if (is_queued_for_dirty(p)) return;  // that wait goes on, while its signals are handled
  p.observed |= kWaitObserved;
  p.runnable_since = begin(p, queue);
}

void end_observed_wait(Process& p, QueueOf queue) {
  p.observed &= ~kWaitObserved;
  end(p, queue, p.runnable_since);
}

void begin_observed_dirty_wait(Process& p, QueueOf queue) { extra_of(p).dirty_wait_since = begin(p, queue); }

void end_observed_dirty_wait(Process& p, QueueOf queue) {
  end(p, queue, std::exchange(p.extra->dirty_wait_since, 0));
}

}  // namespace vmrun
