#pragma once

#include "vm/process/process.hpp"
#include "vm/process/return_address.hpp"
#include "vm/term/fun.hpp"

/// What processes, schedulers and tracing need to know about code. vm/code sets it before main
/// begins. Any thread that holds an epoch may call these functions.
namespace vmrun {

struct CodeView {
  const FunctionHeader* (*header_at)(const Word* address) = [](const Word*) -> const FunctionHeader* {
    return nullptr;
  };
  /// Returns {File, Line} of an address, or undefined.
  Term (*location)(const Word* address, Heap& out) = [](const Word*, Heap&) { return atoms::undefined; };
  Term (*stacktrace)(Process& p, Heap& out, unsigned depth) = [](Process&, Heap&, unsigned) {
    return Term::nil();
  };
  /// Whether the process runs, or will return to, the old version of a module. Called by its own
  /// thread.
  bool (*runs_old_code)(const Process& p, Term module) = [](const Process&, Term) { return false; };
  /// Does what a process must do so that code and literals can be freed (code/reclaim.hpp). Called
  /// by its own thread between two slices; nullptr: a process has ended. May collect. Returns the
  /// cost in reductions, or kTooLong, which means that nothing has been done and that it must be
  /// called on a dirty scheduler.
  static constexpr std::int32_t kTooLong = -1;
  std::int32_t (*take_part_in_reclaim)(Process* p) = [](Process*) { return 0; };
  /// Nothing is freed between these two: something that cannot take part refers to code or
  /// literals. The pairs may be nested.
  void (*hold_reclaim)() = [] {};
  void (*release_reclaim)() = [] {};
};
extern constinit CodeView code_view;

struct FunctionName {
  Term module, function;
  unsigned arity = 0;
};

/// Returns the function in which a process that does not run continues. It is the function that
/// holds the resume point, or the initial call when the resume point is code of the machine's own
/// (the process has not run yet, or its last call was native).
inline FunctionName resume_function(const Process& p) {
  if (p.ip) {
    const Word* const at = p.ip == ends_of_calls ? return_address_at(p.heap.stop) - 1 : p.ip;
    if (const FunctionHeader* f = code_view.header_at(at)) return {f->module, f->function, f->arity};
  }
  return {p.initial_module, p.initial_function, p.initial_arity};
}

/// Returns the call stack of a process that is scheduled out, or of the calling process in a BIF:
/// [{Module, Function, Arity, [{file, File}, {line, Line}]}], at most `depth` entries, innermost
/// first. It is built in `out`.
inline Term current_stacktrace(Process& p, Heap& out, unsigned depth) {
  return code_view.stacktrace(p, out, depth);
}

}  // namespace vmrun
