#pragma once

#include "vm/port/port.hpp"

/// What happens to ports, and who runs it. Any thread may queue a task; a scheduler runs it while
/// it holds the port.
namespace vmrun {

/// Tries to take an idle port with nothing queued. The caller, a scheduler, then runs what it has
/// and calls release_port.
[[nodiscard]] bool try_hold_port(Port& p);
/// Gives the port back; what was queued meanwhile makes it runnable on the calling scheduler.
void release_port(Port& p);

/// Runs the task at once if the port can be held (calling thread is a scheduler, and in no callback
/// of a driver), else queues it.
/// Takes the task over. True when it ran at once. name: of the operation, for tracing.
bool run_or_queue(Port& p, PortTask* task, Term name = kNonValue);
/// Queues always. `on`: the scheduler that should run it; nullptr: the caller's, or where the port
/// ran last.
void queue_task(Port& p, PortTask* task, Scheduler* on = nullptr);
/// A task for a port that may be gone: dropped then.
void queue_task(Term port, PortTask* task, Scheduler* on = nullptr);

/// The callback that runs takes as much of its port's turn, or of the slice of the process that
/// called it; true when that is over.
bool consume_port_turn(int percent);

/// The port is gone: no task comes in any more, those that are there are dropped. Holder only.
void close_inbox(Port& p);

}  // namespace vmrun
