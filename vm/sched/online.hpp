// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/sched/scheduler.hpp"

/// How many of the schedulers take work: the first N. A scheduler above N is offline. Between two
/// slices it gives all that waits on it to those that are online, and then sleeps. It wakes for
/// what others still hand to it (because something ran there last) and for due timers in its wheel,
/// and gives away the resulting work as well. While normal scheduling is blocked only the first one
/// is online. Schedulers that are online pay nothing for this: the request to leave is a bit of
/// Scheduler::asked.
namespace vmrun {

/// Returns the number that was requested, whether or not scheduling is blocked. Any thread.
unsigned schedulers_online();
/// As schedulers_online, but 1 while normal scheduling is blocked. Any thread.
unsigned schedulers_to_run();

/// Makes the first n schedulers online, of 1 to scheduler_count(). Returns the number before. Waits
/// until all schedulers have changed, so scheduler threads must not call it.
unsigned set_schedulers_online(unsigned n);
/// Blocks normal scheduling, or unblocks it. Any thread.
void block_schedulers(bool blocked);
/// Waits until the requested state is reached. Scheduler threads must not call it.
void await_schedulers();

/// How many schedulers are not offline now: they may search, sleep, and wake each other.
extern std::atomic<unsigned> busy_schedulers;

// ---- For schedulers -----------------------------------------------------------------------------

/// Called before the threads start.
void start_online(unsigned n);
/// Makes s offline if it was not, and gives all that waits there to others.
void hand_over_all(Scheduler& s);
/// Sleeps until there is something to hand over, or another request comes.
void sleep_offline(Scheduler& s);

}  // namespace vmrun
