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

/// What a process remembers of traced calls (code/call_trace.hpp); nullptr is fine.
void free_awaited_returns(struct AwaitedReturns* returns);

}  // namespace vmrun
