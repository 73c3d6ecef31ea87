// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// Requests to spawn a process on another node whose asker has ended, or does not want the answer
/// any more. When the answer comes, a process that was to be linked with the asker gets an exit
/// signal with the reason that is kept here, as if the link had existed. Every request is answered,
/// so every entry is taken out again. Any thread.
namespace vmrun {

/// Keeps a copy of the reason for the answer to this request.
void abandon_spawn(RefKey request, Term reason);
/// Abandons all requests of p that have not been answered.
[[gnu::cold]] void abandon_spawns_of(Process& p, Term reason);
/// Abandons the requests of p, which ends.
inline void abandon_spawns_at_exit(Process& p, Term reason) {
  if (p.extra && !p.extra->spawn_requests.empty()) [[unlikely]]
    abandon_spawns_of(p, reason);
}
/// Takes the entry of a request out. Returns a fragment with the reason as its message, which the
/// caller owns; nullptr when the request was not abandoned.
Fragment* take_abandoned_reason(RefKey request);

}  // namespace vmrun
