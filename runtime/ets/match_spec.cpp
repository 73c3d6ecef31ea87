// SPDX-License-Identifier: Apache-2.0
#include "runtime/ets/match_spec.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "vm/base/release.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/code/module.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/map.hpp"
#include "vm/term/print.hpp"

namespace vmrun::ets {
namespace {

constexpr int kMostDepth = 2000;  // levels of nested expressions, which are evaluated by recursion
constexpr Word kMostCallArguments = 8;

// OTP shows this much of each term in a message about an error.
constexpr std::size_t kMostTextBytes = 99;
std::string short_text(Term t) { return term_text(t, 2 * kMostTextBytes); }

bool is_any(Term t) { return t == atoms::underscore; }

/// Whether the list ends with '_' behind the patterns of the first arguments.
bool takes_more_arguments(Term head) {
  if (!head.is_list() || !release_has(Trait::kOpenHeads)) return false;
  while (head.is_list()) head = head.tail();
  return is_any(head);
}

/// Whether more than one term can match the pattern: it has a variable, or a map, which matches all
/// maps that have its pairs.
[[gnu::no_stack_protector]] bool is_open(Term t) {
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
      return true;
    }
  }
  return false;
}

/// is_record is there with three arguments only.
Export* guard_function(Term name, Word arity) {
  static const Term is_record = intern_atom("is_record");
  if (name == is_record && arity != 3) return nullptr;
  Export* e = find_export(atoms::erlang, name, static_cast<unsigned>(arity));
  return e && e->bif && (e->bif_flags & BifRow::kGuard) ? e : nullptr;
}

/// A function of tracing: the number of its arguments, whether guards may call it, and the dialects
/// that have it. kAll: all that trace. kCallsAndSends: all but kReceive. kCalls: kTrace alone.
enum class Of : std::uint8_t { kAll, kCallsAndSends, kCalls };
struct TraceFunctionRow {
  const char* name;
  Word least, most;
  bool in_guards;
  Of of;
};
constexpr TraceFunctionRow kTraceFunctions[] = {
    {"message", 1, 1, false, Of::kAll},
    {"return_trace", 0, 0, false, Of::kAll},
    {"exception_trace", 0, 0, false, Of::kAll},
    {"is_seq_trace", 0, 0, true, Of::kCallsAndSends},
    {"set_seq_token", 2, 2, false, Of::kCallsAndSends},
    {"get_seq_token", 0, 0, false, Of::kCallsAndSends},
    {"display", 1, 1, false, Of::kAll},
    {"process_dump", 0, 0, false, Of::kCallsAndSends},
    {"enable_trace", 1, 2, false, Of::kCallsAndSends},
    {"disable_trace", 1, 2, false, Of::kCallsAndSends},
    {"trace", 2, 3, false, Of::kCallsAndSends},
    {"caller", 0, 0, false, Of::kCalls},
    {"caller_line", 0, 0, false, Of::kCalls},
    {"current_stacktrace", 0, 1, false, Of::kCalls},
    {"silent", 1, 1, false, Of::kCallsAndSends},
    {"get_tcw", 0, 0, true, Of::kAll},
    {"set_tcw", 1, 1, false, Of::kAll},
};

bool has(MatchSpec::Dialect dialect, Of of) {
  using Dialect = MatchSpec::Dialect;
  switch (dialect) {
    case Dialect::kTable: return false;
    case Dialect::kTrace: return true;
    case Dialect::kSend: return of != Of::kCalls;
    case Dialect::kReceive: return of == Of::kAll;
  }
  return false;
}

static_assert(std::size(kTraceFunctions) == static_cast<std::size_t>(TraceFunction::kSetControlWord) + 1);

const TraceFunctionRow& row_of(TraceFunction f) { return kTraceFunctions[static_cast<std::size_t>(f)]; }

/// Older releases do not have every function.
std::optional<TraceFunction> if_known(TraceFunction f) {
  if (f == TraceFunction::kCurrentStacktrace && !release_has(Trait::kStacktraceInMatchSpecs)) return {};
  return f;
}

std::optional<TraceFunction> trace_function(Term name) {
  static const auto names = [] {
    std::array<Term, std::size(kTraceFunctions)> atoms;
    for (std::size_t i = 0; i < atoms.size(); ++i) atoms[i] = intern_atom(kTraceFunctions[i].name);
    return atoms;
  }();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return if_known(static_cast<TraceFunction>(i));
  return std::nullopt;
}

/// Whether OTP implements it as a function and not as a special form; its error messages differ.
bool is_plain(TraceFunction f) {
  return f == TraceFunction::kGetControlWord || f == TraceFunction::kSetControlWord;
}

std::string special_form(std::string_view name) { return "Special form '" + std::string(name) + "' "; }

bool is_lazy(Term name) { return name == atoms::andalso || name == atoms::orelse; }
/// Whether it is one of and, or, andalso, orelse, which take any number of arguments.
bool is_junction(Term name) { return is_lazy(name) || name == atoms::and_ || name == atoms::or_; }

constexpr SWord kMostVariableNumber = 100'000'000;

}  // namespace

SWord variable_number(Term atom) {
  const std::string_view text = atom_text(atom);
  if (text.size() < 2 || text.size() > 10 || text[0] != '$') return -1;
  if (text[1] == '0' && text.size() > 2) return -1;
  SWord n = 0;
  for (char c : text.substr(1)) {
    if (c < '0' || c > '9') return -1;
    n = n * 10 + (c - '0');
  }
  return n <= kMostVariableNumber ? n : -1;
}

void MatchSpec::refuse(std::string_view why) { errors_.emplace_back(why.substr(0, kMostTextBytes)); }

MatchSpec::MatchSpec(Process& p, Term pattern, Result result) : p_(p) {
  clauses_.push_back({pattern, Term::nil(), Term::nil(), result});
  note_variables(pattern);
  for (Word n : numbers_) bindings_.push_back({n, kNonValue});
}

MatchSpec::MatchSpec(Process& p, Term specification, Dialect dialect) : p_(p), dialect_(dialect) {
  if (!specification.is_list()) {
    refuse("Match programs are not in a list.");
  } else if (list_length(specification) < 0) {
    refuse("Match programs are not in a proper list.");
    specification = Term::nil();
  }
  for (; specification.is_list(); specification = specification.tail()) {
    const Term c = specification.head();
    if (!c.is_tuple() || c.tuple_arity() != 3) {
      refuse("Match program part is not a tuple of arity 3.");
      break;
    }
    Clause clause{c.element(0), c.element(1), c.element(2), Result::kBody};
    check_clause(clause);
    if (!valid()) break;
    clauses_.push_back(clause);
  }
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  bindings_.clear();
  for (Word n : numbers_) bindings_.push_back({n, kNonValue});
}

[[gnu::no_stack_protector]] void MatchSpec::note_variables(Term pattern) {
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
        if (is_any(key)) return refuse("Underscore found in map key.");
        if (key.is_atom() && variable_number(key) >= 0) return refuse("Variable found in map key.");
        work.push(value);
      }
    }
  }
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
}

/// For tables any term may be a head. For tracing the arguments of a call are a list.
bool MatchSpec::check_head(Term head) {
  if (!is_trace() || head.is_tuple() || list_length(head) >= 0 || takes_more_arguments(head)) return true;
  if (head.is_atom() && (is_any(head) || variable_number(head) >= 0)) return true;
  refuse(head.is_list() ? "Match expression part " + short_text(head) + " is not a proper list."
                        : "Match head is invalid in this context.");
  return false;
}

void MatchSpec::check_clause(Clause& c) {
  if (!check_head(c.head)) return;
  // Only variables that are bound in this clause may be used in it.
  std::vector<Word> before;
  before.swap(numbers_);
  note_variables(c.head);
  if (!valid()) return;
  bindings_.clear();
  for (Word n : numbers_) bindings_.push_back({n, kNonValue});
  check_expressions(c.guards, true);
  if (!is_trace() && !c.body.is_list()) return refuse("Body clause does not return anything.");
  check_expressions(c.body, false);
  if (!is_trace() && c.body.is_list() && c.body.tail().is_nil()) {
    if (c.body.head() == atoms::dollar_object) c.result = Result::kObject;
    if (c.body.head() == atoms::dollar_bindings) c.result = Result::kBindings;
  }
  numbers_.insert(numbers_.end(), before.begin(), before.end());
}

void MatchSpec::check_expressions(Term list, bool in_guard) {
  if (!list.is_list() && !list.is_nil()) return refuse("Match expression is not a list.");
  for (; list.is_list(); list = list.tail()) check_expression(list.head(), in_guard, 0);
  if (!list.is_nil()) refuse("Match expression is not a proper list.");
}

[[gnu::no_stack_protector]] void MatchSpec::check_expression(Term e, bool in_guard, int depth) {
  if (depth > kMostDepth) {
    exceeds_limit_ = true;
    return refuse("Excessive nesting; system limit reached near: " + short_text(e));
  }
  if (e.is_atom()) {
    const SWord n = variable_number(e);
    const auto same = [=](const Binding& b) { return b.number == static_cast<Word>(n); };
    if (n >= 0 && std::none_of(bindings_.begin(), bindings_.end(), same))
      refuse("Variable $" + std::to_string(n) + " is unbound.");
  } else if (e.is_list()) {
    for (; e.is_list(); e = e.tail()) check_expression(e.head(), in_guard, depth + 1);
    check_expression(e, in_guard, depth + 1);
  } else if (e.is_map()) {
    Term key, value;
    for (MapIterator it(e); it.next(&key, &value);) {
      check_expression(key, in_guard, depth + 1);
      check_expression(value, in_guard, depth + 1);
    }
  } else if (e.is_tuple()) {
    check_call(e, in_guard, depth);
  }
}

/// Checks a call {Name, Argument, …}, or {{Element, …}}, which builds a tuple.
void MatchSpec::check_call(Term e, bool in_guard, int depth) {
  const Word arity = e.tuple_arity();
  if (arity == 1 && e.element(0).is_tuple()) {
    e = e.element(0);
    for (Word i = 0; i < e.tuple_arity(); ++i) check_expression(e.element(i), in_guard, depth + 1);
  } else if (arity == 0 || !e.element(0).is_atom() || variable_number(e.element(0)) >= 0) {
    refuse(short_text(e) + " is neither a function call, nor a tuple (tuples are written {{ ... }}).");
  } else if (check_name(e, in_guard) && e.element(0) != atoms::const_) {
    for (Word i = 1; i < arity; ++i) check_expression(e.element(i), in_guard, depth + 1);
  }
}

/// Whether the function exists with this number of arguments, and may be called here.
bool MatchSpec::check_name(Term call, bool in_guard) {
  const Term name = call.element(0);
  const Word count = call.tuple_arity() - 1;
  const std::string text(atom_text(name));
  const auto fail = [&](const std::string& why) {
    refuse(why);
    return false;
  };
  if (name == atoms::const_)
    return count == 1 ||
           fail(special_form(text) + "called with more than one argument in " + short_text(call) + ".");
  if (is_junction(name))
    return count >= 1 || fail(special_form(text) + "called without arguments in " + short_text(call) + ".");
  if (name == atoms::self)
    return count == 0 || fail(special_form(text) + "called with arguments in " + short_text(call) + ".");
  if (const auto f = trace_function(name); f && (!is_plain(*f) || count == row_of(*f).most))
    return check_trace_function(*f, call, in_guard);
  if (count <= kMostCallArguments && guard_function(name, count)) return true;
  return fail("Function " + short_text(name) + "/" + std::to_string(count) + " does_not_exist.");
}

bool MatchSpec::check_trace_function(TraceFunction f, Term call, bool in_guard) {
  const TraceFunctionRow& row = row_of(f);
  const Word count = call.tuple_arity() - 1;
  const auto fail = [&](const std::string& why) {
    refuse(is_plain(f) ? "Function " + std::string(row.name) + "/" + std::to_string(count) +
                             " cannot be called in this context."
                       : special_form(row.name) + why);
    return false;
  };
  if (!has(dialect_, row.of)) return fail("used in wrong dialect.");
  if (in_guard && !row.in_guards) return fail("called in guard context.");
  if (f == TraceFunction::kCurrentStacktrace && count == 1) {
    const Term depth = call.element(1);
    if (!depth.is_small()) return fail("called with non small argument.");
    return depth.small_value() >= 0 || fail("called with negative integer argument.");
  }
  if (count >= row.least && count <= row.most) return true;
  return fail((row.most == 0 ? "called with arguments in " : "called with wrong number of arguments in ") +
              short_text(call) + ".");
}

Term* MatchSpec::binding(Word number) {
  const auto it = std::lower_bound(bindings_.begin(), bindings_.end(), number,
                                   [](const Binding& b, Word n) { return b.number < n; });
  return &it->value;
}

[[gnu::no_stack_protector]] bool MatchSpec::matches(Term pattern, Term value) {
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

/// The arguments of a call are matched one by one; a head that is a tuple stands for a list of
/// them.
bool MatchSpec::head_matches(Term head, Term object) {
  if (!is_trace() || !head.is_tuple()) return matches(head, object);
  for (Word i = 0; i < head.tuple_arity(); ++i, object = object.tail())
    if (!object.is_list() || !matches(head.element(i), object.head())) return false;
  return object.is_nil();
}

const MatchSpec::Clause* MatchSpec::first_match(Term object) {
  object_ = object;
  in_body_ = false;
  for (const Clause& c : clauses_) {
    for (Binding& b : bindings_) b.value = kNonValue;
    if (head_matches(c.head, object) && guards_hold(c.guards)) return &c;
  }
  return nullptr;
}

Term MatchSpec::run(Term object) {
  const Clause* c = first_match(object);
  if (!c) return kNonValue;
  if (c->result == Result::kObject) return object;
  if (c->result == Result::kBindings) return all_bindings();
  in_body_ = true;
  Term result;
  for (Term b = c->body; b.is_list(); b = b.tail()) result = evaluate(b.head());
  return result;
}

bool MatchSpec::run_for_call(Term arguments, TraceActions& actions) {
  actions_ = &actions;
  const Clause* c = first_match(arguments);
  in_body_ = true;
  for (Term b = c ? c->body : Term::nil(); b.is_list(); b = b.tail()) evaluate(b.head());
  actions_ = nullptr;
  return c;
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
  if (e.element(0) == atoms::const_) return e.element(1);
  const Term value = is_junction(e.element(0)) ? evaluate_junction(e) : evaluate_call(e);
  return value || !in_body_ ? value : atoms::exit_upper;
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

/// Evaluates and, or, andalso, orelse.
Term MatchSpec::evaluate_junction(Term e) {
  const Term name = e.element(0);
  const Word count = e.tuple_arity() - 1;
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

Term MatchSpec::evaluate_call(Term e) {
  const Term name = e.element(0);
  const Word count = e.tuple_arity() - 1;
  Term arguments[kMostCallArguments];
  for (Word i = 0; i < count; ++i) {
    arguments[i] = evaluate(e.element(i + 1));
    if (!arguments[i]) return kNonValue;
  }
  if (actions_)
    if (const auto f = trace_function(name)) return actions_->call(p_, *f, arguments, count);
  const StaysHere stays;
  return guard_function(name, count)->bif(p_, arguments);
}

std::vector<Term> MatchSpec::bound_keys(Word keypos) const {
  const auto hash = [](Term t) { return hash_term(t); };
  std::unordered_set<Term, decltype(hash), bool (*)(Term, Term)> seen(clauses_.size(), hash, equal_exact);
  std::vector<Term> keys;
  for (const Clause& c : clauses_) {
    if (!c.head.is_tuple() || c.head.tuple_arity() < keypos) return {};
    const Term key = c.head.element(keypos - 1);
    if (is_open(key)) return {};
    if (clauses_.size() == 1 || seen.insert(key).second) keys.push_back(key);
  }
  return keys;
}

namespace {

/// The tuple that {{...}} builds, or the term T of {const, T}, which sets *literal. kNonValue for
/// any other expression.
Term built_term(Term expression, bool* literal) {
  if (!expression.is_tuple()) return kNonValue;
  if (expression.tuple_arity() == 1) return expression.element(0);
  *literal = expression.tuple_arity() == 2 && expression.element(0) == atoms::const_;
  return *literal ? expression.element(1) : kNonValue;
}

/// Whether the expression, or a literal term, evaluates to the term that has matched the pattern.
bool builds(Term e, Term pattern, bool literal) {
  for (; e.is_list(); e = e.tail(), pattern = pattern.tail())
    if (!pattern.is_list() || !builds(e.head(), pattern.head(), literal)) return false;
  if (e.is_tuple() && !literal) {
    const Term built = built_term(e, &literal);
    if (!built || (!literal && !built.is_tuple())) return false;
    e = built;
  }
  if (e.is_list()) return builds(e, pattern, literal);
  if (e.is_tuple()) {
    if (!pattern.is_tuple() || pattern.tuple_arity() != e.tuple_arity()) return false;
    for (Word i = 0; i < e.tuple_arity(); ++i)
      if (!builds(e.element(i), pattern.element(i), literal)) return false;
    return true;
  }
  if (e.is_atom()) {
    const bool is_special = is_any(e) || e == atoms::dollar_object || e == atoms::dollar_bindings;
    return e == pattern && !is_special && !(literal && variable_number(e) >= 0);
  }
  return !e.is_map() && equal_exact(e, pattern);
}

}  // namespace

Term MatchSpec::key_pattern(Word keypos) const {
  if (clauses_.size() != 1) return kNonValue;
  const Term head = clauses_[0].head;
  if (!head.is_tuple() || head.tuple_arity() < keypos) return kNonValue;
  const Term key = head.element(keypos - 1);
  return !key.is_atom() && is_open(key) ? key : kNonValue;
}

int compare_to_pattern(Term key, Term pattern) {
  for (; pattern.is_list() && key.is_list(); pattern = pattern.tail(), key = key.tail()) {
    if (const int c = compare_to_pattern(key.head(), pattern.head())) return c;
    if (is_open(pattern.head())) return 0;
  }
  if (pattern.is_atom() && (is_any(pattern) || variable_number(pattern) >= 0)) return 0;
  if (pattern.is_map() && key.is_map()) return 0;
  if (!pattern.is_tuple() || !key.is_tuple()) return compare(key, pattern);
  const Word arity = pattern.tuple_arity();
  if (key.tuple_arity() != arity) return key.tuple_arity() < arity ? -1 : 1;
  for (Word i = 0; i < arity; ++i) {
    if (const int c = compare_to_pattern(key.element(i), pattern.element(i))) return c;
    if (is_open(pattern.element(i))) return 0;
  }
  return 0;
}

bool MatchSpec::keep_key(Word keypos) const {
  static const Term element = intern_atom("element");
  const auto keeps = [=](const Clause& c) {
    if (!c.body.is_list() || !c.body.tail().is_nil()) return false;
    const Term result = c.body.head();
    if (result == atoms::dollar_object) return true;
    bool literal = false;
    const Term object = built_term(result, &literal);
    // {element, KeyPosition, '$_'}
    const auto takes_key = [=](Term e) {
      return !literal && e.is_tuple() && e.tuple_arity() == 3 && e.element(0) == element &&
             e.element(1) == Term::small(static_cast<SWord>(keypos)) && e.element(2) == atoms::dollar_object;
    };
    const auto has_key = [=](Term t) { return t.is_value() && t.is_tuple() && t.tuple_arity() >= keypos; };
    if (!has_key(c.head) || !has_key(object)) return false;
    const Term key = object.element(keypos - 1);
    return takes_key(key) || builds(key, c.head.element(keypos - 1), literal);
  };
  return std::all_of(clauses_.begin(), clauses_.end(), keeps);
}

}  // namespace vmrun::ets
