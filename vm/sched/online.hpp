#pragma once

#include <atomic>

#include "vm/sched/scheduler.hpp"

/// How many of the schedulers take work: the first N. One above N is offline: between two slices it
/// gives all that waits with it to those that are online, then sleeps. It wakes for what others
/// still hand to it (by number of the scheduler where something ran last) and for timers in its
/// wheel that are due, and gives what comes of that away as well. While normal scheduling is
/// blocked the first one alone is online. One that is online pays nothing for this: being asked to
/// leave is a bit of Scheduler::asked.
namespace vmrun {

/// What has been asked for, whether or not scheduling is blocked. Any thread.
unsigned schedulers_online();

/// From now on the first n are online, of 1 to scheduler_count(). Returns the number before. Waits
/// until all that change have changed: for no scheduler's thread.
unsigned set_schedulers_online(unsigned n);
/// Blocks normal scheduling, or ends that. Any thread.
void block_schedulers(bool blocked);
/// Until what has been asked for is so. For no scheduler's thread.
void await_schedulers();

/// Schedulers that are not offline in fact: those that may search, sleep, and wake each other.
extern std::atomic<unsigned> schedulers_at_work;

// ---- For schedulers -----------------------------------------------------------------------------

/// Before the threads start.
void start_online(unsigned n);
/// Is offline from now on, if it was not; all that waits here goes to others.
void hand_over_all(Scheduler& s);
/// Sleeps until there is something to hand over, or it is asked for something else.
void sleep_offline(Scheduler& s);

}  // namespace vmrun
