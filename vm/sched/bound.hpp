#pragma once

#include "vm/process/bound.hpp"
#include "vm/sched/scheduler.hpp"

/// Processes that run on one scheduler only (process/bound.hpp). What is not the usual case costs
/// the others nothing: whoever wakes one puts it on its own queue as any other; the beginning of
/// its slice, which tests bits of Process::observed anyway, hands it to its scheduler. That one
/// does not offer it to others, and keeps it while it is offline: it does not run then, as in OTP.
namespace vmrun {

/// Of a process that is bound: by who has it.
inline Scheduler& bound_to(const Process& p) { return scheduler_at(p.extra->bound_to - 1u); }
inline bool is_bound_to_another(const Process& p, const Scheduler& s) {
  return is_bound(p) && p.extra->bound_to != s.number;
}

/// With the queue locked: takes those that are bound to `s` out of the list, which has been cut out
/// of the queue of their priority behind the first `skip`. They go back there: in front of others
/// they would take turns that are not theirs, for ever.
void keep_bound(Scheduler& s, RunList<Process>& list, unsigned priority, unsigned skip);
/// p, which the caller has taken off a queue, goes to where it is bound. Any scheduler.
void hand_to_bound(Process& p);

}  // namespace vmrun
