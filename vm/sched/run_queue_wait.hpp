// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/probes/fire.hpp"
#include "vm/process/process_state.hpp"

/// How long processes wait on run queues: the probes process-runnable and process-running. While
/// they are enabled, a process that is put on a queue gets the time, in a word that is otherwise
/// used only while it runs, and a bit of Process::observed. The beginning of a slice tests those
/// bits anyway, so only code that puts a process on a queue pays, with one test. Called by the
/// owner of the process: the thread that puts it on the queue, then the one that has taken it.
///
/// A wait ends once, however often the process is moved from queue to queue meanwhile; moves are
/// not reported. A wait that began while the probes were disabled is never reported.
namespace vmrun {

/// The kind of queue, as the probes report it.
enum class QueueOf : std::uint8_t { kScheduler, kDirtyCpu, kDirtyIo };

/// What the process that runs on this thread waited for before its slice. It is set at the
/// beginning of a slice that is watched. kNone: it waited only for its turn, or was on another
/// thread.
extern constinit thread_local WaitKind waited_for;

/// The slow path of begin_wait, while the probes are enabled.
[[gnu::cold, gnu::noinline]] void begin_observed_wait(Process& p, QueueOf queue);
/// The slow path of end_wait, when the wait is observed.
[[gnu::cold, gnu::noinline]] void end_observed_wait(Process& p, QueueOf queue);

[[gnu::cold, gnu::noinline]] void begin_observed_dirty_wait(Process& p, QueueOf queue);
[[gnu::cold, gnu::noinline]] void end_observed_dirty_wait(Process& p, QueueOf queue);

/// Called before p is put on a queue.
inline void begin_wait(Process& p, QueueOf queue) {
  if (probe::run_queue_enabled()) [[unlikely]]
    begin_observed_wait(p, queue);
}
/// Called when p has been taken off, and its thread is about to run it or has handled its signals.
inline void end_wait(Process& p, QueueOf queue) {
  if (p.observed & kWaitObserved) [[unlikely]]
    end_observed_wait(p, queue);
}

/// For a process that waits for a dirty scheduler while schedulers handle its signals, and so put
/// it on their queues too (dirty_state.hpp). Its extra part has the time.
inline void begin_dirty_wait(Process& p, QueueOf queue) {
  if (probe::run_queue_enabled()) [[unlikely]]
    begin_observed_dirty_wait(p, queue);
}
inline void end_dirty_wait(Process& p, QueueOf queue) {
  if (p.extra->dirty_wait_since) [[unlikely]]
    end_observed_dirty_wait(p, queue);
}

}  // namespace vmrun
