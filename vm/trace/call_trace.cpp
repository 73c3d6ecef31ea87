#include "vm/trace/call_trace.hpp"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "vm/heap/copy.hpp"
#include "vm/process/carried.hpp"
#include "vm/process/code_view.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

bool (*match_call)(Process& p, Term specification, Term arguments, TracedCall& call) = nullptr;
std::atomic<std::uint32_t> trace_control_word{0};

/// A return that somebody wants to know of.
struct AwaitedReturn {
  Word depth;
  const FunctionHeader* function;  // compared only: its code may be gone
  FunctionName name;
  bool tells_value, tells_exception, tells_caller;
};

struct AwaitedReturns {
  std::vector<AwaitedReturn> stack;
};

void free_awaited_returns(AwaitedReturns* returns) { delete returns; }

namespace {

struct Pattern {
  bool local;
  Arena arena;
  Term specification;
};

struct Key {
  Term module, function;
  unsigned arity;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& k) const {
    return hash_key(k.module) * 31 + hash_key(k.function) * 7 + k.arity;
  }
};

std::shared_mutex patterns_mutex;
std::unordered_map<Key, std::shared_ptr<const Pattern>, KeyHash> patterns;

std::shared_ptr<const Pattern> find_pattern(const Key& key) {
  std::shared_lock guard(patterns_mutex);
  const auto it = patterns.find(key);
  return it == patterns.end() ? nullptr : it->second;
}

std::vector<AwaitedReturn>& returns_of(Process& p) {
  Carried& c = carried_of(p);
  if (!c.awaited_returns) c.awaited_returns = new AwaitedReturns;
  return c.awaited_returns->stack;
}
std::vector<AwaitedReturn>* awaited(Process& p) {
  Carried* c = p.extra ? p.extra->carried : nullptr;
  return c && c->awaited_returns ? &c->awaited_returns->stack : nullptr;
}

template <class F>
Term name_term(Heap& heap, const F& f) {
  Term* hp = heap.alloc(4);
  return make_tuple(hp, f.module, f.function, Term::small(f.arity));
}

Term list_term(Heap& heap, const Term* terms, unsigned count) {
  Term list = Term::nil();
  while (count-- > 0) {
    Term* hp = heap.alloc(2);
    list = make_cons(hp, terms[count], list);
  }
  return list;
}

Term caller_at(Heap& heap, const Word* address) {
  const FunctionHeader* f = code_view.header_at(address);
  return f ? name_term(heap, *f) : atoms::undefined;
}

/// In the code that a call returns to; nullptr: nowhere. At a call that is no last one the address
/// is not on the stack yet: then it is the one that runs.
const Word* return_address(Process& p, const FunctionHeader& called, Word depth) {
  const FunctionHeader* f = nullptr;
  const Export* e = find_export(called.module, called.function, called.arity);
  if (depth > p.heap.stack_words() || (e && e->bif)) f = code_view.header_at(p.ip);
  for (const Term* s = p.heap.stop; s < p.heap.end && (!f || f == &called); s++)
    if (s->is_header() && s->raw() != 0) return reinterpret_cast<const Word*>(s->raw()) - 1;
  return f ? p.ip : nullptr;
}

/// tracer: who was it before the specification ran, which may have changed that.
void tell_call(Process& p, const Tracer& tracer, const TracedCall& call, Term arguments) {
  const FunctionHeader& f = call.function;
  Arena arena;
  Term* hp = arena.alloc(4);
  const Term mfa =
      make_tuple(hp, f.module, f.function, is_traced(p, kTraceArity) ? Term::small(f.arity) : arguments);
  trace_event_to(tracer, p, atoms::call, mfa, call.message == atoms::true_ ? kNonValue : call.message);
}

/// The address that is returned to lies on top of the stack.
void tell_return(Process& p, const AwaitedReturn& r, Term value) {
  Arena arena;
  if (r.tells_value && !is_traced(p, kTraceSilent))
    trace_event(p, atoms::return_from, name_term(arena, r.name), value);
  if (r.tells_caller && is_traced(p, kTraceReturnTo))
    trace_event(p, atoms::return_to, caller_at(arena, reinterpret_cast<const Word*>(p.heap.stop->raw()) - 1));
}

void tell_exception(Process& p, const AwaitedReturn& r) {
  if (!r.tells_exception || is_traced(p, kTraceSilent)) return;
  static constexpr Term kClasses[] = {atoms::error, atoms::exit, atoms::throw_};
  Arena arena;
  Term* hp = arena.alloc(3);
  const Term exception =
      make_tuple(hp, kClasses[static_cast<unsigned>(p.exception_class)], p.exception_value);
  trace_event(p, atoms::exception_from, name_term(arena, r.name), exception);
}

}  // namespace

Term caller_of(Process& p, const TracedCall& call, bool with_line, Heap& out) {
  const Word* address = return_address(p, call.function, call.depth);
  const FunctionHeader* f = address ? code_view.header_at(address) : nullptr;
  if (!f) return atoms::undefined;
  if (!with_line) return name_term(out, *f);
  const Term place = code_view.location(address, out);
  Term* hp = out.alloc(5);
  return make_tuple(hp, f->module, f->function, Term::small(f->arity), place);
}

void set_call_pattern(Term module, Term function, unsigned arity, bool local, Term specification) {
  auto pattern = std::make_shared<Pattern>();
  pattern->local = local;
  pattern->specification = copy_to(pattern->arena, specification, Literals::kCopied);
  std::unique_lock guard(patterns_mutex);
  patterns[{module, function, arity}] = std::move(pattern);
}

bool clear_call_pattern(Term module, Term function, unsigned arity) {
  std::unique_lock guard(patterns_mutex);
  return patterns.erase({module, function, arity}) != 0;
}

Term call_pattern_term(Term module, Term function, unsigned arity, Heap& out) {
  const auto pattern = find_pattern({module, function, arity});
  if (!pattern) return atoms::undefined;
  const Term specification = copy_to(out, pattern->specification);
  Term* hp = out.alloc(3);
  return make_tuple(hp, pattern->local ? atoms::local : atoms::global, specification);
}

void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth) {
  if (auto* stack = awaited(
          p))  // left by an exception that was not seen, or by a process that was not traced meanwhile
    while (!stack->empty() && stack->back().depth > depth) stack->pop_back();
  const auto pattern = find_pattern({f.module, f.function, f.arity});
  if (!pattern || (!pattern->local && !global)) return;
  Tracer* tracer = tracer_of(p);
  if (!tracer) return;
  tracer->retain();
  const Term arguments = list_term(p.heap, args, f.arity);
  TracedCall call{f, depth};
  const bool matches =
      pattern->specification.is_nil() || match_call(p, pattern->specification, arguments, call);
  if (matches && !is_traced(p, kTraceSilent)) {
    if (call.message != atoms::false_) tell_call(p, *tracer, call, arguments);
    const bool tells_caller = pattern->local && is_traced(p, kTraceReturnTo) && depth > 0;
    if (call.returns || call.exceptions || tells_caller)
      returns_of(p).push_back(
          {depth, &f, {f.module, f.function, f.arity}, call.returns, call.exceptions, tells_caller});
  }
  tracer->release();
}

void return_traced(Process& p, Term value, Word depth) {
  auto* stack = awaited(p);
  if (!stack) return;
  while (!stack->empty() && stack->back().depth > depth) stack->pop_back();
  // Functions that ended in each other's calls return together; whom they return to is told once.
  while (!stack->empty() && stack->back().depth == depth) {
    AwaitedReturn r = stack->back();
    stack->pop_back();
    r.tells_caller = r.tells_caller && (stack->empty() || stack->back().depth != depth);
    tell_return(p, r, value);
  }
}

void built_in_returned(Process& p, const FunctionHeader& f, Term result, Word depth) {
  auto* stack = awaited(p);
  if (!stack || stack->empty() || stack->back().depth != depth || stack->back().function != &f) return;
  const AwaitedReturn r = stack->back();
  stack->pop_back();
  if (result.is_value()) tell_return(p, r, result);
  else if (p.bif_action == BifAction::kRaise) tell_exception(p, r);
}

void exception_traced(Process& p, Word depth) {
  auto* stack = awaited(p);
  if (!stack) return;
  while (!stack->empty() && stack->back().depth > depth) {
    const AwaitedReturn r = stack->back();
    stack->pop_back();
    tell_exception(p, r);
  }
}

}  // namespace vmrun
