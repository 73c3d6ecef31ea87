// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/dirty_job.hpp"
#include "vm/sched/scheduler.hpp"

/// While all of multi-scheduling is blocked, one thread works at a time. The first scheduler, the
/// only one that is online then, has the turn. When work waits for dirty schedulers, it gives the
/// turn away after a slice, and gets it back when one dirty scheduler of each kind has done one
/// piece of work. A request to the scheduler is a bit of Scheduler::asked, so nobody pays for this
/// while nothing is blocked.
namespace vmrun {

/// From now on, threads take turns, or not any more. What dirty schedulers have begun without a
/// turn goes on. Any thread.
void take_turns(bool on);
/// Whether threads take turns. Sequentially consistent.
bool turns_are_taken();

/// Called by a dirty scheduler that has work. Waits for its turn, and returns true; false: no turns
/// are taken.
bool begin_turn(DirtyKind kind);
void end_turn();

/// Called by the first scheduler, which has been asked to. Returns whether it has the turn now:
/// something else may have been asked of it meanwhile.
bool give_turn_away(Scheduler& s);

}  // namespace vmrun
