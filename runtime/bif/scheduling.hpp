// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "vm/process/process.hpp"

/// Information about the schedulers and requests to them: lengths of run queues, how long each
/// scheduler has been busy, how many are online.
namespace vmrun {

/// statistics(run_queue_lengths) and similar items: a number for each scheduler, then one for the
/// processes that wait for a dirty CPU scheduler. `io` adds one for dirty I/O schedulers. `running`
/// counts running processes too.
Term queue_lengths(Process& p, bool io, bool running);
/// statistics(run_queues): the numbers of run_queue_lengths_all as a tuple.
Term queue_lengths_tuple(Process& p);
Word total_queue_length(bool io, bool running);

/// statistics(scheduler_wall_time), with `io` scheduler_wall_time_all.
Term scheduler_wall_time(Process& p, bool io);

/// system_info of multi_scheduling, multi_scheduling_blockers and normal_multi_scheduling_blockers.
Term multi_scheduling();
/// Whether all but one thread is blocked, or all but one scheduler (kNormal; kAll implies it).
enum class Blocked { kNormal, kAll };
bool is_blocked(Blocked what);
Term blockers(Process& p);
Term normal_blockers(Process& p);

/// Gives back what a process that ends has set for the whole machine as long as it lives.
void release_flags(Process& p);

/// Executes system_flag with these arguments if it is one of these flags; else returns nothing.
std::optional<Term> set_scheduling_flag(Process& p, const Term* a);

}  // namespace vmrun
