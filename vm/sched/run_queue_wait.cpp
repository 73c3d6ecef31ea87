// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/run_queue_wait.hpp"

#include "vm/base/clock.hpp"
#include "vm/process/deep_stack.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

constinit thread_local WaitKind waited_for = WaitKind::kNone;

void begin_observed_wait(Process& p, QueueOf queue) {
  p.observed |= kWaitObserved;
  p.runnable_since = static_cast<Word>(monotonic_ns());
  if (probe::process_runnable_enabled())
    probe::fire_process_runnable(p.id, p.priority, static_cast<std::int64_t>(queue));
}

void end_observed_wait(Process& p, QueueOf queue) {
  p.observed &= ~kWaitObserved;
  const Word now = static_cast<Word>(monotonic_ns());
  if (probe::process_running_enabled())
    probe::fire_process_running(p.id, static_cast<std::int64_t>(now - p.runnable_since),
                                static_cast<std::int64_t>(queue));
}

}  // namespace vmrun
