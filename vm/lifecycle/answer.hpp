#pragma once

#include <cstdint>

#include "vm/process/process.hpp"

/// The answering side of what processes ask each other (message/request.hpp).
namespace vmrun {

/// Answers what has been asked of p, which holds nothing back (message/deferred_decoding.hpp). Between two
/// slices, registers saved. May collect. Returns what that counts in reductions. When an answer
/// takes longer than a scheduler has time for, Extra::other_dirty_work says so: it and those behind
/// it are still to be given, the first of them by answer_first on a dirty scheduler.
std::int32_t answer_deferred(Process& p);
/// The owner of p. leader: copied.
void set_group_leader(Process& p, Term leader);
/// On a dirty scheduler.
void answer_first(Process& p);

}  // namespace vmrun
