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

Term (*match_call)(Process& p, Term specification, Term object) = nullptr;

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
  Term specification, original;
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

/// The function that `called` returns to. At a call that is no last one the address is not on the
/// stack yet: then it is the one that runs.
Term caller_term(Process& p, Heap& heap, const FunctionHeader& called, Word depth) {
  const FunctionHeader* f = nullptr;
  const Export* e = find_export(called.module, called.function, called.arity);
  if (depth > p.heap.stack_words() || (e && e->bif)) f = code_view.header_at(p.ip);
  for (const Term* s = p.heap.stop; s < p.heap.end && (!f || f == &called); s++)
    if (s->is_header() && s->raw() != 0) return caller_at(heap, reinterpret_cast<const Word*>(s->raw()) - 1);
  return f ? name_term(heap, *f) : atoms::undefined;
}

void tell_call(Process& p, const FunctionHeader& f, Term arguments, Term along) {
  if (is_traced(p, kTraceSilent)) return;
  Arena arena;
  Term* hp = arena.alloc(4);
  const Term call =
      make_tuple(hp, f.module, f.function, is_traced(p, kTraceArity) ? Term::small(f.arity) : arguments);
  trace_event(p, atoms::call, call, along == atoms::true_ ? kNonValue : along);
}

/// The first clause that matches decides. *along: true, false or a term. False when none does.
bool match_clauses(Process& p, const FunctionHeader& f, const Pattern& pattern, Term arguments, Word depth,
                   Term* along, unsigned* actions) {
  *along = atoms::true_;
  *actions = 0;
  if (pattern.specification.is_nil()) return true;
  const Term caller = caller_term(p, p.heap, f, depth);
  Term* hp = p.heap.alloc(3);
  const Term object = make_tuple(hp, arguments, caller);
  for (Term l = pattern.specification; l.is_list(); l = l.tail()) {
    const Term result = match_call(p, l.head().element(0), object);
    if (!result) continue;
    *along = result;
    *actions = static_cast<unsigned>(l.head().element(1).small_value());
    return true;
  }
  return false;
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

void set_call_pattern(Term module, Term function, unsigned arity, bool local, Term specification,
                      Term original) {
  auto pattern = std::make_shared<Pattern>();
  pattern->local = local;
  pattern->specification = copy_to(pattern->arena, specification, Literals::kCopied);
  pattern->original = copy_to(pattern->arena, original, Literals::kCopied);
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
  const Term original = copy_to(out, pattern->original);
  Term* hp = out.alloc(3);
  return make_tuple(hp, pattern->local ? atoms::local : atoms::global, original);
}

void call_traced(Process& p, const FunctionHeader& f, bool global, const Term* args, Word depth) {
  if (auto* stack = awaited(
          p))  // left by an exception that was not seen, or by a process that was not traced meanwhile
    while (!stack->empty() && stack->back().depth > depth) stack->pop_back();
  const auto pattern = find_pattern({f.module, f.function, f.arity});
  if (!pattern || (!pattern->local && !global)) return;
  const Term arguments = list_term(p.heap, args, f.arity);
  Term along;
  unsigned actions;
  if (!match_clauses(p, f, *pattern, arguments, depth, &along, &actions)) return;
  if (actions & kCallSilent) p.observed |= kTraceSilent;
  if (actions & kCallLoud) p.observed &= ~kTraceSilent;
  if (along != atoms::false_) tell_call(p, f, arguments, along);
  const bool tells_caller = pattern->local && is_traced(p, kTraceReturnTo) && depth > 0;
  if (actions & (kCallReturns | kCallExceptions) || tells_caller)
    returns_of(p).push_back({depth,
                             &f,
                             {f.module, f.function, f.arity},
                             (actions & kCallReturns) != 0,
                             (actions & kCallExceptions) != 0,
                             tells_caller});
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
