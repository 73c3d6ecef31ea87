// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/bound.hpp"

#include "vm/process/deep_stack.hpp"
#include "vm/process/paths_enabled.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/sched/idle.hpp"
#include "vm/sched/run_queue_wait.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

void keep_bound(Scheduler& s, RunList<Process>& list, unsigned priority, unsigned skip) {
  RunList<Process> kept, rest;
  while (list.count) {
    Process& p = list.pop();
    (is_bound(p) && !is_bound_to_another(p, s) ? kept : rest).push(p);
  }
  list = rest;
  s.queues[priority].insert(skip, kept);
}

void hand_to_bound(Process& p) {
  Scheduler& to = bound_to(p);
  boost_as_requested(p);
  to.inbox.push(p);
  wake_owner(to);
}

}  // namespace vmrun
