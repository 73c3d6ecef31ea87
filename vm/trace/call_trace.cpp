// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/call_trace.hpp"

#include <memory>
#include <utility>

#include "vm/base/clock.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/trace_state.hpp"
#include "vm/term/bits.hpp"
#include "vm/trace/call_pattern.hpp"
#include "vm/trace/hibernation.hpp"
#include "vm/trace/trace.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

std::atomic<std::uint32_t> trace_control_word{0};

/// A return that is to be reported.
struct AwaitedReturn {
  Word depth;
  const FunctionHeader* function;  // compared only: its code may be gone
  FunctionName name;
  bool tells_value, tells_exception, tells_caller;
  std::shared_ptr<const MetaTrace> meta;  // its tracer is told instead of the process's
  bool is_timed = false;                  // time taken from here on belongs to `before`
  std::shared_ptr<CallTimes> before;
};

struct AwaitedReturns {
  std::vector<AwaitedReturn> stack;
  // The function that time belongs to at the moment, and since when.
  std::shared_ptr<CallTimes> timed;
  Word since_ns = 0;
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

// ---- Time ---------------------------------------------------------------------------------------

/// Adds the elapsed time to the function that it belongs to.
void charge(Process& p, AwaitedReturns& returns) {
  const Word now = monotonic_ns();
  if (returns.timed) returns.timed->add(p.id, 0, now - returns.since_ns);
  returns.since_ns = now;
}

void take_time(Process& p, const FunctionHeader& f, std::shared_ptr<CallTimes> times, Word depth) {
  AwaitedReturns& returns = returns_of(p);
  charge(p, returns);
  times->add(p.id, 1, 0);
  auto before = std::exchange(returns.timed, std::move(times));
  // A function that ends in a call of another function returns with it.
  const auto& stack = returns.stack;
  auto r = stack.rbegin();
  while (r != stack.rend() && r->depth == depth && !r->is_timed) ++r;
  if (r == stack.rend() || r->depth != depth)
    await(
        p,
        {depth, &f, {f.module, f.function, f.arity}, false, false, false, nullptr, true, std::move(before)});
}

/// Removes and returns the last awaited return.
AwaitedReturn take_last(Process& p, AwaitedReturns& returns) {
  AwaitedReturn r = std::move(returns.stack.back());
  returns.stack.pop_back();
  if (returns.stack.empty()) p.observed &= ~kAwaitsReturns;
  if (r.is_timed) {
    charge(p, returns);
    returns.timed = std::move(r.before);
  }
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
    if (is_traced(p, kTraceCall) && !is_traced(p, kTraceSilent)) trace_event(p, event, name, value);
  } else if (!trace_event_to(r.meta->tracer, p, kMetaFlags, event, name, value)) {
    r.meta->is_gone = true;
  }
}

void tell_return_to(Process& p, const Word* to) {
  Arena arena;
  if (is_traced(p, kTraceReturnTo) && is_traced(p, kTraceCall))
    trace_event(p, atoms::return_to, caller_at(arena, to));
}

/// to: the instruction that is returned to, or one of the same function.
void tell_return(Process& p, const AwaitedReturn& r, Term value, const Word* to) {
  if (r.tells_value) tell_end(p, r, atoms::return_from, value);
  if (r.tells_caller) tell_return_to(p, to);
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
              call.returns,
              call.exceptions,
              tells_caller,
              std::move(meta),
              false,
              nullptr});
}

/// Reports a call of a traced process; its tracer is retained meanwhile.
void tell_traced_call(Process& p, const Tracer& tracer, const FunctionHeader& f, const CallPattern& pattern,
                      const Term* args, Word depth) {
  if (tracer.to == p.id) return;  // a process's own flags only serve call_time and children
  if (tracer.is_native()) {
    if (!still_traces(tracer, p.id)) return forget_tracer(p);
    if (!wants_calls(tracer, p.id)) return;
  }
  const Term arguments = argument_list(p.heap, args, f.arity);
  TracedCall call{f, depth};
  if (!matches(p, *pattern.specification, arguments, call) || is_traced(p, kTraceSilent)) return;
  if (call.message != atoms::false_ && !tell_call(tracer, p, p.observed, call, arguments)) forget_tracer(p);
  const bool local = pattern.traced == CallPattern::Traced::kLocal;
  await_end(p, call, local && is_traced(p, kTraceReturnTo) && depth > 0, nullptr);
}

/// Reports a call of any process to the meta tracer. The process's flags do not matter.
void tell_meta_call(Process& p, std::shared_ptr<const MetaTrace> meta, const FunctionHeader& f,
                    const Term* args, Word depth) {
  if (is_sensitive(p)) return;
  if (!still_traces(meta->tracer, p.id)) meta->is_gone = true;
  if (meta->is_gone || meta->tracer.to == p.id) return;
  if (meta->tracer.is_native() && !wants_calls(meta->tracer, p.id)) return;
  const Term arguments = argument_list(p.heap, args, f.arity);
  TracedCall call{f, depth};
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

void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth) {
  if (auto* returns = awaited(p)) forget_deeper(p, *returns, depth);
  using Traced = CallPattern::Traced;
  const auto& found = find_call_pattern({f.module, f.function, f.arity});
  if (!found || trace_upcalls.is_replaced(f)) return;
  if (found->traced == Traced::kNo) {
    if (found->takes_times && tracer_of(p)) take_time(p, f, found->times, depth);
    return;
  }
  const auto pattern = found;  // the tracer or specification may look up other functions
  if (pattern->traced == Traced::kLocal || (pattern->traced == Traced::kGlobal && global)) {
    if (Tracer* tracer = tracer_of(p)) {
      tracer->retain();
      tell_traced_call(p, *tracer, f, *pattern, args, depth);
      tracer->release();
    }
  }
  if (pattern->takes_times && tracer_of(p)) take_time(p, f, pattern->times, depth);
}

void breakpoint_reached(Process& p, const FunctionHeader& f, const Term* args, Word depth) {
  const auto pattern = find_call_pattern({f.module, f.function, f.arity});
  if (!pattern || trace_upcalls.is_replaced(f)) return;
  if (pattern->counts) pattern->count->calls.fetch_add(1, std::memory_order_relaxed);
  if (!pattern->meta) return;
  if (auto* returns = awaited(p)) forget_deeper(p, *returns, depth);
  tell_meta_call(p, pattern->meta, f, args, depth);
}

void return_traced(Process& p, Term value, Word depth) {
  auto* returns = awaited(p);
  if (!returns) return;
  forget_deeper(p, *returns, depth);
  // Functions that ended in each other's calls return together; the function that they return to is
  // reported once.
  while (!returns->stack.empty() && returns->stack.back().depth == depth) {
    AwaitedReturn r = take_last(p, *returns);
    r.tells_caller = r.tells_caller && (returns->stack.empty() || returns->stack.back().depth != depth);
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
  bool tells_handler = false;
  while (!returns->stack.empty() && returns->stack.back().depth > depth) {
    const AwaitedReturn r = take_last(p, *returns);
    tells_handler |= r.tells_caller;
    tell_exception(p, r, handler != nullptr);
  }
  if (handler && tells_handler) tell_return_to(p, handler);
}

void leave_traced_calls(Process& p) {
  if (auto* returns = awaited(p))
    while (!returns->stack.empty()) take_last(p, *returns);
}

void call_time_begins(Process& p) {
  AwaitedReturns* returns = awaited(p);
  if (returns && returns->timed) returns->since_ns = monotonic_ns();
}

void call_time_ends(Process& p) {
  AwaitedReturns* returns = awaited(p);
  if (returns && returns->timed) charge(p, *returns);
}

}  // namespace vmrun
