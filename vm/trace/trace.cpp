// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/trace.hpp"
#include "vm/trace/heap_sizes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/trace_state.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/calls_under_way.hpp"
#include "vm/trace/saved_calls.hpp"

namespace vmrun {

std::atomic<bool> lives_were_traced{false};

namespace {

Term call_term(Heap& heap, Term module, Term function, Term arguments) {
  Term* hp = heap.alloc(4);
  return make_tuple(hp, module, function, arguments);
}

}  // namespace

// ---- Sessions and tracers -----------------------------------------------------------------------

Tracings* tracings_of(const Process& p) {
  return p.extra && p.extra->trace_state ? p.extra->trace_state->tracings : nullptr;
}

void release_tracing(TraceState& c) {
  delete c.tracings;
  free_awaited_returns(c.awaited_returns);
  free_saved_calls(c.saved_calls);
  delete c.calls;
}

namespace {

Tracings& own_tracings_of(Process& p) {
  TraceState& c = trace_state_of(p);
  if (!c.tracings) c.tracings = new Tracings;
  return *c.tracings;
}

/// Called when the list has changed.
void sum_flags(Process& p, const Tracings& all) { p.observed = (p.observed & ~kTraceAll) | all.flags(); }

}  // namespace

Tracing* tracing_of(Process& p, Word session) {
  Tracings* all = tracings_of(p);
  if (!all || !all->find(session)) return nullptr;
  Tracing* t = all->find_alive(session);
  if (!t) sum_flags(p, *all);
  return t && t->tracer ? t : nullptr;
}

void forget_tracing(Process& p, Word session) {
  Tracings* all = tracings_of(p);
  if (!all) return;
  all->drop(session);
  sum_flags(p, *all);
}

void forget_ended_sessions(Process& p) {
  Tracings* all = tracings_of(p);
  if (!all) return;
  all->drop_ended();
  sum_flags(p, *all);
  if (!all->empty()) return;
  TraceState& c = *p.extra->trace_state;
  delete std::exchange(c.tracings, nullptr);
  if (!awaits_returns(p)) free_awaited_returns(std::exchange(c.awaited_returns, nullptr));
}

void set_trace_flag(Process& p, const SessionRef& session, bool on, std::uint32_t flag) {
  Tracings* all = on ? &own_tracings_of(p) : tracings_of(p);
  if (!all) return;
  all->set(session, p.id, on, flag, nullptr);
  sum_flags(p, *all);
}

bool set_tracing(Process& p, const SessionRef& session, bool on, std::uint32_t flags, Tracer* tracer) {
  Tracings* all = on ? &own_tracings_of(p) : tracings_of(p);
  if (!all) return true;
  const bool is_new = on && !all->find(session->number);
  const bool done = all->set(session, p.id, on, flags, tracer);
  if (is_new) p.observed |= flags & kTraceAll;
  else sum_flags(p, *all);
  if (on && done && flags & kTraceProcs && !lives_were_traced.load(std::memory_order_relaxed))
    lives_were_traced.store(true, std::memory_order_relaxed);
  return done;
}

bool change_tracing(Process& p, const SessionRef& session, std::uint32_t off, std::uint32_t on,
                    Tracer& tracer) {
  const KeptTracer kept(tracer.retain());  // it may be p's own
  const Tracing* old = tracing_of(p, session->number);
  const bool other_tracer = old && !old->tracer->same(tracer);
  const std::uint32_t before = old ? old->flags : 0;
  const std::uint32_t flags = (before & ~off) | on;
  set_tracing(p, session, false, other_tracer ? kTraceAll : off & ~on, nullptr);
  if (flags) set_tracing(p, session, true, flags, &tracer);
  return other_tracer || flags != before;
}

namespace {

std::uint32_t flags_in(Term wish, Word i) {
  return static_cast<std::uint32_t>(wish.element(i).small_value());
}

SessionRef session_in(Term wish, Word i) {
  return find_session(static_cast<Word>(wish.element(i).small_value()));
}

}  // namespace

bool trace_as_asked(Process& p, Term wish) {
  const Term what = wish.element(0);
  const bool changes = what == atoms::trace, on = what == atoms::true_ || what == atoms::link;
  const SessionRef session = session_in(wish, changes ? 5 : 4);
  if (!session) return false;
  const KeptTracer tracer(changes ? Tracer::create(wish.element(3), wish.element(4))
                          : on    ? Tracer::create(wish.element(2), wish.element(3))
                                  : nullptr);
  return changes ? change_tracing(p, session, flags_in(wish, 1), flags_in(wish, 2), *tracer.get())
                 : set_tracing(p, session, on, flags_in(wish, 1), tracer.get());
}

Term tracer_term(const Tracer* tracer, Heap& out) {
  if (!tracer) return Term::nil();
  if (!tracer->to.is_atom()) return tracer->to;
  const Term state = copy_to(out, tracer->state);
  Term* hp = out.alloc(3);
  return make_tuple(hp, tracer->to, state);
}

Term sessions_term(const Tracings& tracings, Heap& out) {
  // The list begins with the oldest session, as OTP's does.
  Term list = Term::nil();
  const_cast<Tracings&>(tracings).each(kTraceAll, [&](const Tracing& t) {
    if (!t.session->is_alive.load(std::memory_order_acquire)) return;
    const Term reference = t.session->weak_reference(out);
    Term* hp = out.alloc(2);
    list = make_cons(hp, reference, list);
  });
  return list;
}

Term trace_info(Process& p, Term request, Heap& out) {
  const Term item = request.element(0);
  static const Term session = intern_atom("session");
  if (item == session) {
    const Tracings* all = tracings_of(p);
    return all ? sessions_term(*all, out) : Term::nil();
  }
  const auto number = static_cast<Word>(request.element(1).small_value());
  const Tracing* t = tracing_of(p, number);
  if (t && !still_traces(*t->tracer, p.id)) {
    forget_tracing(p, number);
    t = nullptr;
  }
  return item == atoms::tracer ? tracer_term(t ? t->tracer : nullptr, out) : Term::small(t ? t->flags : 0);
}

// ---- Events -------------------------------------------------------------------------------------

namespace {

/// Whether the session lives and its tracer exists.
bool is_alive(const Tracing& t) {
  return t.session->is_alive.load(std::memory_order_acquire) && t.tracer && is_there(*t.tracer);
}

}  // namespace

void trace_event(Process& p, std::uint32_t flags, Term event, Term what, Term extra) {
  Tracings* all = tracings_of(p);
  if (!all) return;
  all->each(flags, [&](const Tracing& t) {
    const Word number = t.session->number;
    if (!is_alive(t) || !trace_event_to(*t.tracer, p, t.flags, event, what, extra)) forget_tracing(p, number);
  });
}

void trace_event_of(Process& p, const Tracing& tracing, Term event, Term what, Term extra, Term result) {
  const Word number = tracing.session->number;
  const Tracing* t = tracing_of(p, number);
  if (t && !trace_event_to(*t->tracer, p, t->flags, event, what, extra, result)) forget_tracing(p, number);
}

bool trace_event_to(const Tracer& tracer, Process& p, std::uint32_t flags, Term event, Term what, Term extra,
                    Term result) {
  if (is_sensitive(p)) return true;
  return tell(tracer, {p.id, flags, event, what, extra, result});
}

namespace {

/// The sessions in `inherits` have decided about the child already.
void trace_as_new(Process& child, const std::vector<Word>& inherits = {}) {
  for (const SessionRef& session : all_sessions()) {
    if (!session->new_processes.any()) continue;
    if (std::ranges::find(inherits, session->number) != inherits.end()) continue;
    std::uint32_t flags;
    const KeptTracer tracer = session->new_processes.get(&flags);
    if (tracer.get()) set_tracing(child, session, true, flags, tracer.get());
  }
}

constexpr std::uint32_t kOnSpawn = kTraceSetOnSpawn | kTraceSetOnFirstSpawn;
constexpr std::uint32_t kOnLink = kTraceSetOnLink | kTraceSetOnFirstLink;

/// The child gets the flags of each session that traces its parent with any of `hereditary`.
/// Returns those sessions.
std::vector<Word> inherit_tracing(Process& parent, Process& child, std::uint32_t hereditary, bool link) {
  std::vector<Word> inherits;
  tracings_of(parent)->each(hereditary, [&](Tracing& t) {
    if (t.flags & kTraceSetOnFirstSpawn) t.flags &= ~kOnSpawn;
    if (link && t.flags & kTraceSetOnFirstLink) t.flags &= ~kOnLink;
    const SessionRef session = t.session;
    inherits.push_back(session->number);
    if (const Tracing* alive = tracing_of(parent, session->number))
      set_tracing(child, session, true, alive->flags, alive->tracer);
  });
  sum_flags(parent, *tracings_of(parent));
  return inherits;
}

}  // namespace

void trace_spawn(Process& parent, Process& child, Term arguments, bool link) {
  Arena arena;
  const Term call = call_term(arena, child.initial_module, child.initial_function, arguments);
  trace_procs(parent, atoms::spawn, child.id, call);
  if (link) trace_procs(parent, atoms::link, child.id);
  // In each session the child is traced for its parent's flags, else for those of all new
  // processes.
  const std::uint32_t hereditary = link ? kOnSpawn | kOnLink : kOnSpawn;
  std::vector<Word> inherits;
  if (is_traced(parent, hereditary)) inherits = inherit_tracing(parent, child, hereditary, link);
  if (new_processes_traced()) trace_as_new(child, inherits);
  trace_procs(child, atoms::spawned, parent.id, call);
  if (link) trace_procs(child, atoms::getting_linked, parent.id);
}

void trace_remote_spawn(Term parent, Process& child, bool link) {
  static const Term erts_internal = intern_atom("erts_internal"), init = intern_atom("dist_spawn_init");
  trace_as_new(child);
  Arena arena;
  const Term called =
      new_tuple(arena, child.initial_module, child.initial_function, Term::small(child.initial_arity));
  Term* hp = arena.alloc(2);
  const Term call = call_term(arena, erts_internal, init, make_cons(hp, called, Term::nil()));
  trace_procs(child, atoms::spawned, parent, call);
  if (link) trace_procs(child, atoms::getting_linked, parent);
}

void trace_exit(Process& p, Term reason) {
  trace_event(p, kTraceProcs, atoms::exit, reason);
  if (const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed))
    trace_event(p, kTraceProcs, atoms::unregister, Term::atom(name - 1));
}

void trace_exiting(Process& p, Term event) {
  if (is_traced(p, kTraceExiting)) [[unlikely]]
    trace_event(p, kTraceExiting, event, Term::small(0));
}

void trace_running(Process& p, bool in, std::uint32_t flags) {
  if (!is_traced(p, flags)) return;
  // A process that has not run yet begins with the function, or fun, that it was spawned with.
  const bool begins = in && p.reductions_done == 0;
  const FunctionName f =
      begins ? FunctionName{p.initial_module, p.initial_function, p.initial_arity} : resume_function(p);
  Arena arena;
  trace_event(p, flags, in ? atoms::in : atoms::out,
              call_term(arena, f.module, f.function, Term::small(f.arity)));
}

namespace {

void tell_gc(Process& p, Term event, Word words) {
  Arena arena;
  Term* hp = arena.alloc(5);
  const Term wanted = make_tuple(hp, atoms::wordsize, Term::small(static_cast<SWord>(words)));
  trace_event(p, kTraceGc, event, make_cons(hp, wanted, heap_sizes(p, 0, arena)));
}

}  // namespace

void trace_gc(Process& p, Term event, Word words) {
  const bool begins = event == atoms::gc_minor_start || event == atoms::gc_major_start;
  if (begins) call_memory_stops(p);
  if (is_traced(p, kTraceGc)) tell_gc(p, event, words);
  if (!begins) call_memory_goes_on(p);
}

void trace_max_heap_passed(Process& p) {
  Arena arena;
  trace_event(p, kTraceGc, atoms::gc_max_heap_size, heap_sizes(p, 0, arena));
}

}  // namespace vmrun
