#pragma once

#include "vm/process/process_state.hpp"
#include "vm/trace/event.hpp"

/// Tracing of processes (erlang:trace): events of a process go to its tracer (event.hpp). What is
/// traced of a process, and by whom, is its own: changed in its own thread, on request of others.
/// An event that is not traced costs a test of Process::observed. Behaviour:
/// docs/internals/tracing.md.
namespace vmrun {

/// Those of meta tracing, whatever the process is traced for.
inline constexpr std::uint32_t kMetaFlags = kTraceCall | kTraceNow;
/// A bit of the same word: returns of calls are awaited (call_trace.hpp).
inline constexpr std::uint32_t kAwaitsReturns = 1u << 4;
inline constexpr std::uint32_t kTraceInherits =
    kTraceSetOnSpawn | kTraceSetOnFirstSpawn | kTraceSetOnLink | kTraceSetOnFirstLink;

/// Changes what is traced of p. Switching on needs a tracer, which stays with the caller. False
/// when p has another tracer already.
bool set_tracing(Process& p, bool on, std::uint32_t flags, Tracer* tracer);
/// Switches flags off and others on, and has p traced by this tracer, whoever traced it before.
/// Whether anything has changed.
bool change_tracing(Process& p, std::uint32_t off, std::uint32_t on, Tracer& tracer);
/// The same for a request of another process: {On, Flags, To, State} for set_tracing, {trace, Off,
/// On, To, State} for change_tracing.
bool trace_as_asked(Process& p, Term wish);
/// What a request wants to know: the flags as a number, or the tracer as trace_info shows it.
Term trace_info(Process& p, Term item, Heap& out);
Term tracer_term(const Tracer* tracer, Heap& out);
/// p's tracer, nullptr if none (any more).
Tracer* tracer_of(Process& p);
/// Whether any process has been traced for its life, ever: before, nobody need ask another one.
extern std::atomic<bool> lives_were_traced;
/// Drops p's tracer; at its end.
void forget_tracer(Process& p);

/// {trace, Pid, Event, What [, Extra] [, Result]} with a time stamp if wanted. All of them may be
/// in p's heap or in any other place that stays. result: of a match specification.
[[gnu::cold]] void trace_event(Process& p, Term event, Term what, Term extra = kNonValue,
                               Term result = kNonValue);
/// The same to a tracer that may no longer be p's. flags: of the time stamp. False: it does not
/// want to trace p any more.
[[gnu::cold]] bool trace_event_to(const Tracer& tracer, Process& p, std::uint32_t flags, Term event,
                                  Term what, Term extra = kNonValue, Term result = kNonValue);

inline bool is_traced(const Process& p, std::uint32_t flags) { return p.observed & flags; }
inline bool awaits_returns(const Process& p) { return p.observed & kAwaitsReturns; }

// ---- Events -------------------------------------------------------------------------------------

// Of messages, if the patterns for them let it through (message_pattern.hpp).
[[gnu::cold]] void tell_send(Process& p, Term to, Term message, bool exists);
[[gnu::cold]] void tell_receive(Process& p, const Fragment& f);
[[gnu::cold]] void tell_timeout(Process& p);

/// A message p sends; to: as the program named it. exists: whether there is such a process.
inline void trace_send(Process& p, Term to, Term message, bool exists = true) {
  if (!is_traced(p, kTraceSend)) return;
  tell_send(p, to, message, exists);
}
/// A message that came to p; a receive of p that has waited long enough.
inline void trace_receive(Process& p, const Fragment& f) {
  if (is_traced(p, kTraceReceive)) [[unlikely]]
    tell_receive(p, f);
}
inline void trace_timeout(Process& p) {
  if (is_traced(p, kTraceReceive)) [[unlikely]]
    tell_timeout(p);
}
/// spawn, link, register, exit and so on.
inline void trace_procs(Process& p, Term event, Term a, Term b = kNonValue) {
  if (is_traced(p, kTraceProcs)) [[unlikely]]
    trace_event(p, event, a, b);
}
/// The new child of a traced parent, or of anybody while new processes are traced; before it can
/// run.
void trace_spawn(Process& parent, Process& child, Term arguments, bool link);
/// The new child of a process of another node, while new processes are traced; before it can run.
/// As in OTP it is told as a call of erts_internal:dist_spawn_init/1: the arguments need not be
/// decoded yet.
void trace_remote_spawn(Term parent, Process& child, bool link);
inline bool new_processes_traced() { return new_processes.any(); }
/// p ends: exit, and unregister if it has a name.
[[gnu::cold]] void trace_exit(Process& p, Term reason);
/// p starts running or stops.
void trace_running(Process& p, bool in);
/// The end of p, in_exiting or out_exiting between two pieces of it; out_exited is the last event.
void trace_exiting(Process& p, Term event);
/// A collection of a process traced for that begins or ends.
void trace_gc(Process& p, Term event, Word words);

}  // namespace vmrun
