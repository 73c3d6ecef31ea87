// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "vm/base/stopwatch.hpp"
#include "vm/process/dirty_job.hpp"

/// Dirty schedulers: threads for native functions that take long (ERL_NIF_DIRTY_JOB_CPU_BOUND and
/// _IO_BOUND) and for built-in functions with much to do. They are started when first needed. A
/// process with a dirty call leaves its scheduler with its registers saved and belongs to the dirty
/// thread until the function returns: no other thread runs it or collects its heap. While it waits
/// for a thread, and while native code runs, the schedulers handle the signals of the process
/// (process/dirty_state.hpp); during a built-in function the signals wait until it is done.
///
/// The path of a call: run_on_dirty (process/dirty_job.hpp) or the flags of a native function end
/// the slice with RunResult::kDirty; the scheduler queues the process here; a dirty thread runs the
/// call and makes the process runnable; the interpreter executes the same instruction again and
/// finds the result.
///
/// Invariants, each with the test that holds it:
///
///  1. A process is on one thread at a time. From leaving its scheduler until it is runnable again
///     it belongs to the dirty thread, except for its signals while native code runs
///     (process/dirty_state.hpp). (native: behind_native, asked_meanwhile; thread sanitizer)
///  2. No call waits while a thread of its kind is idle or may still be started. (unit base:
///     "WorkQueue")
///  3. A call that is executed again decides as it did before: its decision depends on its
///     arguments alone, or it asks came_back first. (golden processes: long_built_ins)
///  4. Work that counts its steps never keeps a scheduler. (fairness: built-in functions,
///     collections)
///  5. A process that ends while its native code runs is freed once, by the dirty thread, when that
///     code returns. (native: storm, forks_and_exits; address sanitizer)
namespace vmrun {

inline constexpr unsigned kMaxDirtySchedulers = 1024;  // of each kind

/// Sets the maximal number of threads of each kind; cpu 0: as many as schedulers. cpu_online: how
/// many of those take work, 0: as many as schedulers are online. Called before the first process
/// runs.
void set_dirty_schedulers(unsigned cpu, unsigned cpu_online, unsigned io);
unsigned dirty_cpu_schedulers();
unsigned dirty_io_schedulers();
unsigned dirty_cpu_schedulers_online();
/// From now on only so many of them begin work; what they have begun goes on. Any thread.
void set_dirty_cpu_schedulers_online(unsigned n);

/// The number of processes that wait for a thread of this kind, and of those that have one.
struct DirtyLoad {
  unsigned waiting, running;
};
DirtyLoad dirty_load(DirtyKind kind);
/// Returns how long each thread of this kind has been busy, by number; threads that have not been
/// started yet are left out.
std::vector<Stopwatch::Reading> dirty_busy_times(DirtyKind kind);

/// Called by a dirty scheduler for a process that has blocked multi-scheduling (sched/turns.hpp).
/// Waits until all dirty schedulers have ended what they have begun without a turn, and the calling
/// one has its turn.
void await_turn();

/// While it lives, dirty schedulers begin nothing new; what they have begun goes on.
class DirtyStop {
 public:
  DirtyStop();
  ~DirtyStop();
  DirtyStop(const DirtyStop&) = delete;
};
/// Calls visit with each thread that has been started, and the process it runs, or nullptr. Threads
/// are numbered from 1; those for input and output come after all the others.
void for_each_dirty_scheduler(const std::function<void(DirtyKind, unsigned number, const Process*)>& visit);

/// Hands over a process that has left the interpreter with RunResult::kDirty. Scheduler threads
/// only.
void run_dirty(Process& p);

}  // namespace vmrun
