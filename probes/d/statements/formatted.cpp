// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/formatted.hpp"

#include "vm/base/did_you_mean.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

/// How far the arguments of a call have been used.
struct Formatted::Argument {
  Node* call;
  std::size_t& next;
  std::string conversion;  // as errors name it: #2 (%d)
};

Node*& Formatted::take(Node* call, std::size_t n, const std::string& conversion, const char* tag) {
  if (n >= call->children.size())
    fail(call->children[0]->place, tag,
         call->text + "( ) prototype mismatch: conversion " + conversion + " is missing its argument");
  Node*& argument = call->children[n];
  if (argument->kind == Kind::kAggregation)
    fail(call->place, "D_PRINTF_ARG_TYPE",
         call->text + "( ) argument #" + std::to_string(n + 1) + " is an aggregation: printa( ) shows those");
  expressions_.check(argument);
  return argument;
}

void Formatted::stars(const Conversion& c, const Argument& argument, ActionInfo& info) {
  Node* call = argument.call;
  for (int star = 0; star < (c.star_width ? 1 : 0) + (c.star_precision ? 1 : 0); star++) {
    Node*& width = take(call, argument.next++, argument.conversion, "D_PRINTF_DYN_PROTO");
    if (!types_.is_integer(width->type))
      fail(call->place, "D_PRINTF_DYN_TYPE",
           call->text + "( ) argument #" + std::to_string(argument.next) +
               " must be an integer: a width or precision");
    info.fields.push_back(fields_.field(width, "D_PRINTF_DYN_TYPE"));
  }
}

bool Formatted::fits(const Conversion& c, Node*& value) {
  switch (type_of(c.what)) {
    case ConversionType::kText: return conversions_.to_text(value);
    case ConversionType::kInteger:
    case ConversionType::kCharacter:
      return types_.is_integer(value->type) ||
             (c.what != 'c' && types_.is_pointer(value->type) && value->where != Where::kArgument);
    case ConversionType::kAddress: return types_.is_scalar(value->type) || types_.is_array(value->type);
    case ConversionType::kTime: return types_.is_integer(value->type);
    case ConversionType::kStack: return types_.kind(value->type) == CType::Kind::kStack;
    default: return false;
  }
}

std::string Formatted::hint(const Conversion& c, const Node* value) const {
  const bool wants_text = type_of(c.what) == ConversionType::kText;
  if (const std::string text = conversions_.text_hint(value); wants_text && !text.empty()) return text;
  if (wants_text && types_.is_integer(value->type)) return did_you_mean("%d");
  if (types_.kind(value->type) == CType::Kind::kStack) return did_you_mean("%k");
  if (types_.is_term(value->type)) return did_you_mean("%s or term2int( )");
  return !wants_text && types_.is_text(value->type) ? did_you_mean("%s") : "";
}

Field Formatted::value(const Conversion& c, const Argument& argument) {
  Node* call = argument.call;
  Node*& value = take(call, argument.next++, argument.conversion, "D_PRINTF_ARG_PROTO");
  if (!fits(c, value))
    fail(value->place, "D_PRINTF_ARG_TYPE",
         call->text + "( ) argument #" + std::to_string(argument.next) + " of type " +
             nodes_.described(value) + " is incompatible with conversion " + argument.conversion +
             hint(c, value));
  // Unless the conversion is for texts, a string, structure or array is shown as its address.
  if (type_of(c.what) != ConversionType::kText && types_.is_by_reference(value->type))
    value = nodes_.cast_to(value, kVoidPointer);
  if (type_of(c.what) == ConversionType::kText && types_.is_pointer(value->type))
    value = nodes_.cast_to(value, kString);
  return fields_.field(value, "D_PRINTF_ARG_TYPE");
}

void Formatted::arguments(ActionInfo& info, Node* call) {
  if (call->children.empty()) need_arguments(call, 1, 64);
  Node*& format = call->children[0];
  if (format->kind != Kind::kString) expressions_.check(format);
  if (!types_.is_text(format->type))
    fail(call->place, "D_PROTO_ARG", call->text + "( ) argument #1 must be a string: the format");
  if (format->kind != Kind::kString)
    fail(call->place, "D_PRINTF_ARG_FMT",
         call->text + "( ) argument #1 must be a string constant: the format");
  if (format->text.empty() && info.kind != ActionKind::kFreopen)
    fail(call->place, "D_PRINTF_FMT_EMPTY", call->text + "( ) format string must not be empty");
  info.format = format->text;
  for (std::size_t i = 1; i < call->children.size(); i++)
    if (call->children[i]->kind != Kind::kAggregation && !is_stack(call->children[i]))
      expressions_.check(call->children[i]);
  std::size_t next = 1, number = 0;
  for (const Conversion& c : parse_format(format->text, format->place)) {
    const Argument argument{call, next, "#" + std::to_string(++number) + " (%" + c.what + ")"};
    if (c.aggregation)
      fail(call->place, "D_PRINTF_AGG_CONV",
           call->text + "( ) conversion " + argument.conversion + ": %@ is for printa( )");
    stars(c, argument, info);
    info.fields.push_back(value(c, argument));
  }
  if (next < call->children.size())
    fail(call->children[next]->place, "D_PRINTF_ARG_EXTRA",
         call->text + "( ) prototype mismatch: only " + std::to_string(next - 1) +
             " arguments are required by this format string");
}

void Formatted::keys(const ActionInfo& info, const Node* call, const std::vector<Field>& keys) {
  std::size_t key = 0;
  for (const Conversion& c : parse_format(info.format, call->place)) {
    if (c.aggregation) continue;
    if (key >= keys.size())
      fail(call->place, "D_PRINTF_ARG_PROTO",
           std::string("printa( ) prototype mismatch: conversion %") + c.what + " is missing a key");
    const Field::Kind kind = keys[key++].kind;
    const ConversionType wants = type_of(c.what);
    const bool fits = wants == ConversionType::kText    ? kind == Field::Kind::kText
                      : wants == ConversionType::kStack ? kind == Field::Kind::kStack
                                                        : kind == Field::Kind::kInteger;
    if (!fits)
      fail(call->place, "D_PRINTF_ARG_TYPE",
           "printa( ) key #" + std::to_string(key) + " is incompatible with its conversion %" + c.what);
  }
}

}  // namespace vmrun::d::lang
