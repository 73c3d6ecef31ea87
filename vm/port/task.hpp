// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/port/port.hpp"

/// Tasks of ports, and where they run. Any thread may queue a task; a scheduler runs it while it
/// holds the port.
namespace vmrun {

/// Tries to hold an idle port with nothing queued. The caller, a scheduler, then runs its task and
/// calls release_port.
[[nodiscard]] bool try_hold_port(Port& p);
/// Gives the port back. If tasks were queued meanwhile, it becomes runnable on the calling
/// scheduler.
void release_port(Port& p);

/// Runs the task at once if the port can be held (the calling thread is a scheduler, and not in a
/// callback of a driver), else queues it. Takes the task over. Returns true when it ran at once.
/// name: the operation's name, for tracing.
bool run_or_queue(Port& p, PortTask* task, Term name = kNonValue);
/// Always queues. on: the scheduler that should run it; nullptr: the caller's, or the one where the
/// port ran last.
void queue_task(Port& p, PortTask* task, Scheduler* on = nullptr);
/// Queues a task for a port that may be gone; then the task is dropped.
void queue_task(Term port, PortTask* task, Scheduler* on = nullptr);

/// Runs tasks of a port that has come to its turn, and gives it back. Returns what that counts in
/// reductions.
std::int32_t run_port(RunnablePort& p);

/// Counts that the running callback uses this much of its port's turn, or of the slice of the
/// process that called it. Returns true when that is used up.
bool consume_port_turn(int percent);

/// Called when the port is gone: no more tasks are taken, and those that are there are dropped.
/// Holder only.
void close_inbox(Port& p);

}  // namespace vmrun
