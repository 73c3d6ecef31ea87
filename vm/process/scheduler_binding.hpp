// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/process/process_state.hpp"

/// Processes that are bound to one scheduler, by {scheduler, N} of spawn_opt or by process_flag.
/// sched/bound.hpp is the schedulers' side of it.
namespace vmrun {

/// Whether any process has ever been bound. Set before a scheduler can see the first one.
inline std::atomic<bool> processes_are_bound{false};

inline bool is_bound(const Process& p) { return p.observed & kBoundToScheduler; }

/// Binds p to the scheduler with this number. p is new and not yet published, or is the caller.
inline void bind_to_scheduler(Process& p, std::uint16_t number) {
  extra_of(p).bound_to = number;
  p.observed |= kBoundToScheduler;
  // Relaxed: a thread that finds p on a queue has synchronised with p's parent.
  processes_are_bound.store(true, std::memory_order_relaxed);
}

/// Called by p itself.
inline void unbind(Process& p) {
  extra_of(p).bound_to = 0;
  p.observed &= ~kBoundToScheduler;
}

}  // namespace vmrun
