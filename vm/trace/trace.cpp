#include "vm/trace/trace.hpp"

#include <mutex>

#include "vm/heap/copy.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/carried.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/table.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/tracer.hpp"

namespace vmrun {
namespace {

struct NewTracing {
  std::mutex mutex;
  std::uint32_t flags = 0;
  Tracer* tracer = nullptr;
};
NewTracing new_processes;
std::atomic<bool> any_new{false};

TraceStamp stamp_of(std::uint32_t flags) {
  if (flags & kTraceNow) return TraceStamp::kNow;
  if (flags & kTraceStrictMonotonic) return TraceStamp::kStrictMonotonic;
  return flags & kTraceMonotonic ? TraceStamp::kMonotonic : TraceStamp::kNone;
}

/// {trace, Pid, Event, A, B, C, Scheduler}, {trace_ts, Pid, Event, A, B, C, Scheduler, Time}; what
/// is not there of the last ones is left out.
Term event_tuple(Arena& arena, const Process& p, std::uint32_t flags, Term event, Term a, Term b, Term c) {
  const TraceStamp stamp = stamp_of(flags);
  const Term time = stamp == TraceStamp::kNone ? kNonValue : make_trace_stamp(arena, stamp);
  const bool scheduler = flags & kTraceSchedulerId;
  const unsigned arity = 4 + (b ? 1 : 0) + (c ? 1 : 0) + (scheduler ? 1 : 0) + (time ? 1 : 0);
  Term* hp = arena.alloc(1 + arity);
  const Term tuple = Term::boxed(hp);
  *hp++ = Term::header(Term::Sub::kTuple, arity);
  *hp++ = time ? atoms::trace_ts : atoms::trace;
  *hp++ = p.id;
  *hp++ = event;
  *hp++ = a;
  if (b) *hp++ = b;
  if (c) *hp++ = c;
  if (scheduler) *hp++ = Term::small(scheduler_number());
  if (time) *hp++ = time;
  return tuple;
}

Term call_term(Heap& heap, Term module, Term function, Term arguments) {
  Term* hp = heap.alloc(4);
  return make_tuple(hp, module, function, arguments);
}

}  // namespace

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

namespace {

void release_tracer(Carried& c) {
  if (c.tracer) c.tracer->release();
  free_awaited_returns(c.awaited_returns);
}
[[maybe_unused]] const bool filled_in = (release_tracing = release_tracer, true);

}  // namespace

bool Tracer::same(const Tracer& other) const { return to == other.to && equal_exact(state, other.state); }

bool is_alive(const Tracer& tracer) { return tracer.to.is_atom() || tracer_is_there(tracer.to); }

Tracer* tracer_of(Process& p) {
  Tracer* t = p.extra && p.extra->carried ? p.extra->carried->tracer : nullptr;
  if (!t || is_alive(*t)) return t;
  forget_tracer(p);  // it has died
  return nullptr;
}

void forget_tracer(Process& p) {
  p.observed &= ~kTraceAll;
  Carried* c = p.extra ? p.extra->carried : nullptr;
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
  if (tracer->to == p.id) return true;  // nobody traces himself: nothing happens
  const Tracer* old = tracer_of(p);
  if (old && !old->same(*tracer)) return false;
  if (!old) carried_of(p).tracer = tracer->retain();
  p.observed |= flags;
  return true;
}

bool change_tracing(Process& p, std::uint32_t off, std::uint32_t on, Tracer& tracer) {
  if (tracer.to == p.id) return false;  // nobody traces himself
  tracer.retain();                      // it may be p's own
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
  if (tracer->to != atoms::dyntrace) return tracer->to;
  const Term state = copy_to(out, tracer->state);
  Term* hp = out.alloc(3);
  return make_tuple(hp, tracer->to, state);
}

Term trace_info(Process& p, Term item, Heap& out) {
  const Tracer* tracer = tracer_of(p);
  return item == atoms::tracer ? tracer_term(tracer, out) : Term::small(p.observed & kTraceAll);
}

void set_new_tracing(bool on, std::uint32_t flags, Tracer* tracer) {
  std::lock_guard guard(new_processes.mutex);
  new_processes.flags = on ? new_processes.flags | flags : new_processes.flags & ~flags;
  if ((on || !new_processes.flags) && new_processes.tracer) {
    new_processes.tracer->release();
    new_processes.tracer = nullptr;
  }
  if (on) new_processes.tracer = tracer->retain();
  any_new.store(new_processes.flags != 0, std::memory_order_release);
}

std::uint32_t new_tracing(Tracer** tracer) {
  std::lock_guard guard(new_processes.mutex);
  if (new_processes.tracer && !is_alive(*new_processes.tracer)) {
    new_processes.tracer->release();
    new_processes.tracer = nullptr;
    new_processes.flags = 0;
    any_new.store(false, std::memory_order_release);
  }
  *tracer = new_processes.tracer ? new_processes.tracer->retain() : nullptr;
  return new_processes.flags;
}

bool new_processes_traced() { return any_new.load(std::memory_order_relaxed); }

// ---- Events -------------------------------------------------------------------------------------

void trace_event(Process& p, Term event, Term a, Term b, Term c) {
  if (const Tracer* tracer = tracer_of(p)) trace_event_to(*tracer, p, p.observed, event, a, b, c);
}

void trace_event_to(const Tracer& tracer, Process& p, std::uint32_t flags, Term event, Term a, Term b,
                    Term c) {
  if (p.extra && p.extra->sensitive) return;
  if (tracer.to == atoms::dyntrace) {
    if (probe::trace_enabled()) probe::fire_trace(p.id, event, tracer.state, a, b);
    return;
  }
  Arena arena;
  deliver_trace_event(tracer.to, event_tuple(arena, p, flags, event, a, b, c));
}

void trace_spawn(Process& parent, Process& child, Term arguments, bool link) {
  Arena arena;
  const Term call = call_term(arena, child.initial_module, child.initial_function, arguments);
  trace_procs(parent, atoms::spawn, child.id, call);
  if (link) trace_procs(parent, atoms::link, child.id);
  // What the child is traced for: its parent's flags, else those of all new processes.
  const std::uint32_t hereditary =
      kTraceSetOnSpawn | kTraceSetOnFirstSpawn | (link ? kTraceSetOnLink | kTraceSetOnFirstLink : 0);
  Tracer* tracer = nullptr;
  if (is_traced(parent, hereditary)) {
    if (is_traced(parent, kTraceSetOnFirstSpawn))
      parent.observed &= ~(kTraceSetOnFirstSpawn | kTraceSetOnSpawn);
    if (link && is_traced(parent, kTraceSetOnFirstLink))
      parent.observed &= ~(kTraceSetOnFirstLink | kTraceSetOnLink);
    if ((tracer = tracer_of(parent))) set_tracing(child, true, parent.observed & kTraceAll, tracer);
  } else if (new_processes_traced()) {
    const std::uint32_t flags = new_tracing(&tracer);
    if (tracer) {
      set_tracing(child, true, flags, tracer);
      tracer->release();
    }
  }
  trace_procs(child, atoms::spawned, parent.id, call);
  if (link) trace_procs(child, atoms::getting_linked, parent.id);
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
  const FunctionName f = resume_function(p);
  Arena arena;
  trace_event(p, in ? atoms::in : atoms::out, call_term(arena, f.module, f.function, Term::small(f.arity)));
}

void trace_gc(Process& p, Term event, Word words) {
  const Heap& h = p.heap;
  const auto size = [](const Term* from, const Term* to) { return static_cast<SWord>(to - from); };
  const struct {
    Term name;
    SWord value;
  } items[] = {
      {atoms::wordsize, static_cast<SWord>(words)},
      {atoms::old_heap_block_size, size(h.old_start, h.old_end)},
      {atoms::heap_block_size, static_cast<SWord>(h.block_words())},
      {atoms::mbuf_size, static_cast<SWord>(h.fragment_words)},
      {atoms::recent_size, size(h.high_water, h.top)},
      {atoms::stack_size, static_cast<SWord>(h.stack_words())},
      {atoms::old_heap_size, size(h.old_start, h.old_top)},
      {atoms::heap_size, static_cast<SWord>(h.used_words())},
      {atoms::bin_vheap_size, static_cast<SWord>(h.off_heap_words)},
      {atoms::bin_vheap_block_size, static_cast<SWord>(h.off_heap_limit_words)},
      {atoms::bin_old_vheap_size, static_cast<SWord>(h.old_off_heap_words)},
      {atoms::bin_old_vheap_block_size, static_cast<SWord>(h.old_off_heap_limit_words)},
  };
  Arena arena;
  Term list = Term::nil();
  for (std::size_t i = std::size(items); i-- > 0;) {
    Term* hp = arena.alloc(5);
    const Term pair = make_tuple(hp, items[i].name, Term::small(items[i].value));
    list = make_cons(hp, pair, list);
  }
  trace_event(p, event, list);
}

}  // namespace vmrun
