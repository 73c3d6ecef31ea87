// SPDX-License-Identifier: Apache-2.0
#include "probes/d/emit/keys.hpp"

namespace vmrun::d::lang {

Key Keys::prepare_one(const Node* n, bool in_aggregation, bool as_it_is) {
  if (as_it_is && n->is_reference(Where::kArgumentText)) return {Key::kArgument, 0, n->index};
  if (as_it_is && n->is_reference(Where::kBuiltin) && types_.is_string(n->type))
    return {Key::kBuiltin, 0, n->index};
  if (in_aggregation && n->is_call("term2str")) return {Key::kTerm, evaluator_.term(n->children[0]), 0};
  if (types_.kind(n->type) == CType::Kind::kStack) return {Key::kStack, 0, frames(n)};
  const unsigned r = evaluator_.value(n);
  if (types_.is_text(n->type) && !types_.is_pointer(n->type)) return {Key::kText, r, 0};
  if (types_.is_by_reference(n->type)) return {Key::kBytes, r, types_.bytes(n->type)};
  return {Key::kInteger, r, 0};
}

std::vector<Key> Keys::prepare(const std::vector<Node*>& nodes, const Node* array) {
  std::vector<Key> out;
  for (std::size_t i = 0; i < nodes.size(); i++) {
    code_.at(nodes[i]->place);
    out.push_back(
        prepare_one(nodes[i], array == nullptr, array == nullptr || symbols_.key_as_it_is(array->index, i)));
  }
  return out;
}

void Keys::push(const std::vector<Key>& keys) {
  for (const Key& key : keys) {
    switch (key.kind) {
      case Key::kInteger: code_.put(Operation::kKeyi, key.r); break;
      case Key::kText: code_.put(Operation::kKeys, key.r); break;
      case Key::kArgument: code_.put(Operation::kKeyarg, 0, 0, 0, key.number); break;
      case Key::kBuiltin: code_.put(Operation::kKeybuiltin, 0, 0, 0, key.number); break;
      case Key::kTerm: code_.put(Operation::kKeyterm, key.r); break;
      case Key::kStack: code_.put(Operation::kKeystack, 0, 0, 0, key.number); break;
      case Key::kBytes: code_.put(Operation::kKeyb, key.r, 0, 0, key.number); break;
    }
  }
}

std::uint32_t Keys::frames(const Node* call) const {
  if (call->value != 0) return static_cast<std::uint32_t>(call->value);
  return call->text == "jstack" ? options_.stack_frames : options_.ustack_frames;
}

}  // namespace vmrun::d::lang
