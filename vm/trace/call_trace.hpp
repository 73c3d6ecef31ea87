#pragma once

#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"

/// Tracing of calls (erlang:trace with the flag call): which functions are traced, and with what
/// match specification; what happens at calls and returns of a process that has the flag. Such a
/// process runs the traced instructions (interpreter.cpp); others pay nothing.
///
/// A return that is to be told of is remembered with the depth of the stack at the call: the return
/// instruction that leaves the stack at that depth is the one, also when the function ended in
/// calls of others. An exception that unwinds beyond that depth has left it.
namespace vmrun {

/// How one clause of a specification goes on when it matches.
inline constexpr unsigned kCallReturns = 1, kCallExceptions = 2, kCallSilent = 4, kCallLoud = 8;

/// For M:F/A, present or future. specification: list of {Spec, Actions}, each Spec a specification
/// of one clause over {Arguments, Caller} whose result is true (tell), false (do not) or what goes
/// along; nil: always tell. original: what trace_info shows.
void set_call_pattern(Term module, Term function, unsigned arity, bool local, Term specification,
                      Term original);
/// False when there was none.
bool clear_call_pattern(Term module, Term function, unsigned arity);
/// {global | local, Original}, or undefined.
Term call_pattern_term(Term module, Term function, unsigned arity, Heap& out);

/// Result of a specification of one clause for an object, kNonValue if it does not match. Set by
/// whoever has match specifications.
extern Term (*match_call)(Process& p, Term specification, Term object);

// At the instructions of a process with kTraceCall, everything stored back. depth as the function
// probes count it; args: argument registers.
void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth);
void return_traced(Process& p, Term value, Word depth);
/// result: kNonValue when the built-in did not return one.
void built_in_returned(Process& p, const FunctionHeader& f, Term result, Word depth);
/// An exception leaves all that lies deeper than `depth`.
void exception_traced(Process& p, Word depth);

/// What a process remembers of traced calls; nullptr is fine.
void free_awaited_returns(struct AwaitedReturns* returns);

}  // namespace vmrun
