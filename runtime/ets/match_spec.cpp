#include "runtime/ets/match_spec.hpp"

#include <algorithm>

#include "vm/base/work_stack.hpp"
#include "vm/code/module.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/map.hpp"

namespace vmrun::ets {
namespace {

constexpr int kMostDepth = 2000;  // of nested expressions: they are evaluated by recursion
constexpr Word kMostCallArguments = 8;

bool is_any(Term t) { return t == atoms::underscore; }

/// A pattern or expression part that stands for itself.
bool has_variables(Term t) {
  WorkStack<Term, 32> work;
  work.push(t);
  while (!work.empty()) {
    t = work.pop();
    while (t.is_list()) {
      work.push(t.head());
      t = t.tail();
    }
    if (t.is_atom()) {
      if (is_any(t) || variable_number(t) >= 0) return true;
    } else if (t.is_tuple()) {
      for (Word i = 0; i < t.tuple_arity(); ++i) work.push(t.element(i));
    } else if (t.is_map()) {
      Term key, value;
      for (MapIterator it(t); it.next(&key, &value);) {
        work.push(key);
        work.push(value);
      }
    }
  }
  return false;
}

Export* guard_function(Term name, Word arity) {
  Export* e = find_export(atoms::erlang, name, static_cast<unsigned>(arity));
  return e && e->bif && (e->bif_flags & BifRow::kGuard) ? e : nullptr;
}

bool is_lazy(Term name) { return name == atoms::andalso || name == atoms::orelse; }
/// and, or of any number of arguments.
bool is_junction(Term name) { return is_lazy(name) || name == atoms::and_ || name == atoms::or_; }

}  // namespace

SWord variable_number(Term atom) {
  const std::string_view text = atom_text(atom);
  if (text.size() < 2 || text.size() > 9 || text[0] != '$') return -1;
  SWord n = 0;
  for (char c : text.substr(1)) {
    if (c < '0' || c > '9') return -1;
    n = n * 10 + (c - '0');
  }
  return n;
}

MatchSpec::MatchSpec(Process& p, Term pattern, Result result) : p_(p) {
  clauses_.push_back({pattern, Term::nil(), Term::nil(), result});
  valid_ = note_variables(pattern);
  for (Word n : numbers_) bindings_.push_back({n, kNonValue});
}

MatchSpec::MatchSpec(Process& p, Term specification) : p_(p) {
  valid_ = specification.is_list();
  for (; valid_ && specification.is_list(); specification = specification.tail()) {
    const Term c = specification.head();
    valid_ = c.is_tuple() && c.tuple_arity() == 3;
    if (!valid_) return;
    Clause clause{c.element(0), c.element(1), c.element(2), Result::kBody};
    valid_ = check_clause(clause);
    clauses_.push_back(clause);
  }
  valid_ = valid_ && specification.is_nil();
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  bindings_.clear();
  for (Word n : numbers_) bindings_.push_back({n, kNonValue});
}

bool MatchSpec::note_variables(Term pattern) {
  WorkStack<Term, 32> work;
  work.push(pattern);
  while (!work.empty()) {
    Term t = work.pop();
    while (t.is_list()) {
      work.push(t.head());
      t = t.tail();
    }
    if (t.is_atom()) {
      if (const SWord n = variable_number(t); n >= 0) numbers_.push_back(static_cast<Word>(n));
    } else if (t.is_tuple()) {
      for (Word i = 0; i < t.tuple_arity(); ++i) work.push(t.element(i));
    } else if (t.is_map()) {
      Term key, value;
      for (MapIterator it(t); it.next(&key, &value);) {
        if (has_variables(key)) return false;
        work.push(value);
      }
    }
  }
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  return true;
}

bool MatchSpec::check_clause(Clause& c) {
  if (!c.head.is_tuple() && !(c.head.is_atom() && (is_any(c.head) || variable_number(c.head) >= 0)))
    return false;
  // Bound in this clause: only those may be used in it.
  std::vector<Word> before;
  before.swap(numbers_);
  if (!note_variables(c.head)) return false;
  bindings_.clear();
  for (Word n : numbers_) bindings_.push_back({n, kNonValue});
  if (list_length(c.guards) < 0 || list_length(c.body) < 1) return false;
  for (Term g = c.guards; g.is_list(); g = g.tail()) {
    if (!check_expression(g.head(), 0)) return false;
  }
  for (Term b = c.body; b.is_list(); b = b.tail()) {
    if (!check_expression(b.head(), 0)) return false;
  }
  if (c.body.tail().is_nil() && c.body.head() == atoms::dollar_object) c.result = Result::kObject;
  if (c.body.tail().is_nil() && c.body.head() == atoms::dollar_bindings) c.result = Result::kBindings;
  numbers_.insert(numbers_.end(), before.begin(), before.end());
  return true;
}

bool MatchSpec::check_expression(Term e, int depth) const {
  if (depth > kMostDepth) return false;
  if (e.is_atom()) {
    const SWord n = variable_number(e);
    return n < 0 || std::any_of(bindings_.begin(), bindings_.end(),
                                [=](const Binding& b) { return b.number == static_cast<Word>(n); });
  }
  if (e.is_list()) {
    for (; e.is_list(); e = e.tail()) {
      if (!check_expression(e.head(), depth + 1)) return false;
    }
    return check_expression(e, depth + 1);
  }
  if (e.is_map()) {
    Term key, value;
    for (MapIterator it(e); it.next(&key, &value);) {
      if (!check_expression(key, depth + 1) || !check_expression(value, depth + 1)) return false;
    }
    return true;
  }
  if (!e.is_tuple()) return true;
  if (e.tuple_arity() == 0) return false;
  const Term name = e.element(0);
  const Word arguments = e.tuple_arity() - 1;
  Word first = 1;
  if (name.is_tuple()) {
    if (arguments) return false;
    e = name;
    first = 0;
  } else if (!name.is_atom()) {
    return false;
  } else if (name == atoms::const_) {
    return arguments == 1;
  } else if (!(is_junction(name) && arguments >= 1) &&
             (arguments > kMostCallArguments || !guard_function(name, arguments))) {
    return false;
  }
  for (Word i = first; i < e.tuple_arity(); ++i) {
    if (!check_expression(e.element(i), depth + 1)) return false;
  }
  return true;
}

Term* MatchSpec::binding(Word number) {
  const auto it = std::lower_bound(bindings_.begin(), bindings_.end(), number,
                                   [](const Binding& b, Word n) { return b.number < n; });
  return &it->value;
}

bool MatchSpec::matches(Term pattern, Term value) {
  struct Pair {
    Term pattern, value;
  };
  WorkStack<Pair, 24> work;
  work.push({pattern, value});
  while (!work.empty()) {
    const Pair top = work.pop();
    pattern = top.pattern;
    value = top.value;
    for (;;) {  // along a list
      if (pattern.is_atom()) {
        if (is_any(pattern)) break;
        const SWord n = variable_number(pattern);
        if (n < 0) {
          if (pattern != value) return false;
          break;
        }
        Term* bound = binding(static_cast<Word>(n));
        if (!*bound) {
          *bound = value;
        } else if (!equal_exact(*bound, value)) {
          return false;
        }
        break;
      }
      if (pattern.is_immed()) {
        if (pattern != value) return false;
        break;
      }
      if (pattern.is_list()) {
        if (!value.is_list()) return false;
        work.push({pattern.tail(), value.tail()});
        pattern = pattern.head();
        value = value.head();
        continue;
      }
      if (pattern.is_tuple()) {
        if (!value.is_tuple() || value.tuple_arity() != pattern.tuple_arity()) return false;
        for (Word i = pattern.tuple_arity(); i-- > 0;) work.push({pattern.element(i), value.element(i)});
      } else if (pattern.is_map()) {
        if (!value.is_map()) return false;
        Term key, part;
        for (MapIterator it(pattern); it.next(&key, &part);) {
          const Term there = map_get(value, key);
          if (!there) return false;
          work.push({part, there});
        }
      } else if (!equal_exact(pattern, value)) {
        return false;
      }
      break;
    }
  }
  return true;
}

Term MatchSpec::run(Term object) {
  object_ = object;
  for (const Clause& c : clauses_) {
    for (Binding& b : bindings_) b.value = kNonValue;
    if (!matches(c.head, object) || !guards_hold(c.guards)) continue;
    if (c.result == Result::kObject) return object;
    if (c.result == Result::kBindings) return all_bindings();
    Term result;
    for (Term b = c.body; b.is_list(); b = b.tail()) result = evaluate(b.head());
    return result ? result : atoms::exit_upper;
  }
  return kNonValue;
}

bool MatchSpec::guards_hold(Term guards) {
  for (; guards.is_list(); guards = guards.tail()) {
    if (evaluate(guards.head()) != atoms::true_) return false;
  }
  return true;
}

Term MatchSpec::all_bindings() {
  ListBuilder list(p_.heap);
  for (const Binding& b : bindings_) {
    if (b.value) list.add(b.value);
  }
  return list.finish();
}

Term MatchSpec::evaluate(Term e) {
  if (e.is_atom()) {
    if (e == atoms::dollar_object) return object_;
    if (e == atoms::dollar_bindings) return all_bindings();
    const SWord n = variable_number(e);
    return n < 0 ? e : *binding(static_cast<Word>(n));
  }
  if (e.is_list()) return evaluate_list(e);
  if (e.is_map()) return evaluate_map(e);
  if (!e.is_tuple()) return e;
  if (e.element(0).is_tuple()) return evaluate_tuple(e.element(0));
  return e.element(0) == atoms::const_ ? e.element(1) : evaluate_call(e);
}

Term MatchSpec::evaluate_list(Term e) {
  ListBuilder list(p_.heap);
  for (; e.is_list(); e = e.tail()) {
    const Term value = evaluate(e.head());
    if (!value) return kNonValue;
    list.add(value);
  }
  const Term tail = evaluate(e);
  return tail ? list.finish(tail) : kNonValue;
}

Term MatchSpec::evaluate_tuple(Term e) {
  const Word arity = e.tuple_arity();
  if (arity == 0) return e;
  Term* object = p_.heap.alloc(arity + 1);
  object[0] = Term::header(Term::Sub::kTuple, arity);
  for (Word i = 0; i < arity; ++i) object[i + 1] = Term::nil();
  for (Word i = 0; i < arity; ++i) {
    const Term value = evaluate(e.element(i));
    if (!value) return kNonValue;
    object[i + 1] = value;
  }
  return Term::boxed(object);
}

Term MatchSpec::evaluate_map(Term e) {
  Term map = empty_map(p_.heap), key, value;
  for (MapIterator it(e); it.next(&key, &value);) {
    const Term k = evaluate(key), v = evaluate(value);
    if (!k || !v) return kNonValue;
    map = map_put(p_.heap, map, k, v);
  }
  return map;
}

Term MatchSpec::evaluate_call(Term e) {
  const Term name = e.element(0);
  const Word count = e.tuple_arity() - 1;
  if (is_junction(name)) {
    const bool lazy = is_lazy(name), is_and = name == atoms::and_ || name == atoms::andalso;
    bool result = is_and;
    for (Word i = 1; i <= count; ++i) {
      const Term value = evaluate(e.element(i));
      if (lazy && i == count && value && result == is_and) return value;  // the last one may be any term
      if (value != atoms::true_ && value != atoms::false_) return kNonValue;
      result = is_and ? result && value == atoms::true_ : result || value == atoms::true_;
      if (lazy && result != is_and) break;
    }
    return bool_term(result);
  }
  Term arguments[kMostCallArguments];
  for (Word i = 0; i < count; ++i) {
    arguments[i] = evaluate(e.element(i + 1));
    if (!arguments[i]) return kNonValue;
  }
  const StaysHere stays;
  return guard_function(name, count)->bif(p_, arguments);
}

Term MatchSpec::bound_key(Word keypos) const {
  Term key;
  for (const Clause& c : clauses_) {
    if (!c.head.is_tuple() || c.head.tuple_arity() < keypos) return kNonValue;
    const Term k = c.head.element(keypos - 1);
    if (has_variables(k) || k.is_map() || (key && !equal_exact(key, k))) return kNonValue;
    key = k;
  }
  return key;
}

}  // namespace vmrun::ets
