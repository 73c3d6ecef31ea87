#pragma once

#include "vm/process/process_state.hpp"

/// Processes that are asked for on another node, when who has asked is not there any more to take
/// the answer or does not want it: a process that it was to be linked with is sent an exit signal
/// with the reason that is left here, as if the link had been there. There is an answer to each
/// request, so what is left here is taken. Any thread.
namespace vmrun {

void abandon_spawn(RefKey request, Term reason);
/// For all that p has asked for and has had no answer to, which p forgets.
[[gnu::cold]] void abandon_spawns_of(Process& p, Term reason);
/// p ends.
inline void abandon_spawns_at_exit(Process& p, Term reason) {
  if (p.extra && !p.extra->spawn_requests.empty()) [[unlikely]]
    abandon_spawns_of(p, reason);
}
/// A fragment with the reason as its message, the caller's; nullptr: none is left.
Fragment* take_abandoned_reason(RefKey request);

}  // namespace vmrun
