#pragma once

#include "vm/process/process.hpp"
#include "vm/process/reference.hpp"

/// Processes that are asked for on another node, when who has asked is not there any more to take
/// the answer or does not want it: a process that it was to be linked with is sent an exit signal
/// with the reason that is left here, as if the link had been there. There is an answer to each
/// request, so what is left here is taken. Any thread.
namespace vmrun {

/// p ends: for all that it has asked for and has had no answer to.
void leave_exit_reason(const Process& p, Term reason);
void leave_reason(RefKey request, Term reason);
/// A fragment with the reason as its message, the caller's; nullptr: none is left.
Fragment* take_left_reason(RefKey request);

}  // namespace vmrun
