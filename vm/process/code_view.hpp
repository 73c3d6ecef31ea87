// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"
#include "vm/process/process_upcalls.hpp"
#include "vm/process/return_address.hpp"
#include "vm/term/fun.hpp"

/// What processes, schedulers and tracing need to know of code (process_upcalls.hpp). Any thread
/// that holds an epoch.
namespace vmrun {

/// Said by ProcessUpcalls::take_part_in_reclaim.
inline constexpr std::int32_t kTooLongToReclaim = -1;

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
    if (const FunctionHeader* f = process_upcalls.header_at(at)) return {f->module, f->function, f->arity};
  }
  return {p.initial_module, p.initial_function, p.initial_arity};
}

/// Returns the call stack of a process that is scheduled out, or of the calling process in a BIF:
/// [{Module, Function, Arity, [{file, File}, {line, Line}]}], at most `depth` entries, innermost
/// first. It is built in `out`.
inline Term current_stacktrace(Process& p, Heap& out, unsigned depth) {
  return process_upcalls.stacktrace(p, out, depth);
}

}  // namespace vmrun
