#pragma once

#include <atomic>

#include "vm/process/process.hpp"

/// Samples that a profiler has taken of the calling thread, in a signal handler. What a handler
/// must not do is done later, at the places that call these functions. When nothing is profiled,
/// they cost one test of a flag. probes/attach/sample_firing.cpp sets the functions before main
/// begins.
namespace vmrun {

/// Set by the signal handler, in the same thread.
extern constinit thread_local volatile bool samples_wait;
/// p: a process whose state only the calling thread uses, as where a probe fires; nullptr when no
/// such process is known.
extern void (*deliver_samples)(const Process* p);

inline void deliver_waiting_samples(const Process& p) {
  if (samples_wait) [[unlikely]]
    deliver_samples(&p);
}

/// Called when the calling thread, a dirty scheduler, begins to work for p. So the profiler knows
/// p's label, which may not be read while native code of the process runs.
extern constinit std::atomic<bool> processes_sampled;
extern void (*note_sampled_process)(const Process& p);

}  // namespace vmrun
