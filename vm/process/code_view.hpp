#pragma once

#include "vm/process/process.hpp"

/// What processes and schedulers need to know of code; vm/code implements it. Any thread that holds
/// an epoch.
namespace vmrun {

struct FunctionName {
  Term module, function;
  unsigned arity = 0;
};

/// The function a process at rest goes on in: the one that holds its resume point, or its initial
/// call when that is code of the machine's own (it has not run yet, or its last call was native).
FunctionName resume_function(const Process& p);

/// Call stack of a process that is scheduled out, or of the calling process in a BIF: [{Module,
/// Function, Arity, [{file, File}, {line, Line}]}], at most `depth` entries, innermost first. Built
/// in `out`.
Term current_stacktrace(Process& p, Heap& out, unsigned depth);

/// Whether the process is in the middle of the old version of a module. In its own thread.
bool runs_old_code(const Process& p, Term module);
/// What a process does so that code and literals can be given back (code/reclaim.hpp), in its own
/// thread between two slices. May collect. nullptr: it has ended.
void take_part_in_reclaim(Process* p);

/// What a process remembers of traced calls (code/call_trace.hpp); nullptr is fine.
void free_awaited_returns(struct AwaitedReturns* returns);

}  // namespace vmrun
