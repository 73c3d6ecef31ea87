// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/process/process.hpp"
#include "vm/process/process_upcalls.hpp"

/// Samples that a profiler has taken of the calling thread, in a signal's handler. What a handler
/// must not do is done later, at the places that call these functions. Where nobody profiles that
/// costs a look at a flag.
namespace vmrun {

/// Set by the signal handler, in the same thread.
extern constinit thread_local volatile bool samples_wait;
/// p: the calling thread has its state to itself, as where a probe fires; nullptr: no process is
/// known to be.
inline void deliver_samples(const Process* p) { process_upcalls.deliver_samples(p); }

inline void deliver_waiting_samples(const Process& p) {
  if (samples_wait) [[unlikely]]
    deliver_samples(&p);
}

/// Called when the calling thread, a dirty scheduler, begins to work for p. So the profiler knows
/// p's label, which may not be read while native code of the process runs.
extern constinit std::atomic<bool> processes_sampled;
inline void note_sampled_process(const Process& p) { process_upcalls.note_sampled_process(p); }

}  // namespace vmrun
