// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"
#include "vm/trace/trace_session.hpp"

/// Tracing of processes (erlang:trace): events of a process go to the tracers (event.hpp) of the
/// sessions that trace it (trace_session.hpp). Flags and tracers belong to the process: they are
/// changed in the thread that runs it, also on request of others. An event that no session traces
/// costs a test of Process::observed. Behaviour: docs/internals/tracing.md.
namespace vmrun {

struct TraceState;

/// The flags of meta tracing, whatever the process is traced for.
inline constexpr std::uint32_t kMetaFlags = kTraceCall | kTraceNow;
inline constexpr std::uint32_t kTraceInherits =
    kTraceSetOnSpawn | kTraceSetOnFirstSpawn | kTraceSetOnLink | kTraceSetOnFirstLink;

/// Changes what a session traces of p. Switching on needs a tracer, which the caller keeps. Returns
/// false when p has another tracer in this session already.
bool set_tracing(Process& p, const SessionRef& session, bool on, std::uint32_t flags, Tracer* tracer);
/// Switches flags off and others on, and makes this tracer p's, whatever tracer it had before in
/// this session. Returns whether anything has changed.
bool change_tracing(Process& p, const SessionRef& session, std::uint32_t off, std::uint32_t on,
                    Tracer& tracer);
/// Executes a request of another process: {On, Flags, To, State, Session} for set_tracing, with
/// `link` for On when a link is the cause; {trace, Off, On, To, State, Session} for change_tracing.
/// Session is the session's number.
bool trace_as_asked(Process& p, Term wish);
/// Returns what a request wants to know of a session, {Item, Session}: the flags as a number, or
/// the tracer as trace_info shows it. For {session, 0}: the sessions that trace p.
Term trace_info(Process& p, Term request, Heap& out);
Term tracer_term(const Tracer* tracer, Heap& out);
/// Returns the sessions as {Name, Id}.
Term sessions_term(const Tracings& tracings, Heap& out);
/// Returns what a session traces of p; nullptr when it does not trace p, or has no tracer any more.
/// Valid until tracing changes.
Tracing* tracing_of(Process& p, Word session);
/// Whether any process has ever been traced for events of its life. Until then no process needs to
/// be asked.
extern std::atomic<bool> lives_were_traced;
/// Ends a session's tracing of p.
void forget_tracing(Process& p, Word session);
/// Sets or removes flags of a session that traces p; silence needs no tracer.
void set_trace_flag(Process& p, const SessionRef& session, bool on, std::uint32_t flag);
/// Some sessions have ended: p's part of them is removed.
void forget_ended_sessions(Process& p);
/// Gives up what a process that ends carries of tracing.
void release_tracing(TraceState& c);

/// Reports {trace, Pid, Event, What [, Extra]} to each session that traces p for any of the flags,
/// with a time stamp if wanted. The terms may lie in p's heap or in any other place that stays.
[[gnu::cold]] void trace_event(Process& p, std::uint32_t flags, Term event, Term what,
                               Term extra = kNonValue);
/// Reports it to one session, whose part may be gone afterwards. result: from a match
/// specification.
[[gnu::cold]] void trace_event_of(Process& p, const Tracing& tracing, Term event, Term what,
                                  Term extra = kNonValue, Term result = kNonValue);
/// Reports it to a tracer that may no longer be p's. flags: for the time stamp. Returns false if it
/// does not want to trace p any more.
[[gnu::cold]] bool trace_event_to(const Tracer& tracer, Process& p, std::uint32_t flags, Term event,
                                  Term what, Term extra = kNonValue, Term result = kNonValue);

/// The sessions that trace p; nullptr when there are none.
Tracings* tracings_of(const Process& p);

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
    trace_event(p, kTraceProcs, event, a, b);
}
/// Reports the new child of a traced parent, or of any parent while new processes are traced.
/// Called before the child can run.
void trace_spawn(Process& parent, Process& child, Term arguments, bool link);
/// Reports the new child of a process of another node, while new processes are traced. Called
/// before it can run. As in OTP it is reported as a call of erts_internal:dist_spawn_init/1, since
/// the arguments need not be decoded yet.
void trace_remote_spawn(Term parent, Process& child, bool link);
inline bool new_processes_traced() { return sessions_of_new_processes.load(std::memory_order_relaxed); }
/// p ends: reports exit, and unregister if it has a name.
[[gnu::cold]] void trace_exit(Process& p, Term reason);
/// p starts running or stops. flags: the sessions that are told.
void trace_running(Process& p, bool in, std::uint32_t flags = kTraceRunning | kTraceRunningProcs);
/// Reports the end of p: in_exiting or out_exiting between two pieces of it; out_exited is the last
/// event.
void trace_exiting(Process& p, Term event);
/// A collection begins or ends in a process that is traced for it, or that awaits returns.
void trace_gc(Process& p, Term event, Word words);
/// A process that is traced for its collections is larger than its max_heap_size.
void trace_max_heap_passed(Process& p);

}  // namespace vmrun
