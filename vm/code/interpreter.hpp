// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/sched/scheduler.hpp"

/// The interpreter loop.
namespace vmrun {

/// Runs p on this scheduler until it gives up the core. The caller has set p.reductions.
RunResult interpret(Scheduler& s, Process& p);

}  // namespace vmrun
