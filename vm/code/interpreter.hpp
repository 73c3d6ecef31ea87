#pragma once

#include "vm/sched/scheduler.hpp"

/// The interpreter loop.
namespace vmrun {

/// Runs p on this scheduler until it leaves the core. p.reductions has been set by the caller.
RunResult interpret(Scheduler& s, Process& p);

}  // namespace vmrun
