// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/call_trace.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "vm/base/clock.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/trace_state.hpp"
#include "vm/term/bits.hpp"
#include "vm/trace/call_pattern.hpp"
#include "vm/trace/hibernation.hpp"
#include "vm/trace/trace.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

std::atomic<std::uint32_t> trace_control_word{0};

/// What a function is charged for; nullptr: nothing is.
struct Charged {
  std::shared_ptr<CallCosts> times, memory;
  bool any() const { return times || memory; }
};

/// A return that is to be reported.
struct AwaitedReturn {
  Word depth;
  const FunctionHeader* function;  // compared only: its code may be gone
  FunctionName name;
  Word session;  // the number of the session that awaits it
  bool tells_value, tells_exception, tells_caller;
  std::shared_ptr<const MetaTrace> meta;  // its tracer is told instead of the process's
  bool is_charged = false;                // costs from here on belong to `before`
  Charged before;
};

/// The function that costs belong to at the moment in one session, and since when.
struct ChargedNow {
  Word session;
  Charged function;
  Word since_ns = 0, since_words = 0;
};

struct AwaitedReturns {
  std::vector<AwaitedReturn> stack;
  std::vector<ChargedNow> charged;
};

void free_awaited_returns(AwaitedReturns* returns) { delete returns; }

namespace {

AwaitedReturns& returns_of(Process& p) {
  TraceState& c = trace_state_of(p);
  if (!c.awaited_returns) c.awaited_returns = new AwaitedReturns;
  return *c.awaited_returns;
}
AwaitedReturns* awaited(Process& p) {
  TraceState* c = p.extra ? p.extra->trace_state : nullptr;
  return c ? c->awaited_returns : nullptr;
}

void await(Process& p, AwaitedReturn&& r) {
  returns_of(p).stack.push_back(std::move(r));
  p.observed |= kAwaitsReturns;
}

// ---- Costs --------------------------------------------------------------------------------------

/// Returns the words that p has on its young heap. They grow until a collection.
Word young_heap_words(const Process& p) { return p.heap.used_words() + p.heap.fragment_words; }

/// Adds the costs since then to the function that they belong to.
void charge(Process& p, ChargedNow& now) {
  if (now.function.times) {
    const Word ns = monotonic_ns();
    now.function.times->add(p.id, 0, ns - now.since_ns);
    now.since_ns = ns;
  }
  if (now.function.memory) {
    const Word words = young_heap_words(p);
    now.function.memory->add(p.id, 0, words - now.since_words);
    now.since_words = words;
  }
}

/// Costs belong to that function from now on. Returns the function that they belonged to.
Charged charge_from_now(Process& p, ChargedNow& now, Charged function) {
  charge(p, now);
  if (function.times && !now.function.times) now.since_ns = monotonic_ns();
  if (function.memory && !now.function.memory) now.since_words = young_heap_words(p);
  return std::exchange(now.function, std::move(function));
}

ChargedNow& charged_in(AwaitedReturns& returns, Word session) {
  for (ChargedNow& now : returns.charged)
    if (now.session == session) return now;
  return returns.charged.emplace_back(session);
}

/// Whether it is the function that p was spawned with, and p has just begun. What lies on its heap
/// then are the arguments.
bool begins_with(const Process& p, const FunctionHeader& f) {
  return p.reductions_done == 0 && f.module == p.initial_module && f.function == p.initial_function &&
         f.arity == p.initial_arity;
}

void take_costs(Process& p, const FunctionHeader& f, const CallPattern& pattern, Word depth) {
  const Word session = pattern.session->number;
  AwaitedReturns& returns = returns_of(p);
  Charged function;
  if (pattern.takes_times) function.times = pattern.times;
  if (pattern.takes_memory) function.memory = pattern.memory;
  if (function.times) function.times->add(p.id, 1, 0);
  if (function.memory) function.memory->add(p.id, 1, 0);
  ChargedNow& now = charged_in(returns, session);
  Charged before = charge_from_now(p, now, std::move(function));
  if (begins_with(p, f)) now.since_words = 0;
  // A function that ends in a call of another function returns with it.
  const auto& stack = returns.stack;
  auto r = stack.rbegin();
  while (r != stack.rend() && r->depth == depth && !(r->is_charged && r->session == session)) ++r;
  if (r == stack.rend() || r->depth != depth)
    await(p, {depth,
              &f,
              {f.module, f.function, f.arity},
              session,
              false,
              false,
              false,
              nullptr,
              true,
              std::move(before)});
}

/// Removes and returns the last awaited return.
AwaitedReturn take_last(Process& p, AwaitedReturns& returns) {
  AwaitedReturn r = std::move(returns.stack.back());
  returns.stack.pop_back();
  if (r.is_charged) {
    charge_from_now(p, charged_in(returns, r.session), std::move(r.before));
    std::erase_if(returns.charged, [](const ChargedNow& now) { return !now.function.any(); });
  }
  if (returns.stack.empty()) p.observed &= ~kAwaitsReturns;
  return r;
}

/// Removes the awaited returns that lie deeper: an exception that was not seen has left them, or a
/// process that was not traced meanwhile.
void forget_deeper(Process& p, AwaitedReturns& returns, Word depth) {
  while (!returns.stack.empty() && returns.stack.back().depth > depth) take_last(p, returns);
}

// ---- Events -------------------------------------------------------------------------------------

template <class F>
Term name_term(Heap& heap, const F& f) {
  Term* hp = heap.alloc(4);
  return make_tuple(hp, f.module, f.function, Term::small(f.arity));
}

/// The arguments as the program knows them: where a function goes on in the middle of a binary, the
/// argument is the rest of that binary.
Term argument_list(Heap& heap, const Term* terms, unsigned count) {
  ListBuilder list(heap);
  for (unsigned i = 0; i < count; i++) list.add(settled(heap, terms[i]));
  return list.finish();
}

/// The call instruction to which the address on top of the stack returns.
const Word* on_top_of_stack(const Process& p) { return return_address_at(p.heap.stop) - 1; }

Term caller_at(Heap& heap, const Word* address) {
  const FunctionHeader* f = process_upcalls.header_at(address);
  return f ? name_term(heap, *f) : atoms::undefined;
}

/// Returns the place of the call that is being made, if its return address is not on the stack yet.
const Word* unsaved_return(const Process& p, const FunctionHeader& called, Word depth) {
  const Export* e = find_export(called.module, called.function, called.arity);
  const bool is_unsaved = depth > p.heap.stack_words() || (e && e->bif);
  return is_unsaved && process_upcalls.header_at(p.ip) ? p.ip : nullptr;
}

/// Returns an address in the code that a call returns to; nullptr: there is no such code.
const Word* return_address(Process& p, const FunctionHeader& called, Word depth) {
  const Word* unsaved = unsaved_return(p, called, depth);
  const FunctionHeader* f = unsaved ? process_upcalls.header_at(unsaved) : nullptr;
  for (const Term* s = p.heap.stop; s < p.heap.end && (!f || f == &called); s++)
    if (is_return_address(*s)) return reinterpret_cast<const Word*>(s->raw()) - 1;
  return f ? p.ip : nullptr;
}

/// Reports a call. tracer: the tracer before the specification ran, which may have changed it.
/// Returns false if it does not want to trace p any more.
bool tell_call(const Tracer& tracer, Process& p, std::uint32_t flags, const TracedCall& call,
               Term arguments) {
  const FunctionHeader& f = call.function;
  Arena arena;
  const Term mfa =
      new_tuple(arena, f.module, f.function, flags & kTraceArity ? Term::small(f.arity) : arguments);
  return trace_event_to(tracer, p, flags, atoms::call, mfa, kNonValue,
                        call.message == atoms::true_ ? kNonValue : call.message);
}

/// Reports a return or an exception: to the meta tracer, or to that of the process unless the
/// process is silent.
void tell_end(Process& p, const AwaitedReturn& r, Term event, Term value) {
  Arena arena;
  const Term name = name_term(arena, r.name);
  if (!r.meta) {
    const Tracing* t = tracing_of(p, r.session);
    if (t && (t->flags & (kTraceCall | kTraceSilent)) == kTraceCall)
      trace_event_of(p, *t, event, name, value);
  } else if (!trace_event_to(r.meta->tracer, p, kMetaFlags, event, name, value)) {
    r.meta->is_gone = true;
  }
}

void tell_return_to(Process& p, Word session, const Word* to) {
  constexpr std::uint32_t kBoth = kTraceReturnTo | kTraceCall;
  const Tracing* t = tracing_of(p, session);
  if (!t || (t->flags & kBoth) != kBoth) return;
  Arena arena;
  trace_event_of(p, *t, atoms::return_to, caller_at(arena, to));
}

/// to: the instruction that is returned to, or one of the same function.
void tell_return(Process& p, const AwaitedReturn& r, Term value, const Word* to) {
  if (r.tells_value) tell_end(p, r, atoms::return_from, value);
  if (r.tells_caller) tell_return_to(p, r.session, to);
}

void tell_exception(Process& p, const AwaitedReturn& r, bool is_caught) {
  if (!r.tells_exception) return;
  Arena arena;
  Term terms[2];
  exception_terms(p, is_caught, arena, terms);
  tell_end(p, r, atoms::exception_from, new_tuple(arena, terms[0], terms[1]));
}

/// Whether a clause matches.
bool matches(Process& p, const CallSpecification& specification, Term arguments, TracedCall& call) {
  return specification.term.is_nil() || trace_upcalls.match_call(p, specification.term, arguments, call);
}

void await_end(Process& p, const TracedCall& call, bool tells_caller, std::shared_ptr<const MetaTrace> meta) {
  const FunctionHeader& f = call.function;
  if (call.returns || call.exceptions || tells_caller)
    await(p, {call.depth,
              &f,
              {f.module, f.function, f.arity},
              call.session->number,
              call.returns,
              call.exceptions,
              tells_caller,
              std::move(meta),
              false,
              {}});
}

/// Reports a call to a session that traces p.
void tell_traced_call(Process& p, const FunctionHeader& f, const CallPattern& pattern, const Term* args,
                      Word depth) {
  const SessionRef& session = pattern.session;
  const auto traced = [&] {
    const Tracing* t = tracing_of(p, session->number);
    return t && t->flags & kTraceCall ? t : nullptr;
  };
  const Tracing* t = traced();
  if (!t) return;
  const KeptTracer kept(t->tracer->retain());  // the specification may change p's tracer
  const Tracer& tracer = *kept.get();
  if (tracer.to == p.id) return;  // a process's own flags only serve the costs of calls, and children
  if (tracer.is_native()) {
    if (!still_traces(tracer, p.id)) return forget_tracing(p, session->number);
    if (!wants_calls(tracer, p.id)) return;
  }
  const Term arguments = argument_list(p.heap, args, f.arity);
  TracedCall call{f, depth, session};
  if (!matches(p, *pattern.specification, arguments, call)) return;
  const Tracing* now = tracing_of(p, session->number);
  const std::uint32_t flags = now ? now->flags : 0;
  if (flags & kTraceSilent) return;
  if (call.message != atoms::false_ && !tell_call(tracer, p, flags, call, arguments))
    forget_tracing(p, session->number);
  const bool local = pattern.traced == CallPattern::Traced::kLocal;
  await_end(p, call, local && flags & kTraceReturnTo && depth > 0, nullptr);
}

/// Reports a call of any process to the meta tracer. The process's flags do not matter.
void tell_meta_call(Process& p, const SessionRef& session, std::shared_ptr<const MetaTrace> meta,
                    const FunctionHeader& f, const Term* args, Word depth) {
  if (is_sensitive(p)) return;
  if (!still_traces(meta->tracer, p.id)) meta->is_gone = true;
  if (meta->is_gone || meta->tracer.to == p.id) return;
  if (meta->tracer.is_native() && !wants_calls(meta->tracer, p.id)) return;
  const Term arguments = argument_list(p.heap, args, f.arity);
  TracedCall call{f, depth, session};
  if (!matches(p, meta->specification, arguments, call)) return;
  if (call.message != atoms::false_ && !tell_call(meta->tracer, p, kMetaFlags, call, arguments))
    meta->is_gone = true;
  await_end(p, call, false, std::move(meta));
}

}  // namespace

const Word* awaited_return(const Process& p, const TracedCall& call) {
  return unsaved_return(p, call.function, call.depth);
}

Term caller_of(Process& p, const TracedCall& call, bool with_line, Heap& out) {
  const Word* address = return_address(p, call.function, call.depth);
  const FunctionHeader* f = address ? process_upcalls.header_at(address) : nullptr;
  if (!f) return atoms::undefined;
  if (!with_line) return name_term(out, *f);
  const Term place = process_upcalls.location(address, out);
  Term* hp = out.alloc(5);
  return make_tuple(hp, f->module, f->function, Term::small(f->arity), place);
}

namespace {

/// A process with the flag call has called a function: for one session.
void call_traced_in(Process& p, const CallPattern& pattern, const FunctionHeader& f, bool global,
                    const Term* args, Word depth) {
  using Traced = CallPattern::Traced;
  if (!pattern.session->is_alive.load(std::memory_order_acquire)) return;
  if (pattern.traced == Traced::kLocal || (pattern.traced == Traced::kGlobal && global))
    tell_traced_call(p, f, pattern, args, depth);
  if (!pattern.takes_costs()) return;
  const Tracing* t = tracing_of(p, pattern.session->number);
  if (t && t->flags & kTraceCall) take_costs(p, f, pattern, depth);
}

}  // namespace

void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth) {
  if (auto* returns = awaited(p)) forget_deeper(p, *returns, depth);
  const FunctionName name{f.module, f.function, f.arity};
  const auto& found = find_call_patterns(name);
  if (!found || trace_upcalls.is_replaced(f)) return;
  // A tracer or specification may look up other functions.
  const auto kept = found->any_traced ? found : nullptr;
  const CallPatterns& patterns = *found;
  // The newest session first, as in the process's list.
  for (auto pattern = patterns.of_sessions.rbegin(); pattern != patterns.of_sessions.rend(); ++pattern)
    call_traced_in(p, **pattern, f, global, args, depth);
}

void breakpoint_reached(Process& p, const FunctionHeader& f, const Term* args, Word depth) {
  const auto patterns = find_call_patterns({f.module, f.function, f.arity});
  if (!patterns || trace_upcalls.is_replaced(f)) return;
  for (const auto& pattern : patterns->of_sessions) {
    if (!pattern->session->is_alive.load(std::memory_order_acquire)) continue;
    if (pattern->counts) pattern->count->calls.fetch_add(1, std::memory_order_relaxed);
    if (!pattern->meta) continue;
    if (auto* returns = awaited(p)) forget_deeper(p, *returns, depth);
    tell_meta_call(p, pattern->session, pattern->meta, f, args, depth);
  }
}

namespace {

/// Whether a session awaits more returns at that depth.
bool awaits_at(const AwaitedReturns& returns, Word session, Word depth) {
  const auto& stack = returns.stack;
  for (auto r = stack.rbegin(); r != stack.rend() && r->depth == depth; ++r)
    if (r->session == session) return true;
  return false;
}

}  // namespace

void return_traced(Process& p, Term value, Word depth) {
  auto* returns = awaited(p);
  if (!returns) return;
  forget_deeper(p, *returns, depth);
  // Functions that ended in each other's calls return together; the function that they return to is
  // reported once.
  while (!returns->stack.empty() && returns->stack.back().depth == depth) {
    AwaitedReturn r = take_last(p, *returns);
    r.tells_caller = r.tells_caller && !awaits_at(*returns, r.session, depth);
    tell_return(p, r, value, on_top_of_stack(p));
  }
}

namespace {

/// Whether r is a call of this built-in at that depth.
bool is_call_of(const AwaitedReturn& r, const FunctionHeader& f, Word depth) {
  return r.depth == depth && r.function == &f;
}

}  // namespace

std::vector<TraceFrame> trace_frames_at(const Process& p, Word depth) {
  std::vector<TraceFrame> frames;
  const TraceState* c = p.extra ? p.extra->trace_state : nullptr;
  if (!c || !c->awaited_returns) return frames;
  bool tells_caller = false;
  const auto& stack = c->awaited_returns->stack;
  for (auto r = stack.rbegin(); r != stack.rend() && r->depth >= depth; ++r) {
    if (r->depth != depth) continue;
    tells_caller = tells_caller || r->tells_caller;
    if (r->tells_value || r->tells_exception)
      frames.push_back({r->name, r->function->entry(), r->meta ? &r->meta->tracer : nullptr});
  }
  if (tells_caller) frames.push_back({});
  return frames;
}

void built_in_trapped(Process& p, const FunctionHeader& f, Word depth) {
  auto* returns = awaited(p);
  if (!returns) return;
  for (auto r = returns->stack.rbegin(); r != returns->stack.rend(); ++r) {
    if (r->function != &f || r->depth + 1 < depth) return;
    r->depth = depth;
  }
}

void built_in_returned(Process& p, const FunctionHeader& f, Term result, Word depth) {
  auto* returns = awaited(p);
  if (!returns || (!result.is_value() && p.bif_action == BifAction::kTrap)) return;
  // By its name it is called from the code that runs. Its stub has left for what is on the stack,
  // and returns for those as well that have ended in it.
  const FunctionHeader* caller = process_upcalls.header_at(p.ip);
  if (result.is_value() && (!caller || caller == &f)) return return_traced(p, result, depth);
  if (!result.is_value() && p.bif_action == BifAction::kRaise) {
    // The search for a handler comes next; it reports deeper calls.
    for (auto r = returns->stack.rbegin(); r != returns->stack.rend() && is_call_of(*r, f, depth); ++r)
      r->depth = depth + 1;
    return;
  }
  while (!returns->stack.empty() && is_call_of(returns->stack.back(), f, depth)) {
    const AwaitedReturn r = take_last(p, *returns);
    if (result.is_value()) tell_return(p, r, result, p.ip);
  }
}

void exception_terms(const Process& p, bool is_caught, Heap& out, Term (&terms)[2]) {
  static constexpr Term kClasses[] = {atoms::error, atoms::exit, atoms::throw_};
  terms[0] = kClasses[static_cast<unsigned>(p.exception_class)];
  terms[1] = p.exception_value;
  if (terms[0] != atoms::throw_ || is_caught) return;
  terms[0] = atoms::error;
  terms[1] = new_tuple(out, atoms::nocatch, terms[1]);
}

void exception_traced(Process& p, Word depth, const Word* handler) {
  auto* returns = awaited(p);
  if (!returns) return;
  std::vector<Word> told;  // the sessions that want to know of the handler
  while (!returns->stack.empty() && returns->stack.back().depth > depth) {
    const AwaitedReturn r = take_last(p, *returns);
    if (r.tells_caller && std::ranges::find(told, r.session) == told.end()) told.push_back(r.session);
    tell_exception(p, r, handler != nullptr);
  }
  if (handler)
    for (const Word session : told) tell_return_to(p, session, handler);
}

void leave_traced_calls(Process& p) {
  if (auto* returns = awaited(p))
    while (!returns->stack.empty()) take_last(p, *returns);
}

void call_time_begins(Process& p) {
  if (AwaitedReturns* returns = awaited(p))
    for (ChargedNow& now : returns->charged)
      if (now.function.times) now.since_ns = monotonic_ns();
}

void call_time_ends(Process& p) {
  if (AwaitedReturns* returns = awaited(p))
    for (ChargedNow& now : returns->charged) charge(p, now);
}

void call_memory_stops(Process& p) {
  if (AwaitedReturns* returns = awaited(p))
    for (ChargedNow& now : returns->charged)
      if (now.function.memory) charge(p, now);
}

void call_memory_goes_on(Process& p) {
  if (AwaitedReturns* returns = awaited(p))
    for (ChargedNow& now : returns->charged) now.since_words = young_heap_words(p);
}

void call_memory_receives(Process& p, const Fragment& message) {
  const bool is_literal =
      message.used_words == 0 && message.kind == static_cast<unsigned>(SignalKind::kMessage);
  AwaitedReturns* returns = is_literal ? awaited(p) : nullptr;
  if (!returns) return;
  for (ChargedNow& now : returns->charged)
    if (now.function.memory) now.function.memory->add(p.id, 0, size_words(message.message));
}

}  // namespace vmrun
