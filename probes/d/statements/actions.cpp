// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/actions.hpp"

#include <algorithm>
#include <string_view>

#include "probes/d/expressions/vocabulary.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

/// How the arguments of an action that records are checked.
struct Actions::Check {
  ActionKind kind;
  void (Actions::*check)(ActionInfo&, Node*);
};
constexpr Actions::Check Actions::kChecks[] = {
    {ActionKind::kPrintf, &Actions::formatted},     {ActionKind::kSystem, &Actions::formatted},
    {ActionKind::kFreopen, &Actions::formatted},    {ActionKind::kFtruncate, &Actions::nothing},
    {ActionKind::kPrinta, &Actions::printa},        {ActionKind::kTrace, &Actions::value},
    {ActionKind::kPrint, &Actions::value},          {ActionKind::kTracemem, &Actions::tracemem},
    {ActionKind::kUstack, &Actions::stack},         {ActionKind::kJstack, &Actions::stack},
    {ActionKind::kClear, &Actions::on_aggregation}, {ActionKind::kDenormalize, &Actions::on_aggregation},
    {ActionKind::kTrunc, &Actions::on_aggregation}, {ActionKind::kNormalize, &Actions::on_aggregation},
    {ActionKind::kSetopt, &Actions::setopt},        {ActionKind::kExit, &Actions::exit}};

void Actions::begin(std::size_t clause) {
  order_ = {};
  clause_ = clause;
}

void Actions::statement(Node* call) {
  const ActionRow& row = *find_action(call->text);
  if (!row.records) return speculation(call);
  const Check* check = std::ranges::find(kChecks, row.kind, &Check::kind);
  (this->*check->check)(begin_record(call, row), call);
}

ActionInfo& Actions::begin_record(Node* call, const ActionRow& row) {
  order_.record(call, row.destructive);
  if (script_.actions.size() >= 65535) fail(call->place, "D_ID_OFLOW", "too many actions");
  const auto clause = static_cast<std::uint16_t>(clause_);
  script_.program.actions.push_back({.clause = clause});
  script_.actions.push_back({.kind = row.kind, .clause = clause, .line = call->place.line});
  call->index = static_cast<std::uint32_t>(script_.actions.size() - 1);
  return script_.actions.back();
}

/// Checks speculate(), commit() and discard().
void Actions::speculation(Node* call) {
  need_arguments(call, 1, 1);
  expressions_.check(call->children[0]);
  conversions_.need_integer(call->children[0], "D_PROTO_ARG", call->text + "( ) argument #1");
  if (call->text == "speculate") order_.speculate(call->place);
  if (call->text == "commit") order_.commit(call->place);
}

/// Checks printf(), system() and freopen().
void Actions::formatted(ActionInfo& info, Node* call) {
  formatted_.arguments(info, call);
  if (info.kind == ActionKind::kFreopen && info.format == ".")
    fail(call->place, "D_FREOPEN_INVALID", "freopen( ) argument #1 cannot be \".\": a folder is no file");
}

void Actions::nothing(ActionInfo&, Node* call) { need_arguments(call, 0, 0); }

/// Checks trace() and print().
void Actions::value(ActionInfo& info, Node* call) {
  need_arguments(call, 1, 1);
  Node*& value = call->children[0];
  if (value->kind == Kind::kAggregation)
    fail(call->place, "D_TRACE_DYN", call->text + "( ) may not be applied to an aggregation");
  expressions_.check(value);
  if (types_.kind(value->type) == CType::Kind::kVoid)
    fail(call->place, "D_TRACE_VOID", call->text + "( ) may not be applied to a void expression");
  if (value->kind == Kind::kCall && is_traced_alone(value->text)) info.kind = ActionKind::kSymbol;
  info.fields.push_back(fields_.field(value, "D_TRACE_DYN"));
}

void Actions::stack(ActionInfo& info, Node* call) { info.fields.push_back(fields_.stack(call)); }

void Actions::setopt(ActionInfo& info, Node* call) {
  need_arguments(call, 1, 2);
  for (Node*& argument : call->children) {
    expressions_.check(argument);
    conversions_.need_text(argument, "D_PROTO_ARG", "setopt( ) arguments");
    info.fields.push_back(fields_.field(argument, "D_PROTO_ARG"));
  }
}

void Actions::exit(ActionInfo& info, Node* call) {
  need_arguments(call, 1, 1);
  Node*& status = call->children[0];
  expressions_.check(status);
  if (!types_.is_integer(status->type))
    fail(call->place, "D_PROTO_ARG", "exit( ) argument #1 must be an integer");
  order_.exit(call->place);
  status = nodes_.cast_to(status, kInt);
  info.fields.push_back(fields_.field(status, "D_PROTO_ARG"));
}

/// Checks clear(), trunc(), normalize() and denormalize().
void Actions::on_aggregation(ActionInfo& info, Node* call) {
  struct Arguments {
    ActionKind kind;
    std::size_t least, most;
    const char *argument, *unknown;  // tags of errors
  };
  static constexpr Arguments kArguments[] = {
      {ActionKind::kClear, 1, 1, "D_CLEAR_AGGARG", "D_CLEAR_AGGBAD"},
      {ActionKind::kTrunc, 1, 2, "D_TRUNC_AGGARG", "D_TRUNC_AGGBAD"},
      {ActionKind::kNormalize, 2, 2, "D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
      {ActionKind::kDenormalize, 1, 1, "D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"}};
  const Arguments& is = *std::ranges::find(kArguments, info.kind, &Arguments::kind);
  need_arguments(call, is.least, is.most);
  info.aggregations.push_back(
      aggregations_.argument(call->children[0], is.argument, is.unknown, call->text + "( ) argument #1"));
  if (call->children.size() < 2) return;
  if (call->children[1]->kind == Kind::kAggregation)
    fail(call->place, "D_PROTO_ARG", call->text + "( ) argument #2 must not be an aggregation");
  expressions_.check(call->children[1]);
  if (!types_.is_scalar(call->children[1]->type))
    fail(call->place, "D_PROTO_ARG", call->text + "( ) argument #2 must be of scalar type");
  info.fields.push_back(fields_.field(call->children[1], "D_PROTO_ARG"));
}

void Actions::printa(ActionInfo& info, Node* call) {
  need_arguments(call, 1, 64);
  std::size_t first = 0;
  if (call->children[0]->kind == Kind::kString) {
    info.format = call->children[0]->text;
    if (info.format.empty())
      fail(call->place, "D_PRINTF_FMT_EMPTY", "printa( ) format string must not be empty");
    parse_format(info.format, call->children[0]->place);
    first = 1;
  } else if (call->children[0]->kind != Kind::kAggregation) {
    fail(call->place, "D_PRINTA_AGGARG",
         "printa( ) takes an aggregation, or a format and the aggregations it is for");
  }
  if (first == call->children.size())
    fail(call->place, "D_PRINTA_PROTO", "printa( ) prototype mismatch: an aggregation is expected");
  for (std::size_t i = first; i < call->children.size(); i++)
    info.aggregations.push_back(
        aggregations_.argument(call->children[i], "D_PRINTA_AGGARG", "D_PRINTA_AGGBAD",
                               "printa( ) argument " + ("#" + std::to_string(i + 1))));
  const auto& keys = script_.aggregations[info.aggregations[0]].keys;
  for (const std::uint32_t other : info.aggregations) {
    const auto& theirs = script_.aggregations[other].keys;
    if (keys.size() != theirs.size())
      fail(call->place, "D_PRINTA_AGGKEY", "printa( ): its aggregations have different numbers of keys");
    if (!std::ranges::equal(keys, theirs, {}, &Field::kind, &Field::kind))
      fail(call->place, "D_PRINTA_AGGPROTO", "printa( ): the keys of its aggregations differ");
  }
  if (!info.format.empty()) formatted_.keys(info, call, keys);
}

void Actions::tracemem(ActionInfo& info, Node* call) {
  need_arguments(call, 2, 3);
  expressions_.check_all(call->children);
  if (!types_.is_scalar(call->children[0]->type) && !types_.is_by_reference(call->children[0]->type))
    fail(call->place, "D_TRACEMEM_ADDR", "tracemem( ) argument #1 must be an address");
  const Node* size = call->children[1];
  if (!types_.is_integer(size->type))
    fail(call->place, "D_PROTO_ARG", "tracemem( ) argument #2 must be an integer");
  if (size->kind != Kind::kInteger || size->value == 0 || size->value > 65536)
    fail(call->place, "D_TRACEMEM_SIZE",
         "tracemem( ) argument #2 must be a non-zero positive integral constant expression");
  info.fields.push_back({.kind = Field::Kind::kBytes,
                         .bytes = 0,
                         .is_signed = false,
                         .most = static_cast<std::uint32_t>(size->value)});
  if (call->children.size() < 3) return;
  if (!types_.is_integer(call->children[2]->type))
    fail(call->place, "D_PROTO_ARG", "tracemem( ) argument #3 must be an integer");
  info.fields.push_back(fields_.field(call->children[2], "D_PROTO_ARG"));
}

}  // namespace vmrun::d::lang
