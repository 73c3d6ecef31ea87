#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "vm/base/stopwatch.hpp"
#include "vm/process/dirty_job.hpp"

/// Dirty schedulers: threads for native functions that take long (ERL_NIF_DIRTY_JOB_CPU_BOUND and
/// _IO_BOUND) and for built-in functions with much to do. They are started when first needed. A
/// process with a dirty call leaves its scheduler with its registers saved and belongs to the dirty
/// thread until the function returns: no other thread runs it or collects its heap. While native
/// code runs, the schedulers handle the signals of the process (process/dirty_state.hpp); during a
/// built-in function the signals wait until it is done.
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
