// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/base/small_limits.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/process_state.hpp"

/// Dirty jobs: built-in functions and collections that would take too long for a scheduler and are
/// done on a dirty scheduler (nif/dirty.hpp). This file is the side of the process and its built-in
/// functions. Called by the process's own thread.
namespace vmrun {

enum class DirtyKind : std::uint8_t { kNone, kCpu, kIo };

/// A call of a built-in function on a dirty scheduler, or a collection.
struct DirtyJob {
  BifFn body;  // nullptr: makes `need` words free
  DirtyKind kind;
  unsigned arity;
  static constexpr unsigned kMaxArguments = 5;
  Term arguments[kMaxArguments];
  Term result;
  bool done = false;
  Word need = 0;
  // With handles_signals, the body uses nothing of the process but its heap, and schedulers handle
  // its signals meanwhile (dirty_state.hpp); `name` is the function in which others see the
  // process.
  FunctionName name{};
  bool handles_signals = false;
};
inline DirtyJob* dirty_job_of(const Process& p) { return p.extra ? p.extra->dirty_job : nullptr; }

/// A built-in function returns this when it turns out to have too much to do. `body` is called with
/// these arguments on a dirty scheduler, where it runs to its end. Then the interpreter calls the
/// built-in function again with the same arguments; it decides the same, and this time run_on_dirty
/// returns body's result or raises its exception. body keeps the rules of bif.hpp, except that it
/// only returns a term or raises, and uses nothing of a scheduler. Not for guards.
Term run_on_dirty(Process& p, BifFn body, const Term* args, unsigned arity, DirtyKind kind = DirtyKind::kCpu);
/// As run_on_dirty, for a body that uses nothing of the process but its heap and its exception.
/// Schedulers handle the signals of the process meanwhile (dirty_state.hpp), and others see it in
/// the function `name`.
Term run_on_dirty_handling_signals(Process& p, const FunctionName& name, BifFn body, const Term* args,
                                   unsigned arity, DirtyKind kind);
/// The kind of the calling thread; kNone when it is not a dirty scheduler.
extern constinit thread_local DirtyKind dirty_thread;
inline DirtyKind dirty_thread_kind() { return dirty_thread; }
/// The process that the calling thread works for if it is a dirty scheduler, otherwise nullptr.
extern constinit thread_local Process* dirty_process;

/// The process that the calling thread works for: the one that runs on this scheduler, or that of
/// dirty_process; nullptr when there is none.
Process* process_here();

/// While it lives, nothing that the calling thread calls moves to a dirty scheduler. For callers
/// that could not repeat the call.
class StaysHere {
 public:
  StaysHere() : was_(dirty_thread) { dirty_thread = DirtyKind::kCpu; }
  ~StaysHere() { dirty_thread = was_; }
  StaysHere(const StaysHere&) = delete;

 private:
  const DirtyKind was_;
};

/// Whether work of so many steps (some ten nanoseconds each) is too much for the calling thread. On
/// a dirty scheduler it never is.
inline constexpr Word kStepsOnScheduler = usual_or_small<Word>(20000, 200);
inline bool too_long(Word steps) { return steps > kStepsOnScheduler && dirty_thread == DirtyKind::kNone; }
/// As run_on_dirty with the built-in function itself as the body, for code that several built-in
/// functions share.
Term continue_on_dirty(Process& p);
/// Makes the job of continue_on_dirty. The interpreter, which knows the function, calls this.
void give_job(Process& p, BifFn body, const Term* args, unsigned arity);
/// Whether p's dirty job is done and its function is called again. A function whose decision
/// depends on more than its arguments calls this first, and then run_on_dirty again.
inline bool came_back(const Process& p) {
  const DirtyJob* job = dirty_job_of(p);
  return job && job->done;
}
/// Returns how many steps the calling thread may do without giving way.
inline SWord steps_here() {
  return dirty_thread == DirtyKind::kNone ? static_cast<SWord>(kStepsOnScheduler) : INT64_MAX;
}

void visit_dirty_job(DirtyJob& job, void (*visit)(void* context, Term* terms, std::size_t count),
                     void* context);
/// Drops the job of a process that ends. The job must not be running.
void abandon_dirty_job(Process& p);

}  // namespace vmrun
