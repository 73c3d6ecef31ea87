// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/fields.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

bool is_stack(const Node* n) {
  return n->kind == Kind::kCall && (n->text == "ustack" || n->text == "jstack");
}

Field Fields::field(Node*& n, const char* tag) {
  if (conversions_.to_text(n) && !types_.is_pointer(n->type))
    return {.kind = Field::Kind::kText,
            .bytes = 0,
            .is_signed = false,
            .type = n->type,
            .most = types_.bytes(kString)};
  const CType& type = types_.base(n->type);
  if (types_.is_integer(n->type)) n = nodes_.cast_to(n, n->type);
  if (types_.is_scalar(n->type))
    return {.kind = Field::Kind::kInteger,
            .bytes = static_cast<std::uint8_t>(type.bytes),
            .is_signed = type.is_signed,
            .type = n->type};
  if (types_.is_by_reference(n->type))
    return {.kind = Field::Kind::kBytes, .bytes = 0, .is_signed = false, .type = n->type, .most = type.bytes};
  fail(n->place, tag, "a value of type " + nodes_.described(n) + " cannot be recorded");
}

Field Fields::stack(Node* call) {
  need_arguments(call, 0, 2);
  std::uint64_t frames = 0;
  for (std::size_t i = 0; i < call->children.size(); i++) {
    expressions_.check(call->children[i]);
    const Node* number = call->children[i];
    if (!types_.is_integer(number->type))
      fail(call->place, "D_PROTO_ARG",
           call->text + "( ) argument #" + std::to_string(i + 1) + " must be an integer constant");
    if (number->kind != Kind::kInteger || (i == 0 && number->value == 0) || number->value > 65535)
      fail(call->place, i == 0 ? "D_USTACK_FRAMES" : "D_USTACK_STRSIZE",
           call->text + "( ) argument #" + std::to_string(i + 1) + " must be a positive integer constant");
    if (i == 0) frames = number->value;
  }
  call->type = kStackType;
  call->value = frames;
  call->checked = true;
  return {.kind = Field::Kind::kStack,
          .bytes = 0,
          .is_signed = false,
          .type = kStackType,
          .most = static_cast<std::uint32_t>(frames)};
}

}  // namespace vmrun::d::lang
