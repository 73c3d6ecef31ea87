// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/check.hpp"

#include <algorithm>

#include "probes/d/descriptions/description_like.hpp"
#include "probes/d/expressions/builtin_variables.hpp"
#include "probes/d/expressions/vocabulary.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

namespace {

constexpr std::size_t kMostProbes = 65536;  // for one clause; the engine takes no more for a script

}  // namespace

// --- Declarations ---

std::int64_t Checker::constant(Node* expression, const char* tag) {
  expressions_.check(expression);
  if (expression->kind != Kind::kInteger || !types_.is_integer(expression->type))
    fail(expression->place, tag, "a constant integral expression is needed here");
  return static_cast<std::int64_t>(expression->value);
}

void Checker::enumerator(Place place, const std::string& name, std::int64_t value) {
  if (symbols_.find(VariableScope::kGlobal, name) != nullptr)
    fail(place, "D_DECL_IDRED", "identifier redeclared: " + name);
  symbols_.define(name, {.kind = Symbol::Kind::kEnumerator, .place = place, .type = kInt, .value = value});
}

void Checker::variable(const Declared& d) {
  const CType& type = types_.base(d.type);
  if (type.kind == CType::Kind::kVoid && type.bytes == 0)
    fail(d.place, "D_DECL_VOIDOBJ", "cannot declare a void object: " + d.name);
  if (!type.complete) fail(d.place, "D_DECL_INCOMPLETE", "incomplete type for: " + d.name);
  if (type.kind == CType::Kind::kVoid)
    fail(d.place, "D_DECL_DYNOBJ", "floating-point variables are not available: " + d.name);
  if (d.associative && d.scope == VariableScope::kThis)
    fail(d.place, "D_DECL_LOCASSC", "cannot declare a clause-local associative array: " + d.name);
  if (d.name.starts_with('`'))
    fail(d.place, "D_DECL_SCOPE", "scoping operator may not be used in a declaration");
  for (const TypeId key : d.keys)
    if (!types_.is_scalar(key) && !types_.is_text(key) && !types_.is_struct(key))
      fail(d.place, "D_DECL_PROTO_TYPE",
           "type \"" + types_.name(key) + "\" may not be used as a key of " + d.name);
  if (const Symbol* known = symbols_.find(d.scope, d.name)) {
    if (known->kind == Symbol::Kind::kEnumerator || known->kind == Symbol::Kind::kInline ||
        !types_.same(known->type, d.type) || known->associative != d.associative ||
        known->keys.size() != d.keys.size())
      fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
    return;
  }
  if (d.scope == VariableScope::kGlobal) {
    Node* n = nodes_.make(Kind::kName, d.place);
    n->text = d.name;
    if (d.name == "args" || d.name == "targs" || builtin(n, nodes_) || is_function(d.name) ||
        is_action(d.name) || is_aggregating(d.name))
      fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
  }
  Symbol& symbol = symbols_.create(d.scope, d.name, d.type, d.associative, d.place);
  if (d.associative) symbol.take_keys(d.keys);
}

void Checker::inlined(const Declared& d, const std::vector<std::string>& parameters, Node* value) {
  if (symbols_.find(VariableScope::kGlobal, d.name) != nullptr)
    fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
  if (is_function(d.name) || is_action(d.name) || is_aggregating(d.name))
    fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
  if (types_.kind(d.type) == CType::Kind::kVoid)
    fail(d.place, "D_DECL_VOIDOBJ", "an inline cannot be of type void: " + d.name);
  if (parameters.size() != d.keys.size() || std::ranges::find(parameters, "") != parameters.end())
    fail(d.place, "D_DECL_PROTO_FORM", "each parameter of " + d.name + " needs a name");
  if (value->kind == Kind::kXlate) {
    if (!types_.same(value->type, d.type))
      fail(d.place, "D_OP_INCOMPAT", "inline " + d.name + " is of another type than what is translated");
  } else if (!d.associative) {
    Node* trial = nodes_.clone(value, {});
    expressions_.check(trial);
    conversions_.assignable(trial, d.type, d.place);
  }
  symbols_.define(d.name, {.kind = Symbol::Kind::kInline,
                           .place = d.place,
                           .type = d.type,
                           .associative = d.associative,
                           .used_as_array = d.associative,
                           .keys = d.keys,
                           .inlined = value,
                           .parameters = parameters});
}

void Checker::translator(Place place, TypeId to, TypeId from, const std::string& variable,
                         std::vector<Member> members) {
  translators_.declare(place, to, from, variable, members);
  // Each member is checked once, with a node that stands for the translated value.
  Node* input = nodes_.make(Kind::kReference, place);
  input->type = from;
  input->checked = true;
  for (const Member& member : members) {
    FoundMember found;
    find_member(types_, to, member.name, found);
    Node* value = nodes_.clone(member.value, {{variable, input}});
    expressions_.check(value);
    conversions_.assignable(value, found.type, member.place, "D_XLATE_INCOMPAT");
  }
}

// --- Clauses ---

void Checker::statement(Statement& s) {
  switch (s.kind) {
    case Statement::Kind::kAggregation: return aggregations_.statement(s, actions_.order());
    case Statement::Kind::kIf: return if_statement(s);
    case Statement::Kind::kExpression: break;
  }
  Node*& n = s.expression;
  if (n->kind == Kind::kCall && is_traced_alone(n->text)) {
    Node* call = n;
    n = nodes_.make(Kind::kCall, call->place);
    n->text = "trace";
    n->children = {call};
  }
  if (n->kind == Kind::kCall && is_action(n->text)) return actions_.statement(n);
  if (n->kind == Kind::kCall && is_unknown_function(n->text) &&
      symbols_.find(VariableScope::kGlobal, n->text) == nullptr)
    fail(n->place, "D_FUNC_UNDEF", "undefined function name: " + n->text + function_hint(n, true));
  expressions_.check(s.expression);
}

void Checker::if_statement(Statement& s) {
  failures_.guard([&] { expressions_.check_scalar(s.expression, "if"); });
  // What one branch records does not count as coming before the other branch.
  const ClauseOrder before = actions_.order();
  statements(s.then);
  const ClauseOrder then = actions_.order();
  actions_.order() = before;
  statements(s.otherwise);
  actions_.order().join(then);
}

void Checker::excuse_assigned(const Node* n) {
  if (n == nullptr) return;
  if (n->kind == Kind::kAggregation) failures_.excuse("@" + n->text);
  if (n->kind == Kind::kAssign) {
    const Node* to = n->children[0];
    while (to->kind == Kind::kIndex || to->kind == Kind::kMember) to = to->children[0];
    if (to->kind == Kind::kName) failures_.excuse(to->text);
  }
  for (const Node* child : n->children) excuse_assigned(child);
}

void Checker::statements(std::vector<Statement>& list) {
  for (Statement& s : list)
    if (!failures_.guard([&] { statement(s); })) excuse_assigned(s.expression);
}

void Checker::match_description(CheckedClause& clause, std::size_t i, ClauseInfo& info) {
  static const std::vector<ProbeInfo> kNone;
  const Matchable there_is{options_.probes == nullptr ? kNone : *options_.probes, options_.count_functions};
  const std::string& text = clause.tree.descriptions[i];
  const Place place = clause.tree.description_places[i];
  const Description description = parse_description(text, source_kind_, place);
  const std::size_t count = match(description, there_is, script_.program, clause.matched);
  script_.matched += count;
  ClauseInfo::Matched& matched = info.matched.emplace_back(
      ClauseInfo::Matched{.description = text, .probes = count, .at = {place.source, place.offset}});
  if (count == 0) {
    matched.meant = description_like(text, source_kind_, there_is, options_.list_functions);
    matched.why_none = why_no_match(description, there_is.probes);
  }
  if (count == 0 && !options_.zero_matches) fail(place, "D_PDESC_ZERO", no_match_text(matched));
  if (clause.matched.enabled.size() > kMostProbes) fail(place, "D_PDESC_INVAL", "too many probes: " + text);
}

/// Matches the descriptions of a clause against the target's probes.
ClauseInfo Checker::match_descriptions(CheckedClause& clause) {
  ClauseInfo out{.file = clause.tree.place.file, .line = clause.tree.place.line};
  bool is_wrong = false;
  for (std::size_t i = 0; i < clause.tree.descriptions.size(); i++) {
    out.description += (i == 0 ? "" : ",") + clause.tree.descriptions[i];
    is_wrong |= !failures_.guard([&] { match_description(clause, i, out); });
  }
  failures_.set_in_doubt(is_wrong);
  return out;
}

void Checker::predicate(Node*& n) {
  expressions_.check(n);
  if (!types_.is_scalar(n->type))
    fail(n->place, "D_PRED_SCALAR", "predicate result must be of scalar type, not " + nodes_.described(n));
}

void Checker::clause(ClauseTree tree) {
  if (clauses_.size() >= 65535) fail(tree.place, "D_ID_OFLOW", "too many clauses");
  CheckedClause& clause = clauses_.emplace_back();
  clause.tree = std::move(tree);
  script_.clauses.push_back(match_descriptions(clause));
  arguments_.begin(clause.matched, script_.clauses.back().description);
  actions_.begin(clauses_.size() - 1);
  if (clause.tree.predicate != nullptr && !failures_.guard([&] { predicate(clause.tree.predicate); }))
    excuse_assigned(clause.tree.predicate);
  statements(clause.tree.body);
  clause.records = actions_.order().records();
  arguments_.end();
  failures_.set_in_doubt(false);
}

}  // namespace vmrun::d::lang
