// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/event.hpp"

#include <iterator>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/map.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

// ---- Tracers ------------------------------------------------------------------------------------

Tracer* Tracer::create(Term to, Term state) {
  auto* t = new Tracer;
  t->to = to;
  t->state = copy_to(t->arena, state, Literals::kCopied);
  return t;
}

void Tracer::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool Tracer::same(const Tracer& other) const { return to == other.to && equal_exact(state, other.state); }

bool is_there(const Tracer& tracer) {
  if (tracer.is_native()) return trace_upcalls.native_is_there(tracer.to);
  return tracer.to == atoms::dyntrace || tracer_is_there(tracer.to);
}

// ---- As a message -------------------------------------------------------------------------------

namespace {

TraceStamp stamp_of(std::uint32_t flags) {
  if (flags & kTraceNow) return TraceStamp::kNow;
  if (flags & kTraceStrictMonotonic) return TraceStamp::kStrictMonotonic;
  return flags & kTraceMonotonic ? TraceStamp::kMonotonic : TraceStamp::kNone;
}

/// Returns {trace, Tracee, Event, What, Extra, Result, Scheduler} or {trace_ts, Tracee, Event,
/// What, Extra, Result, Scheduler, Time}; missing elements are left out.
Term event_tuple(Arena& arena, const TraceEvent& e) {
  const TraceStamp stamp = stamp_of(e.flags);
  const Term time = stamp == TraceStamp::kNone ? kNonValue : make_trace_stamp(arena, stamp);
  const bool scheduler = e.flags & kTraceSchedulerId;
  const unsigned arity = 4 + (e.extra ? 1 : 0) + (e.result ? 1 : 0) + (scheduler ? 1 : 0) + (time ? 1 : 0);
  Term* hp = arena.alloc(1 + arity);
  const Term tuple = Term::boxed(hp);
  *hp++ = Term::header(Term::Sub::kTuple, arity);
  *hp++ = time ? atoms::trace_ts : atoms::trace;
  *hp++ = e.tracee;
  *hp++ = e.event;
  *hp++ = e.what;
  if (e.extra) *hp++ = e.extra;
  if (e.result) *hp++ = e.result;
  if (scheduler) *hp++ = Term::small(trace_upcalls.scheduler_number());
  if (time) *hp++ = time;
  return tuple;
}

// ---- As a call of native code -------------------------------------------------------------------

/// Which of the functions trace_GROUP and enabled_GROUP an event belongs to.
std::string_view group_of(const TraceEvent& e) {
  static constexpr struct {
    Term event;
    std::string_view group;
  } kGroups[] = {
      {atoms::send, "send"},
      {atoms::send_to_non_existing_process, "send"},
      {atoms::call, "call"},
      {atoms::return_to, "call"},
      {atoms::return_from, "call"},
      {atoms::exception_from, "call"},
      {atoms::gc_minor_start, "garbage_collection"},
      {atoms::gc_minor_end, "garbage_collection"},
      {atoms::gc_major_start, "garbage_collection"},
      {atoms::gc_major_end, "garbage_collection"},
      {atoms::gc_max_heap_size, "garbage_collection"},
      {atoms::in_exiting, "running_procs"},
      {atoms::out_exiting, "running_procs"},
      {atoms::out_exited, "running_procs"},
  };
  for (const auto& row : kGroups)
    if (row.event == e.event) return row.group;
  const bool of_port = e.tracee.is_local_port();
  if (e.event == atoms::in || e.event == atoms::out) return of_port ? "running_ports" : "running_procs";
  // The timeout of a port's timer counts as an event of its life.
  if (e.event == atoms::receive && !(of_port && e.what == atoms::timeout)) return "receive";
  return of_port ? "ports" : "procs";
}

Term ask(const Tracer& tracer, std::string_view group, Term event, Term tracee) {
  const Term arguments[] = {event, tracer.state, tracee};
  return trace_upcalls.call_native(tracer.to, "enabled", group, kNonValue, arguments, 3);
}

Term stamp_name(TraceStamp stamp) {
  switch (stamp) {
    case TraceStamp::kStrictMonotonic: return intern_atom("strict_monotonic");
    case TraceStamp::kMonotonic: return intern_atom("monotonic");
    default: break;
  }
  return intern_atom(cpu_stamps.load(std::memory_order_relaxed) ? "cpu_timestamp" : "timestamp");
}

/// Returns a map with extra, match_spec_result, scheduler_id, and timestamp (which kind to take),
/// as far as they are set.
Term options_of(Arena& arena, const TraceEvent& e) {
  Term pairs[8];
  Word n = 0;
  const auto add = [&](const char* key, Term value) {
    pairs[2 * n] = intern_atom(key);
    pairs[2 * n++ + 1] = value;
  };
  if (e.extra) add("extra", e.extra);
  if (e.result) add("match_spec_result", e.result);
  if (e.flags & kTraceSchedulerId) add("scheduler_id", Term::small(trace_upcalls.scheduler_number()));
  if (const TraceStamp stamp = stamp_of(e.flags); stamp != TraceStamp::kNone)
    add("timestamp", stamp_name(stamp));
  return map_from_pairs(arena, pairs, n);
}

/// Whether the event ends a call that was reported. As in OTP, it is reported without a question.
bool ends_call(Term event) {
  return event == atoms::return_from || event == atoms::return_to || event == atoms::exception_from;
}

bool tell_native(const Tracer& tracer, const TraceEvent& e) {
  const std::string_view group = group_of(e);
  if (!ends_call(e.event)) {
    const Term answer = ask(tracer, group, e.event, e.tracee);
    if (answer == atoms::discard) return true;
    if (answer != atoms::trace) return false;
  }
  Arena arena;
  const Term arguments[] = {e.event, tracer.state, e.tracee, e.what, options_of(arena, e)};
  const Term self = e.tracee.is_local_pid() ? e.tracee : kNonValue;
  (void)trace_upcalls.call_native(tracer.to, "trace", group, self, arguments, 5);
  return true;
}

}  // namespace

bool still_traces(const Tracer& tracer, Term tracee) {
  if (!is_there(tracer)) return false;
  static const Term trace_status = intern_atom("trace_status"), remove = intern_atom("remove");
  return !tracer.is_native() || ask(tracer, {}, trace_status, tracee) != remove;
}

bool wants_calls(const Tracer& tracer, Term tracee) {
  return ask(tracer, "call", atoms::call, tracee) == atoms::trace;
}

bool tell(const Tracer& tracer, const TraceEvent& e) {
  if (tracer.to == e.tracee) return true;  // a process or port sends itself no events
  if (tracer.is_native()) return tell_native(tracer, e);
  if (tracer.to == atoms::dyntrace) {
    if (probe::trace_enabled())
      probe::fire_trace(e.tracee, e.event, tracer.state, e.what, e.extra ? e.extra : e.result);
    return true;
  }
  Arena arena;
  deliver_trace_event(tracer.to, event_tuple(arena, e));
  return true;
}

bool wants_seq_trace(const Tracer& tracer, Term tracee) {
  return ask(tracer, {}, atoms::seq_trace, tracee) == atoms::trace;
}

void tell_seq_trace(const Tracer& tracer, Term label, Term info, TraceStamp stamp) {
  Arena arena;
  Term options = empty_map(arena);
  if (stamp != TraceStamp::kNone)
    options = map_put(arena, options, intern_atom("timestamp"), stamp_name(stamp));
  const Term arguments[] = {atoms::seq_trace, tracer.state, label, info, options};
  (void)trace_upcalls.call_native(tracer.to, "trace", {}, kNonValue, arguments, 5);
}

}  // namespace vmrun
