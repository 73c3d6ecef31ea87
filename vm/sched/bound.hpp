// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/scheduler_binding.hpp"
#include "vm/sched/scheduler.hpp"

/// Processes that run on one scheduler only (process/scheduler_binding.hpp). They cost other
/// processes nothing. A thread that wakes one puts it on its own queue like any other. The
/// beginning of its slice, which tests bits of Process::observed anyway, hands it to its scheduler.
/// That scheduler does not offer it to others, and keeps it while it is offline: the process does
/// not run then, as in OTP.
namespace vmrun {

/// For a bound process. The caller must be its owner.
inline Scheduler& bound_to(const Process& p) { return scheduler_at(p.extra->bound_to - 1u); }
inline bool is_bound_to_another(const Process& p, const Scheduler& s) {
  return is_bound(p) && p.extra->bound_to != s.number;
}

/// Takes the processes that are bound to `s` out of the list. The list has been cut out of the
/// queue of its priority behind the first `skip`, and the bound ones go back there. Further in
/// front they would take turns of others, for ever. Called with the queue locked.
void keep_bound(Scheduler& s, RunList<Process>& list, unsigned priority, unsigned skip);
/// Hands p, which the caller has taken off a queue, to the scheduler it is bound to. Any scheduler.
void hand_to_bound(Process& p);

}  // namespace vmrun
