#pragma once

#include "vm/probes/fire.hpp"
#include "vm/process/process.hpp"

/// How long processes wait on run queues: the probes process-runnable and process-running. While
/// somebody looks at them, a process that is put on a queue is given the time, in a word that is of
/// use only while it runs, and a bit of Process::observed that says so. The beginning of a slice
/// tests those bits anyway, so only who puts a process on a queue pays, for one test. Called by
/// whoever has the process: the thread that puts it on the queue, then the one that has taken it.
///
/// A wait ends once, however often the process is moved from queue to queue meanwhile; moving is
/// not seen here. One that has begun while nobody looked is never told of.
namespace vmrun {

/// A bit of Process::observed, above that of deep_stack.hpp: Process::runnable_since is in use.
inline constexpr std::uint32_t kWaitObserved = 1u << 29;

/// Whose queue, as the probes tell it.
enum class QueueOf : std::uint8_t { kScheduler, kDirtyCpu, kDirtyIo };

/// What the process that runs on this thread waited for before its slice, as of the beginning of a
/// slice that somebody looks at. kNone: but for its turn, or it was away on another thread.
extern constinit thread_local WaitKind waited_for;

/// Of begin_wait, while somebody looks.
[[gnu::cold, gnu::noinline]] void begin_observed_wait(Process& p, QueueOf queue);
/// Of end_wait, when the wait is observed.
[[gnu::cold, gnu::noinline]] void end_observed_wait(Process& p, QueueOf queue);

/// Before p is put on a queue.
inline void begin_wait(Process& p, QueueOf queue) {
  if (probe::run_queue_watched()) [[unlikely]]
    begin_observed_wait(p, queue);
}
/// p has been taken off, and its thread is about to run it or has handled its signals.
inline void end_wait(Process& p, QueueOf queue) {
  if (p.observed & kWaitObserved) [[unlikely]]
    end_observed_wait(p, queue);
}

}  // namespace vmrun
