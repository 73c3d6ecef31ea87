// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/process/bif.hpp"

/// Raising, unwinding and stack traces. Called in the thread that runs the process, with top and
/// stop stored back.
///
/// A trace is captured as a pair [Head|Addresses]. Addresses is a big integer object; its limbs are
/// the class and code addresses. It becomes a list only when a program looks at it. Head says what
/// stands at or before the innermost frame:
///   []                          nothing special
///   {Arguments}                 the innermost function's arguments replace its arity
///                               (function_clause, error/2)
///   {Arguments, Info}           as before, with error_info (error/3, segments of binaries);
///                               Arguments may be `none`
///   {M, F, Arguments, Location} a built-in that failed, called by the innermost function
/// A trace given to erlang:raise/3 is [List|Class]. Before the exception is handled,
/// p.exception_trace is one of: [] (raised by a built-in that shows in the trace), `true` (by a
/// built-in that does not show, such as error/1), a Head tuple, or a trace as above, which is kept.
namespace vmrun {

struct Export;
struct FunctionHeader;

/// The number of frames that a trace shows; at least one is shown. Set by
/// erlang:system_flag(backtrace_depth, N).
inline constexpr unsigned kMaxBacktraceDepth = 64;
extern std::atomic<unsigned> backtrace_depth;

/// Captures the trace unless there is one, and finds the innermost catch. Returns where to go on
/// (stop and x0...x3 are set), or nullptr when nothing catches the exception. ip: the failing
/// instruction; nullptr when the failing code has no frame (a built-in called last).
const Word* handle_exception(Process& p, const Word* ip, Term* x);

/// Captures the trace unless there is one, of a built-in function that the instruction calls and
/// that has failed. If that instruction is also where the innermost frame returns to, the frame is
/// left out, as in OTP, which takes the two addresses for a repeated one: in a recursion that fails
/// in the call that follows the recursive one.
void capture_in_bif(Process& p, const Word* call);

/// Sets the function that finds the cause when this built-in has failed. Called before any process
/// runs.
void set_failure_cause(const Export& bif, FailureCause find);

/// Returns the Head tuple of a failed built-in.
Term bif_trace_head(Process& p, const Export& bif, const Term* args);
/// Returns {Arguments} of the function that was entered with these.
Term arguments_head(Process& p, const Term* args, unsigned arity);

/// Returns the reason with which the process ends when the exception is not caught: Reason,
/// {Reason,Stack} or {{nocatch,Value},Stack}. *report: whether it is a crash.
Term uncaught_reason(Process& p, bool* report);

/// Returns the frames of a process from p.ip on (nullptr: from its innermost caller), as a list
/// built in `out`.
Term stack_frames(Process& p, Heap& out, unsigned depth);
/// As above, from another address inside the innermost function on.
Term stack_frames_from(Process& p, const Word* innermost, Heap& out, unsigned depth);

/// {File, Line} of an address, or undefined.
Term source_place(const Word* address, Heap& out);
/// Whether a newer version of the function's module is current.
bool is_of_replaced_version(const FunctionHeader& f);

/// build_stacktrace: returns a captured trace as a list.
Term build_stacktrace(Process& p, Term trace);
/// catch_end: returns the value of a `catch` after an exception, from x1 (class), x2 (value), x3
/// (trace).
Term caught_value(Process& p, const Term* x);
/// The instruction raise/2: raises again with the class and the trace that it had.
void reraise(Process& p, Term trace, Term value);
/// raw_raise: class x0, value x1, trace x2. Returns false if there is no such class.
bool raise_again(Process& p, const Term* x);
/// Sets an exception up with erlang:raise/3's trace. Returns false if `trace` is not a proper stack
/// trace list.
bool raise_with_trace(Process& p, ExceptionClass cls, Term value, Term trace);

}  // namespace vmrun
