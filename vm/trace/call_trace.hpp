#pragma once

#include <vector>

#include "vm/process/code_view.hpp"
#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"
#include "vm/trace/calls_under_way.hpp"
#include "vm/trace/saved_calls.hpp"
#include "vm/trace/trace.hpp"

/// Tracing of calls: what happens at calls and returns of functions that have a pattern
/// (call_pattern.hpp). A process with the flag call runs the traced instructions (interpreter.cpp)
/// and looks every function up. Meta tracing and counting are breakpoints in the code of their
/// functions (function_probes.hpp), which all processes run into; others pay nothing. A process
/// that awaits a return there runs the traced instructions until that has come.
///
/// A return that is to be told of is remembered with the depth of the stack at the call: the return
/// instruction that leaves the stack at that depth is the one, also when the function ended in
/// calls of others. An exception that unwinds beyond that depth has left it.
namespace vmrun {

/// Whether p is to run the traced instructions, whoever else does.
inline bool runs_traced(const Process& p) { return p.observed & (kTraceCall | kAwaitsReturns | kSavesCalls); }

/// A call that is looked at, and what its match specification says: message true tells of it, false
/// does not, any other term goes along.
struct TracedCall {
  const FunctionHeader& function;
  Word depth;
  Term message = atoms::true_;
  bool returns = false, exceptions = false;
};

/// Whether a newer version of a function's module is current: as in OTP patterns do not apply to it
/// any more. Filled in by vm/code.
extern bool (*is_replaced)(const FunctionHeader& f);
/// Runs a specification for a call in p: whether a clause matches. Set by whoever has match
/// specifications.
extern bool (*match_call)(Process& p, Term specification, Term arguments, TracedCall& call);

/// The function that a call returns to, as {M, F, A}, or with_line {M, F, A, {File, Line}}, where
/// undefined stands for a place that is not known; undefined when there is none. In p's thread, at
/// the call.
Term caller_of(Process& p, const TracedCall& call, bool with_line, Heap& out);

/// In the code that the call returns to, if that is not on the stack yet: at a call that is no last
/// one, and at one of a built-in. nullptr: the stack has it, or there is none.
const Word* awaited_return(const Process& p, const TracedCall& call);

/// What specifications read and set (get_tcw, set_tcw, system_flag).
extern std::atomic<std::uint32_t> trace_control_word;

// At the instructions of a process with kTraceCall, everything stored back. depth as the function
// probes count it; args: argument registers.
void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth);
void return_traced(Process& p, Term value, Word depth);
/// Of any process: a call of a function that has a breakpoint.
void breakpoint_reached(Process& p, const FunctionHeader& f, const Term* args, Word depth);
/// The built-in goes on as another function; depth: of the stack there.
void built_in_trapped(Process& p, const FunctionHeader& f, Word depth);
/// result: kNonValue when the built-in did not return one.
void built_in_returned(Process& p, const FunctionHeader& f, Term result, Word depth);
/// An exception leaves all that lies deeper than `depth`; handler: where it is caught, nullptr for
/// one that nobody catches.
void exception_traced(Process& p, Word depth, const Word* handler);

/// Class and reason of p's exception, which leaves a function: a throw that nobody catches is an
/// error. Built in `out` as far as they are new.
void exception_terms(const Process& p, bool is_caught, Heap& out, Term (&terms)[2]);

// Where p's slice begins and ends: the time of functions is the time they run.
void call_time_begins(Process& p);
void call_time_ends(Process& p);

/// What OTP keeps on the stack above the return address of a traced call: a frame for each
/// return_trace or exception_trace, and one for return_to.
struct TraceFrame {
  FunctionName name;             // whose return is awaited; no module: a return_to
  const Word* entry = nullptr;   // of that function, whose code may be gone
  const Tracer* meta = nullptr;  // told instead of the tracer of the process
};
/// Those above the return address at that depth, newest first. In p's thread, or with the machine
/// stopped; good until p goes on.
std::vector<TraceFrame> trace_frames_at(const Process& p, Word depth);

/// What a process remembers of traced calls; nullptr is fine.
void free_awaited_returns(struct AwaitedReturns* returns);

}  // namespace vmrun
