#pragma once

#include <cstdint>

#include "vm/bif.hpp"

/// Dirty schedulers: threads for native functions that take long (ERL_NIF_DIRTY_JOB_CPU_BOUND and
/// _IO_BOUND) and for built-in functions with much to do, started when they are first needed. A
/// process whose call is dirty leaves its scheduler with its registers saved and belongs to the
/// dirty thread until the function returns: nobody else runs it, collects its heap or handles its
/// signals. So what others ask of it (process_info, garbage_collect, suspend, is_process_alive) is
/// answered then, and an exit signal takes effect then.
namespace vmrun {

enum class DirtyKind : std::uint8_t { kNone, kCpu, kIo };

/// Threads of each kind at most; cpu 0: as many as schedulers. Before the first process runs.
void set_dirty_schedulers(unsigned cpu, unsigned io);
unsigned dirty_cpu_schedulers();
unsigned dirty_io_schedulers();

/// Hands over a process that has left the interpreter with RunResult::kDirty. Scheduler threads
/// only.
void run_dirty(Process& p);

/// What a built-in function says that turns out to have much to do: `body` is called with these
/// arguments on a dirty scheduler, whose BIFs run to their end. When that is done the interpreter
/// calls the built-in function again with the same arguments; it comes to the same conclusion, and
/// this time gets body's result, or its exception. body keeps the rules of vm/bif.hpp, except that
/// it only returns a term or raises, and uses nothing of a scheduler. Not for guards.
Term run_elsewhere(Process& p, BifFn body, const Term* args, unsigned arity,
                   DirtyKind kind = DirtyKind::kCpu);
/// Whether work of so many steps (some ten nanoseconds each) is too much for the calling thread: is
/// never on a dirty scheduler.
inline constexpr Word kStepsOnScheduler = 20000;
bool too_long(Word steps);
/// Whether p comes back from elsewhere. A function asks first of all whose decision depends on more
/// than its arguments, and then says run_elsewhere again.
bool came_back(const Process& p);
/// How many steps the calling thread may do in one piece.
SWord steps_here();

/// Whether a collection of p's heap takes longer than a scheduler has time for.
bool long_collection(const Process& p);
/// The process is to leave the scheduler (RunResult::kDirty) with its registers saved; it comes
/// back with `need` words free.
void collect_on_dirty(Process& p, Word need);

struct DirtyJob;
void visit_dirty_job(DirtyJob& job, void (*visit)(void* context, Term* terms, std::size_t count),
                     void* context);
/// The process ends, its job is not under way.
void abandon_dirty_job(Process& p);

/// The process has come back to its call_dirty_nif, with an exception set.
bool dirty_call_raised(Process& p);

/// Of the calling thread.
DirtyKind dirty_thread_kind();

}  // namespace vmrun
