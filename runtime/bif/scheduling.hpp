#pragma once

#include <optional>

#include "vm/process/process.hpp"

/// What a program learns of the schedulers, and asks of them: lengths of run queues, how long each
/// has been at work, how many are online.
namespace vmrun {

/// statistics(run_queue_lengths) and its like: a number for each scheduler, then one for the
/// processes that wait for a dirty CPU scheduler; `io`: one more, for those of input and output.
/// `running`: what runs is counted too.
Term queue_lengths(Process& p, bool io, bool running);
/// statistics(run_queues): those of run_queue_lengths_all, as a tuple.
Term queue_lengths_tuple(Process& p);
Word total_queue_length(bool io, bool running);

/// statistics(scheduler_wall_time), or with `io` scheduler_wall_time_all.
Term scheduler_wall_time(Process& p, bool io);

/// system_info of multi_scheduling, of multi_scheduling_blockers and of
/// normal_multi_scheduling_blockers.
Term multi_scheduling();
Term blockers(Process& p);
Term normal_blockers(Process& p);

/// system_flag with these arguments, if it is one of these flags.
std::optional<Term> set_scheduling_flag(Process& p, const Term* a);

}  // namespace vmrun
