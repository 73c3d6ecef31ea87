// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/aggregations.hpp"

#include <algorithm>

#include "probes/d/expressions/vocabulary.hpp"
#include "probes/d/statements/quantize.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

std::uint32_t Aggregations::argument(const Node* n, const char* tag_argument, const char* tag_unknown,
                                     const std::string& who) const {
  if (n->kind != Kind::kAggregation) fail(n->place, tag_argument, who + " must be an aggregation");
  if (!n->children.empty()) fail(n->place, tag_argument, who + " must be an aggregation without keys");
  const auto known = numbers_.find(n->text);
  if (known == numbers_.end()) unknown(n, tag_unknown);
  return known->second;
}

void Aggregations::unknown(const Node* n, const char* tag) const {
  NearName near(n->text);
  for (const auto& [name, number] : numbers_) near.offer(name);
  const std::string meant = near.found().empty() ? "" : "@" + std::string(near.found());
  fail(n->place, tag,
       failures_.is_excused("@" + n->text) ? "" : "undefined aggregation: @" + n->text + did_you_mean(meant));
}

std::vector<Field> Aggregations::keys(const Node* target, std::vector<Node*>& keys) {
  std::vector<Field> given;
  for (Node*& key : keys) {
    if (is_stack(key)) {
      given.push_back(fields_.stack(key));
      continue;
    }
    if (key->kind == Kind::kAggregation || (key->kind == Kind::kCall && is_action(key->text)))
      fail(key->place, "D_KEY_TYPE", "@" + target->text + "[ ]: a key cannot be an aggregation or an action");
    expressions_.check(key);
    if (types_.kind(key->type) == CType::Kind::kVoid || types_.kind(key->type) == CType::Kind::kFunction)
      fail(key->place, "D_KEY_TYPE",
           "@" + target->text + "[ ]: a key cannot be of type " + nodes_.described(key));
    given.push_back(fields_.field(key, "D_KEY_TYPE"));
  }
  return given;
}

void Aggregations::compare_keys(const Node* target, std::vector<Node*>& keys, const std::vector<Field>& given,
                                const std::vector<Field>& known) {
  const std::string who = "@" + target->text + "[ ]";
  if (given.size() != known.size())
    fail(target->place, "D_PROTO_LEN",
         who + " prototype mismatch: " + std::to_string(given.size()) + " keys passed, " +
             std::to_string(known.size()) + " expected");
  for (std::size_t i = 0; i < given.size(); i++) {
    if (given[i].kind != known[i].kind)
      fail(keys[i]->place, "D_PROTO_ARG",
           who + " key #" + std::to_string(i + 1) + " is incompatible with its prototype: \"" +
               types_.name(known[i].type) + "\" expected, " + nodes_.described(keys[i]) + " given");
    if (given[i].kind == Field::Kind::kInteger) keys[i] = nodes_.cast_to(keys[i], known[i].type);
  }
}

/// Checks what is taken in, how often, and into which buckets.
void Aggregations::value(Aggregation& a, Node* function, bool is_new) {
  const bool linear = a.how == Aggregating::kLquantize, log = a.how == Aggregating::kLlquantize;
  const bool quantizes = linear || log || a.how == Aggregating::kQuantize;
  if (a.how == Aggregating::kCount) return need_arguments(function, 0, 0);
  // The last argument of quantize and its relatives says how often.
  const std::size_t times = linear ? 4 : log ? 5 : 1;
  need_arguments(function, linear ? 3 : times, times + (quantizes ? 1 : 0));
  Node*& taken = function->children[0];
  expressions_.check(taken);
  if (!types_.is_scalar(taken->type))
    fail(function->place, "D_AGG_SCALAR",
         function->text + "( ) argument #1 must be of scalar type, not " + nodes_.described(taken));
  if (is_new) a.is_signed = types_.is_signed(taken->type);
  if (linear || log) bucket_parameters(expressions_, types_, a, function, is_new);
  if (quantizes && function->children.size() > times) {
    expressions_.check(function->children[times]);
    conversions_.need_integer(function->children[times], "D_PROTO_ARG", function->text + "( ) increment");
  }
}

void Aggregations::need_function(const Statement& s) {
  const Node* target = s.expression;
  if (s.function == nullptr && target->children.empty() && !numbers_.contains(target->text))
    unknown(target, "D_IDENT_UNDEF");
  if (s.function == nullptr)
    fail(s.place, "D_AGG_NULL",
         "@" + target->text + ": expression is an aggregation by itself, which does nothing");
  Node* function = s.function;
  if (function->kind == Kind::kCall && is_aggregating(function->text)) return;
  if (function->kind == Kind::kName && !is_aggregating(function->text))
    expressions_.check(function);  // it may be unknown
  if (function->kind == Kind::kCall && !is_function(function->text) && !is_action(function->text))
    fail(function->place, "D_FUNC_UNDEF",
         "undefined function name: " + function->text + did_you_mean(aggregating_like(function->text)));
  const bool lacks_call = function->kind == Kind::kName && is_aggregating(function->text);
  fail(function->place, "D_AGG_FUNC",
       "@" + target->text + " must be assigned the result of an aggregating function: count( ), sum( ) ..." +
           (lacks_call ? did_you_mean(function->text + "( )") : ""));
}

void Aggregations::statement(Statement& s, const ClauseOrder& order) {
  need_function(s);
  order.aggregate(s.place);
  Node *target = s.expression, *function = s.function;
  const Aggregating how = aggregating_function(function->text);
  const auto known = numbers_.find(target->text);
  if (known == numbers_.end()) {
    Aggregation a{.name = target->text, .how = how};
    std::vector<Field> fields = keys(target, target->children);
    value(a, function, true);
    target->index = static_cast<std::uint32_t>(script_.aggregations.size());
    script_.program.aggregations.push_back(std::move(a));
    script_.aggregations.push_back({.keys = std::move(fields)});
    numbers_[target->text] = target->index;
    return;
  }
  target->index = known->second;
  Aggregation& a = script_.program.aggregations[target->index];
  if (a.how != how)
    fail(s.place, "D_AGG_REDEF", "aggregation redefined: @" + target->text + " is of another function");
  compare_keys(target, target->children, keys(target, target->children),
               script_.aggregations[target->index].keys);
  value(a, function, false);
}

}  // namespace vmrun::d::lang
