// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/process/process.hpp"

/// The answering side of requests between processes (message/request.hpp).
namespace vmrun {

/// Answers the requests to p, which has no deferred messages (message/deferred_decoding.hpp).
/// Called between two slices, with registers saved. May collect. Returns the work in reductions.
/// When an answer takes too long for a scheduler, Extra::other_dirty_work is set: that request and
/// those behind it are not answered yet, and answer_first answers the first one on a dirty
/// scheduler.
std::int32_t answer_deferred(Process& p);
/// Called by the owner of p only. leader: copied.
void set_group_leader(Process& p, Term leader);
/// Answers the first request, on a dirty scheduler.
void answer_first(Process& p);

}  // namespace vmrun
