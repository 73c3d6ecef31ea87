#pragma once

#include <atomic>

#include "vm/process/process_state.hpp"

/// Which processes run on one scheduler only: by {scheduler, N} of spawn_opt, or by process_flag.
/// What schedulers do about it: sched/bound.hpp.
namespace vmrun {

/// A bit of Process::observed, above that of paths_watched.hpp: Extra::bound_to counts.
inline constexpr std::uint32_t kBoundToScheduler = 1u << 31;

/// Whether there has ever been one. Set before the first can be seen by a scheduler.
inline std::atomic<bool> processes_are_bound{false};

inline bool is_bound(const Process& p) { return p.observed & kBoundToScheduler; }

/// p is new and nobody knows it, or is the caller; number: of a scheduler.
inline void bind_to_scheduler(Process& p, std::uint16_t number) {
  extra_of(p).bound_to = number;
  p.observed |= kBoundToScheduler;
  // Relaxed: who finds p on a queue has synchronised with its parent.
  processes_are_bound.store(true, std::memory_order_relaxed);
}

/// By itself.
inline void unbind(Process& p) {
  extra_of(p).bound_to = 0;
  p.observed &= static_cast<decltype(p.observed)>(~kBoundToScheduler);
}

}  // namespace vmrun
