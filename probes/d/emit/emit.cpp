// SPDX-License-Identifier: Apache-2.0
// Code of clauses and statements. The members of Emitter make the code of their parts.
#include "probes/d/emit/emit.hpp"

#include "probes/d/emit/values.hpp"
#include "probes/d/expressions/vocabulary.hpp"
#include "probes/d/script/action_table.hpp"

namespace vmrun::d::lang {
namespace {

using Kind = Node::Kind;

/// Returns the place of the number of times among the arguments of an aggregating function, or 0
/// when the function does not take one.
std::size_t increment_argument(Aggregating how) {
  if (how == Aggregating::kLquantize) return 4;
  if (how == Aggregating::kLlquantize) return 5;
  return how >= Aggregating::kQuantize ? 1 : 0;
}

class Emitter {
 public:
  Emitter(Script& script, Types& types, const Symbols& symbols)
      : script_(script), code_(script.program), values_(code_, types, symbols, script.program.options) {}

  void clause(CheckedClause& checked);

 private:
  void statements(const std::vector<Statement>& list);
  void statement(const Statement& s);
  void if_statement(const Statement& s);
  void aggregation(const Statement& s);
  void speculation(const Node* call);
  void action(const Node* call);
  void field(const Node* n, const Field& f);
  void text_field(const Node* n, const Field& f);
  void fields(const Node* call, const ActionInfo& info, std::size_t first);

  Script& script_;
  Code code_;
  Values values_;
};

void Emitter::clause(CheckedClause& checked) {
  Clause out;
  out.probes = checked.matched.enabled;
  out.makes_record = checked.tree.body.empty() || checked.records;
  if (checked.tree.predicate != nullptr) {
    code_.start(out.predicate);
    values_.condition(checked.tree.predicate);
    code_.put(Operation::kRet);
  }
  if (!checked.tree.body.empty()) {
    code_.start(out.body);
    statements(checked.tree.body);
    code_.put(Operation::kRet);
  }
  script_.program.clauses.push_back(std::move(out));
}

// --- Records ---

void Emitter::text_field(const Node* n, const Field& f) {
  if (n->is_reference(Where::kArgumentText)) code_.put(Operation::kFarg, 0, 0, 0, n->index);
  else if (n->is_reference(Where::kBuiltin)) code_.put(Operation::kFbuiltin, 0, 0, 0, n->index);
  else if (n->is_call("term2str")) code_.put(Operation::kFterm, values_.term(n->children[0]), 0, 0, f.most);
  else code_.put(Operation::kFs, values_.value(n));
}

void Emitter::field(const Node* n, const Field& f) {
  const unsigned mark = code_.free(), terms = code_.free_term();
  if (f.kind == Field::Kind::kText && n->kind == Kind::kConditional) {
    // In arg1 != 0 ? copyinstr(arg1) : "", each branch puts its own field, so that no text is made.
    const std::size_t no = code_.put(Operation::kJz, 0, values_.condition(n->children[0]));
    code_.free_from(mark);
    field(n->children[1], f);
    const std::size_t end = code_.put(Operation::kJump);
    code_.here(no);
    field(n->children[2], f);
    code_.here(end);
    return;
  }
  switch (f.kind) {
    case Field::Kind::kText: text_field(n, f); break;
    case Field::Kind::kInteger: code_.put(Operation::kFi, values_.value(n)); break;
    case Field::Kind::kBytes: code_.put(Operation::kFb, values_.value(n), 0, 0, f.most); break;
    case Field::Kind::kStack: code_.put(Operation::kFstack, 0, 0, 0, values_.keys().frames(n)); break;
  }
  code_.free_from(mark);
  code_.free_terms_from(terms);
}

/// The fields of an action are its arguments from the first one given.
void Emitter::fields(const Node* call, const ActionInfo& info, std::size_t first) {
  for (std::size_t i = 0; i < info.fields.size(); i++) field(call->children[i + first], info.fields[i]);
}

void Emitter::speculation(const Node* call) {
  const unsigned r = values_.value(call->children[0]);
  code_.put(call->text == "speculate" ? Operation::kSpecto
            : call->text == "commit"  ? Operation::kCommit
                                      : Operation::kDiscard,
            r);
}

void Emitter::action(const Node* call) {
  const ActionRow& row = *find_action(call->text);
  if (!row.records) return speculation(call);
  const ActionInfo& info = script_.actions[call->index];
  code_.put(Operation::kBegin, 0, 0, 0, call->index);
  switch (info.kind) {
    case ActionKind::kUstack:
    case ActionKind::kJstack: field(call, info.fields[0]); return;
    case ActionKind::kTracemem:
      field(call->children[0], info.fields[0]);
      if (info.fields.size() > 1) field(call->children[2], info.fields[1]);
      return;
    case ActionKind::kExit: {
      const unsigned r = values_.value(call->children[0]);
      code_.put(Operation::kFi, r);
      code_.put(Operation::kExit, r);
      return;
    }
    default: return fields(call, info, row.first_field);
  }
}

// --- Statements ---

void Emitter::aggregation(const Statement& s) {
  const Node *target = s.expression, *function = s.function;
  const Aggregation& a = script_.program.aggregations[target->index];
  const std::vector<Key> keys = values_.keys().prepare(target->children, nullptr);
  const unsigned what = code_.take();
  unsigned times = what;
  if (a.how == Aggregating::kCount) {
    code_.number(what, 1);
  } else {
    code_.free_from(what);
    values_.value(function->children[0]);
    const std::size_t increment = increment_argument(a.how);
    if (increment != 0 && function->children.size() > increment)
      times = values_.value(function->children[increment]);
    else code_.number(times = code_.take(), 1);
  }
  values_.keys().push(keys);
  code_.put(Operation::kAgg, what, times, 0, target->index);
}

void Emitter::if_statement(const Statement& s) {
  const std::size_t no = code_.put(Operation::kJz, 0, values_.condition(s.expression));
  statements(s.then);
  if (s.otherwise.empty()) return code_.here(no);
  const std::size_t end = code_.put(Operation::kJump);
  code_.here(no);
  statements(s.otherwise);
  code_.here(end);
}

void Emitter::statement(const Statement& s) {
  code_.at(s.place);
  code_.free_from(0);
  code_.free_terms_from(0);
  if (s.kind == Statement::Kind::kAggregation) aggregation(s);
  else if (s.kind == Statement::Kind::kIf) if_statement(s);
  else if (s.expression->kind == Kind::kCall && is_action(s.expression->text)) action(s.expression);
  else values_.value(s.expression);
}

void Emitter::statements(const std::vector<Statement>& list) {
  for (const Statement& s : list) statement(s);
}

}  // namespace

void emit(Script& script, Types& types, Checker& checker) {
  Emitter emitter(script, types, checker.symbols());
  for (CheckedClause& clause : checker.clauses()) emitter.clause(clause);
}

}  // namespace vmrun::d::lang
