// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"
#include "vm/trace/event.hpp"

/// Tracing of processes (erlang:trace): events of a process go to its tracer (event.hpp). The flags
/// and the tracer belong to the process: they are changed in the thread that runs it, also on
/// request of others. An event that is not traced costs a test of Process::observed. Behaviour:
/// docs/internals/tracing.md.
namespace vmrun {

struct TraceState;

/// The flags of meta tracing, whatever the process is traced for.
inline constexpr std::uint32_t kMetaFlags = kTraceCall | kTraceNow;
inline constexpr std::uint32_t kTraceInherits =
    kTraceSetOnSpawn | kTraceSetOnFirstSpawn | kTraceSetOnLink | kTraceSetOnFirstLink;

/// Changes what is traced of p. Switching on needs a tracer, which the caller keeps. Returns false
/// when p has another tracer already.
bool set_tracing(Process& p, bool on, std::uint32_t flags, Tracer* tracer);
/// Switches flags off and others on, and makes this tracer p's, whatever tracer it had before.
/// Returns whether anything has changed.
bool change_tracing(Process& p, std::uint32_t off, std::uint32_t on, Tracer& tracer);
/// Executes a request of another process: {On, Flags, To, State} for set_tracing, {trace, Off, On,
/// To, State} for change_tracing.
bool trace_as_asked(Process& p, Term wish);
/// Returns what a request wants to know: the flags as a number, or the tracer as trace_info shows
/// it.
Term trace_info(Process& p, Term item, Heap& out);
Term tracer_term(const Tracer* tracer, Heap& out);
/// Returns p's tracer; nullptr if it has none (any more).
Tracer* tracer_of(Process& p);
/// Whether any process has ever been traced for events of its life. Until then no process needs to
/// be asked.
extern std::atomic<bool> lives_were_traced;
/// Drops p's tracer. Called at its end.
void forget_tracer(Process& p);
/// Gives up what a process that ends carries of tracing.
void release_tracing(TraceState& c);

/// Reports {trace, Pid, Event, What [, Extra] [, Result]}, with a time stamp if wanted. The terms
/// may lie in p's heap or in any other place that stays. result: from a match specification.
[[gnu::cold]] void trace_event(Process& p, Term event, Term what, Term extra = kNonValue,
                               Term result = kNonValue);
/// Reports it to a tracer that may no longer be p's. flags: for the time stamp. Returns false if it
/// does not want to trace p any more.
[[gnu::cold]] bool trace_event_to(const Tracer& tracer, Process& p, std::uint32_t flags, Term event,
                                  Term what, Term extra = kNonValue, Term result = kNonValue);

inline bool is_traced(const Process& p, std::uint32_t flags) { return p.observed & flags; }
inline bool awaits_returns(const Process& p) { return p.observed & kAwaitsReturns; }

// ---- Events -------------------------------------------------------------------------------------

// Report messages, if the patterns for them allow it (message_pattern.hpp).
[[gnu::cold]] void tell_send(Process& p, Term to, Term message, bool exists);
[[gnu::cold]] void tell_receive(Process& p, const Fragment& f);
[[gnu::cold]] void tell_timeout(Process& p);

/// p sends a message. to: as the program has named it. exists: whether there is such a process.
inline void trace_send(Process& p, Term to, Term message, bool exists = true) {
  if (!is_traced(p, kTraceSend)) return;
  tell_send(p, to, message, exists);
}
/// A message has come to p; a receive of p has timed out.
inline void trace_receive(Process& p, const Fragment& f) {
  if (is_traced(p, kTraceReceive)) [[unlikely]]
    tell_receive(p, f);
}
inline void trace_timeout(Process& p) {
  if (is_traced(p, kTraceReceive)) [[unlikely]]
    tell_timeout(p);
}
/// Reports spawn, link, register, exit and so on.
inline void trace_procs(Process& p, Term event, Term a, Term b = kNonValue) {
  if (is_traced(p, kTraceProcs)) [[unlikely]]
    trace_event(p, event, a, b);
}
/// Reports the new child of a traced parent, or of any parent while new processes are traced.
/// Called before the child can run.
void trace_spawn(Process& parent, Process& child, Term arguments, bool link);
/// Reports the new child of a process of another node, while new processes are traced. Called
/// before it can run. As in OTP it is reported as a call of erts_internal:dist_spawn_init/1, since
/// the arguments need not be decoded yet.
void trace_remote_spawn(Term parent, Process& child, bool link);
inline bool new_processes_traced() { return new_processes.any(); }
/// p ends: reports exit, and unregister if it has a name.
[[gnu::cold]] void trace_exit(Process& p, Term reason);
/// p starts running or stops.
void trace_running(Process& p, bool in);
/// Reports the end of p: in_exiting or out_exiting between two pieces of it; out_exited is the last
/// event.
void trace_exiting(Process& p, Term event);
/// A collection begins or ends in a process that is traced for it.
void trace_gc(Process& p, Term event, Word words);

}  // namespace vmrun
