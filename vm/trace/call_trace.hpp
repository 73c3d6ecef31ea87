// SPDX-License-Identifier: Apache-2.0
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
/// functions (function_probes.hpp), which all processes reach; other functions cost nothing extra.
/// A process that awaits a return there runs the traced instructions until that return has come.
///
/// A return that is to be reported is recorded with the depth of the stack at the call. The return
/// instruction that leaves the stack at that depth is the one, also when the function ended in
/// calls of others. An exception that unwinds beyond that depth has left the function.
namespace vmrun {

/// Whether p has to run the traced instructions, whatever other processes do.
inline bool runs_traced(const Process& p) { return p.observed & (kTraceCall | kAwaitsReturns | kSavesCalls); }

/// A call and the result of its match specification: message true reports it, false does not, and
/// any other term is added to the report.
struct TracedCall {
  const FunctionHeader& function;
  Word depth;
  const SessionRef& session;  // of the pattern
  Term message = atoms::true_;
  bool returns = false, exceptions = false;
};

/// Returns the function that a call returns to, as {M, F, A}, or with_line as {M, F, A, {File,
/// Line}}, where undefined stands for an unknown place. Returns undefined when there is no such
/// function. Called in the thread that runs p, at the call.
Term caller_of(Process& p, const TracedCall& call, bool with_line, Heap& out);

/// Returns an address in the code that the call returns to, if that is not on the stack yet: at a
/// call that is not a tail call, and at a call of a built-in. nullptr: the stack has it, or there
/// is none.
const Word* awaited_return(const Process& p, const TracedCall& call);

/// The word that specifications read and set (get_tcw, set_tcw, system_flag): one for all sessions.
extern std::atomic<std::uint32_t> trace_control_word;

// Called at the instructions of a process with kTraceCall, with everything stored back. depth: as
// the function probes count it. args: argument registers.
void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth);
void return_traced(Process& p, Term value, Word depth);
/// Any process has called a function that has a breakpoint.
void breakpoint_reached(Process& p, const FunctionHeader& f, const Term* args, Word depth);
/// The built-in goes on as another function. depth: of the stack there.
void built_in_trapped(Process& p, const FunctionHeader& f, Word depth);
/// result: kNonValue when the built-in did not return one.
void built_in_returned(Process& p, const FunctionHeader& f, Term result, Word depth);
/// An exception leaves all calls that lie deeper than `depth`. handler: where it is caught; nullptr
/// if it is not caught.
void exception_traced(Process& p, Word depth, const Word* handler);

/// Returns class and reason of p's exception, which leaves a function. A throw that is not caught
/// is an error. New terms are built in `out`.
void exception_terms(const Process& p, bool is_caught, Heap& out, Term (&terms)[2]);

// Called where p's slice begins and ends, since functions are charged only while they run.
void call_time_begins(Process& p);
void call_time_ends(Process& p);
// Called where a collection of p begins and ends, since words are counted by the size of the heap.
void call_memory_stops(Process& p);
void call_memory_goes_on(Process& p);
/// Called before p takes the message. One that is a literal brings no words along, but costs as
/// many as a copy would, as in OTP. The words of a pinned one are counted already.
void call_memory_receives(Process& p, const Fragment& message);

/// What OTP keeps on the stack above the return address of a traced call: one frame for each
/// return_trace or exception_trace, and one for return_to.
struct TraceFrame {
  FunctionName name;             // the function whose return is awaited; without a module: a return_to
  const Word* entry = nullptr;   // of that function, whose code may be gone
  const Tracer* meta = nullptr;  // told instead of the tracer of the process
};
/// Returns the frames above the return address at that depth, newest first. Called in the thread
/// that runs p, or with the machine stopped. Valid until p goes on.
std::vector<TraceFrame> trace_frames_at(const Process& p, Word depth);

/// Frees what a process keeps of traced calls; nullptr is allowed.
void free_awaited_returns(struct AwaitedReturns* returns);

}  // namespace vmrun
