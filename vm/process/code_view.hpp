#pragma once

#include "vm/process/process.hpp"
#include "vm/process/return_address.hpp"
#include "vm/term/fun.hpp"

/// What processes, schedulers and tracing need to know of code; filled in by vm/code before main
/// begins. Any thread that holds an epoch.
namespace vmrun {

struct CodeView {
  const FunctionHeader* (*header_at)(const Word* address) = [](const Word*) -> const FunctionHeader* {
    return nullptr;
  };
  /// {File, Line} of an address, or undefined.
  Term (*location)(const Word* address, Heap& out) = [](const Word*, Heap&) { return atoms::undefined; };
  Term (*stacktrace)(Process& p, Heap& out, unsigned depth) = [](Process&, Heap&, unsigned) {
    return Term::nil();
  };
  /// Whether the process is in the middle of the old version of a module. In its own thread.
  bool (*runs_old_code)(const Process& p, Term module) = [](const Process&, Term) { return false; };
  /// What a process does so that code and literals can be given back (code/reclaim.hpp), in its own
  /// thread between two slices. May collect. nullptr: it has ended. Returns what that counts in
  /// reductions, or kTooLong: nothing has been done, and it is to be called on a dirty scheduler.
  static constexpr std::int32_t kTooLong = -1;
  std::int32_t (*take_part_in_reclaim)(Process* p) = [](Process*) { return 0; };
  /// Nothing is given back between these two: somebody refers to code or literals who cannot take
  /// part. They may be nested.
  void (*hold_reclaim)() = [] {};
  void (*release_reclaim)() = [] {};
};
extern constinit CodeView code_view;

struct FunctionName {
  Term module, function;
  unsigned arity = 0;
};

/// The function a process at rest goes on in: the one that holds its resume point, or its initial
/// call when that is code of the machine's own (it has not run yet, or its last call was native).
inline FunctionName resume_function(const Process& p) {
  if (p.ip) {
    const Word* const at = p.ip == ends_of_calls ? return_address_at(p.heap.stop) - 1 : p.ip;
    if (const FunctionHeader* f = code_view.header_at(at)) return {f->module, f->function, f->arity};
  }
  return {p.initial_module, p.initial_function, p.initial_arity};
}

/// Call stack of a process that is scheduled out, or of the calling process in a BIF: [{Module,
/// Function, Arity, [{file, File}, {line, Line}]}], at most `depth` entries, innermost first. Built
/// in `out`.
inline Term current_stacktrace(Process& p, Heap& out, unsigned depth) {
  return code_view.stacktrace(p, out, depth);
}

}  // namespace vmrun
