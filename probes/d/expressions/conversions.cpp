// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/conversions.hpp"

#include "probes/engine/operations.hpp"
#include "vm/base/did_you_mean.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

Node* Conversions::of_term(Node* term, const char* function, TypeId type) {
  Node* call = nodes_.make(Kind::kCall, term->place);
  call->children = {term};
  call->text = function;
  call->type = type;
  call->checked = true;
  return call;
}

void Conversions::term_to_integer(Node*& n) {
  if (!types_.is_term(n->type)) return;
  n = of_term(n, "term2int", kInt64);
  n->index = static_cast<std::uint32_t>(Subroutine::kTerm2int);
}

bool Conversions::to_text(Node*& n) {
  if (n->kind == Kind::kReference && n->where == Where::kArgument && n->type == kCharPointer) {
    n->where = Where::kArgumentText;
    n->type = kString;
    return true;
  }
  if (types_.is_term(n->type)) {
    n = of_term(n, "term2str", kString);
    return true;
  }
  return types_.is_text(n->type);
}

void Conversions::need_text(Node*& n, const char* tag, const std::string& who) {
  if (!to_text(n))
    fail(n->place, tag, who + " must be a string, not of type " + nodes_.described(n) + text_hint(n));
}

std::string Conversions::text_hint(const Node* n) const {
  if (!n->is_reference(Where::kArgument) || !types_.is_integer(n->type)) return "";
  const std::string number = std::to_string(n->index);
  switch (arguments_.text(n->index)) {
    case ProbeArguments::Text::kByArgs:
      return did_you_mean("copyinstr(arg" + number + ") or args[" + number + "]");
    case ProbeArguments::Text::kByCopy: return did_you_mean("copyinstr(arg" + number + ")");
    default: return "";
  }
}

void Conversions::need_integer(Node*& n, const char* tag, const std::string& who) {
  if (!types_.is_scalar(n->type)) {
    const char* hint = types_.is_term(n->type) ? " (term2int makes an integer of it)" : "";
    fail(n->place, tag, who + " must be an integer, not of type " + nodes_.described(n) + hint);
  }
}

TypeId Conversions::kept_type(const Node* value) {
  if (types_.is_term(value->type))
    fail(value->place, "D_OP_DYN",
         "a term cannot be kept in a variable: keep its text, term2str(), or term2int()");
  const CType& type = types_.base(value->type);
  if (type.kind == CType::Kind::kVoid || type.kind == CType::Kind::kFunction)
    fail(value->place, "D_OP_VFPTR", "a variable cannot be of type " + nodes_.described(value));
  if (type.kind == CType::Kind::kStack)
    fail(value->place, "D_OP_DYN", "a stack cannot be kept in a variable");
  return value->kind == Kind::kReference && value->where == Where::kArgument && value->type == kCharPointer
             ? TypeId{kString}
             : value->type;
}

void Conversions::assignable(Node*& value, TypeId to, Place place, const char* tag) {
  if (types_.is_term(value->type)) kept_type(value);  // it fails
  if (types_.is_integer(to) && types_.is_integer(value->type)) {
    value = nodes_.cast_to(value, to);
    return;
  }
  const bool is_null = value->kind == Kind::kInteger && value->value == 0;
  if (types_.is_string(to)) {
    if (is_null || to_text(value)) return;
  } else if (types_.is_pointer(to)) {
    if (is_null || types_.is_pointer(value->type) || types_.is_array(value->type) ||
        (types_.is_string(value->type) && types_.is_text(to))) {
      if (value->kind != Kind::kString) value = is_null ? nodes_.integer(value->place, 0, to) : value;
      return;
    }
  } else if (types_.same(to, value->type) && (types_.is_struct(to) || types_.is_array(to))) {
    return;
  }
  fail(place, tag,
       "operands have incompatible types: \"" + types_.name(to) + "\" = " + nodes_.described(value));
}

}  // namespace vmrun::d::lang
