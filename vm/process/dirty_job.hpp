#pragma once

#include <cstdint>

#include "vm/base/small_limits.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/process_state.hpp"

/// Built-in functions and collections with much to do, whose work is done on a dirty scheduler
/// (nif/dirty.hpp): what a process and its built-in functions know of that. In the process's own
/// thread.
namespace vmrun {

enum class DirtyKind : std::uint8_t { kNone, kCpu, kIo };

/// A built-in function at work on a dirty scheduler, or a collection.
struct DirtyJob {
  BifFn body;  // nullptr: makes `need` words free
  DirtyKind kind;
  unsigned arity;
  static constexpr unsigned kMaxArguments = 5;
  Term arguments[kMaxArguments];
  Term result;
  bool done = false;
  Word need = 0;
  // Of one that uses nothing of the process but its heap: schedulers see to its signals meanwhile
  // (dirty_state.hpp). The function that others see it in.
  FunctionName name{};
  bool goes_away = false;
};
inline DirtyJob* dirty_job_of(const Process& p) { return p.extra ? p.extra->dirty_job : nullptr; }

/// What a built-in function says that turns out to have much to do: `body` is called with these
/// arguments on a dirty scheduler, whose BIFs run to their end. When that is done the interpreter
/// calls the built-in function again with the same arguments; it comes to the same conclusion, and
/// this time gets body's result, or its exception. body keeps the rules of bif.hpp, except that it
/// only returns a term or raises, and uses nothing of a scheduler. Not for guards.
Term run_on_dirty(Process& p, BifFn body, const Term* args, unsigned arity, DirtyKind kind = DirtyKind::kCpu);
/// The same for a body that uses nothing of the process but its heap and its exception: schedulers
/// see to its signals meanwhile (dirty_state.hpp), and `name` is where others see it.
Term run_away(Process& p, const FunctionName& name, BifFn body, const Term* args, unsigned arity,
              DirtyKind kind);
/// What the calling thread is.
extern constinit thread_local DirtyKind dirty_thread;
inline DirtyKind dirty_thread_kind() { return dirty_thread; }
/// The process that the calling thread, a dirty scheduler, is at work for; nullptr elsewhere.
extern constinit thread_local Process* dirty_process;

/// The process that the calling thread works for: the one that runs on this scheduler, or that of
/// dirty_process; nullptr when there is none.
Process* process_here();

/// While it lives, what the calling thread calls does not leave for a dirty scheduler: for callers
/// that could not call it again.
class StaysHere {
 public:
  StaysHere() : was_(dirty_thread) { dirty_thread = DirtyKind::kCpu; }
  ~StaysHere() { dirty_thread = was_; }
  StaysHere(const StaysHere&) = delete;

 private:
  const DirtyKind was_;
};

/// Whether work of so many steps (some ten nanoseconds each) is too much for the calling thread: is
/// never on a dirty scheduler.
inline constexpr Word kStepsOnScheduler = usual_or_small<Word>(20000, 200);
inline bool too_long(Word steps) { return steps > kStepsOnScheduler && dirty_thread == DirtyKind::kNone; }
/// The same, with the built-in function itself as the body, by one that does not know which of
/// several it is.
Term continue_on_dirty(Process& p);
/// What the interpreter does then, which knows.
void give_job(Process& p, BifFn body, const Term* args, unsigned arity);
/// Whether p comes back from elsewhere. A function asks first of all whose decision depends on more
/// than its arguments, and then says run_on_dirty again.
inline bool came_back(const Process& p) {
  const DirtyJob* job = dirty_job_of(p);
  return job && job->done;
}
/// How many steps the calling thread may do in one piece.
inline SWord steps_here() {
  return dirty_thread == DirtyKind::kNone ? static_cast<SWord>(kStepsOnScheduler) : INT64_MAX;
}

void visit_dirty_job(DirtyJob& job, void (*visit)(void* context, Term* terms, std::size_t count),
                     void* context);
/// The process ends, its job is not under way.
void abandon_dirty_job(Process& p);

}  // namespace vmrun
