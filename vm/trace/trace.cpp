// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/trace.hpp"
#include "vm/trace/heap_sizes.hpp"

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

// ---- Tracers ------------------------------------------------------------------------------------

void release_tracing(TraceState& c) {
  if (c.tracer) c.tracer->release();
  free_awaited_returns(c.awaited_returns);
  free_saved_calls(c.saved_calls);
  delete c.calls;
}

Tracer* tracer_of(Process& p) {
  Tracer* t = p.extra && p.extra->trace_state ? p.extra->trace_state->tracer : nullptr;
  if (!t || is_there(*t)) return t;
  forget_tracer(p);  // it has died
  return nullptr;
}

void forget_tracer(Process& p) {
  p.observed &= ~kTraceAll;
  TraceState* c = p.extra ? p.extra->trace_state : nullptr;
  if (!c || !c->tracer) return;
  c->tracer->release();
  c->tracer = nullptr;
}

bool set_tracing(Process& p, bool on, std::uint32_t flags, Tracer* tracer) {
  if (!on) {
    p.observed &= ~flags;
    if (!(p.observed & kTraceAll)) forget_tracer(p);
    return true;
  }
  const Tracer* old = tracer_of(p);
  if (old && !old->same(*tracer)) {
    if (still_traces(*old, p.id)) return false;
    forget_tracer(p);
    old = nullptr;
  }
  if (!old) trace_state_of(p).tracer = tracer->retain();
  p.observed |= flags;
  if (flags & kTraceProcs && !lives_were_traced.load(std::memory_order_relaxed))
    lives_were_traced.store(true, std::memory_order_relaxed);
  return true;
}

bool change_tracing(Process& p, std::uint32_t off, std::uint32_t on, Tracer& tracer) {
  tracer.retain();  // it may be p's own
  const Tracer* old = tracer_of(p);
  const bool other_tracer = old && !old->same(tracer);
  const std::uint32_t before = p.observed & kTraceAll;
  const std::uint32_t flags = (before & ~off) | on;
  set_tracing(p, false, other_tracer ? kTraceAll : off & ~on, nullptr);
  if (flags) set_tracing(p, true, flags, &tracer);
  tracer.release();
  return other_tracer || flags != before;
}

namespace {

std::uint32_t flags_in(Term wish, Word i) {
  return static_cast<std::uint32_t>(wish.element(i).small_value());
}

bool change_as_asked(Process& p, Term wish) {
  Tracer* tracer = Tracer::create(wish.element(3), wish.element(4));
  const bool changed = change_tracing(p, flags_in(wish, 1), flags_in(wish, 2), *tracer);
  tracer->release();
  return changed;
}

}  // namespace

bool trace_as_asked(Process& p, Term wish) {
  if (wish.element(0) == atoms::trace) return change_as_asked(p, wish);
  const bool on = wish.element(0) == atoms::true_;
  Tracer* tracer = on ? Tracer::create(wish.element(2), wish.element(3)) : nullptr;
  const bool done = set_tracing(p, on, flags_in(wish, 1), tracer);
  if (tracer) tracer->release();
  return done;
}

Term tracer_term(const Tracer* tracer, Heap& out) {
  if (!tracer) return Term::nil();
  if (!tracer->to.is_atom()) return tracer->to;
  const Term state = copy_to(out, tracer->state);
  Term* hp = out.alloc(3);
  return make_tuple(hp, tracer->to, state);
}

Term trace_info(Process& p, Term item, Heap& out) {
  const Tracer* tracer = tracer_of(p);
  if (tracer && !still_traces(*tracer, p.id)) {
    forget_tracer(p);
    tracer = nullptr;
  }
  return item == atoms::tracer ? tracer_term(tracer, out) : Term::small(p.observed & kTraceAll);
}

// ---- Events -------------------------------------------------------------------------------------

void trace_event(Process& p, Term event, Term what, Term extra, Term result) {
  Tracer* tracer = tracer_of(p);
  if (tracer && !trace_event_to(*tracer, p, p.observed, event, what, extra, result)) forget_tracer(p);
}

bool trace_event_to(const Tracer& tracer, Process& p, std::uint32_t flags, Term event, Term what, Term extra,
                    Term result) {
  if (is_sensitive(p)) return true;
  return tell(tracer, {p.id, flags, event, what, extra, result});
}

namespace {

void trace_as_new(Process& child) {
  std::uint32_t flags;
  const KeptTracer tracer = new_processes.get(&flags);
  if (tracer.get()) set_tracing(child, true, flags, tracer.get());
}

}  // namespace

void trace_spawn(Process& parent, Process& child, Term arguments, bool link) {
  Arena arena;
  const Term call = call_term(arena, child.initial_module, child.initial_function, arguments);
  trace_procs(parent, atoms::spawn, child.id, call);
  if (link) trace_procs(parent, atoms::link, child.id);
  // The child is traced for its parent's flags, else for those of all new processes.
  const std::uint32_t hereditary =
      kTraceSetOnSpawn | kTraceSetOnFirstSpawn | (link ? kTraceSetOnLink | kTraceSetOnFirstLink : 0);
  if (is_traced(parent, hereditary)) {
    if (is_traced(parent, kTraceSetOnFirstSpawn))
      parent.observed &= ~(kTraceSetOnFirstSpawn | kTraceSetOnSpawn);
    if (link && is_traced(parent, kTraceSetOnFirstLink))
      parent.observed &= ~(kTraceSetOnFirstLink | kTraceSetOnLink);
    if (Tracer* tracer = tracer_of(parent)) set_tracing(child, true, parent.observed & kTraceAll, tracer);
  } else if (new_processes_traced()) {
    trace_as_new(child);
  }
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
  trace_event(p, atoms::exit, reason);
  if (const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed))
    trace_event(p, atoms::unregister, Term::atom(name - 1));
}

void trace_exiting(Process& p, Term event) {
  if (is_traced(p, kTraceExiting)) [[unlikely]]
    trace_event(p, event, Term::small(0));
}

void trace_running(Process& p, bool in) {
  if (!is_traced(p, kTraceRunning | kTraceRunningProcs)) return;
  // A process that has not run yet begins with the function, or fun, that it was spawned with.
  const bool begins = in && p.reductions_done == 0;
  const FunctionName f =
      begins ? FunctionName{p.initial_module, p.initial_function, p.initial_arity} : resume_function(p);
  Arena arena;
  trace_event(p, in ? atoms::in : atoms::out, call_term(arena, f.module, f.function, Term::small(f.arity)));
}

void trace_gc(Process& p, Term event, Word words) {
  Arena arena;
  const Term sizes = heap_sizes(p, 0, arena);
  Term* hp = arena.alloc(5);
  const Term wanted = make_tuple(hp, atoms::wordsize, Term::small(static_cast<SWord>(words)));
  trace_event(p, event, make_cons(hp, wanted, sizes));
}

}  // namespace vmrun
