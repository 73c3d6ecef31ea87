// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/later.hpp"

namespace vmrun::d::lang {

std::optional<LaterVariables::Type> LaterVariables::find(Types& types, VariableScope scope,
                                                         const std::string& name) const {
  const auto known = known_.find({scope, name});
  if (known == known_.end()) return std::nullopt;
  const Spelled& spelled = known->second;
  TypeId id = spelled.builtin;
  if (!spelled.tag.empty() && !types.find_tag(spelled.tag, id)) return std::nullopt;
  for (unsigned i = 0; i < spelled.pointers; i++) id = types.pointer_to(id);
  return Type{id, spelled.associative};
}

void LaterVariables::assigned(const Types& types, VariableScope scope, const std::string& name, Type type) {
  if (!wanted_.contains({scope, name}) || known_.contains({scope, name})) return;
  Spelled spelled{
      .builtin = types.base_id(type.id), .tag = "", .pointers = 0, .associative = type.associative};
  for (; types.is_pointer(spelled.builtin) && spelled.builtin >= types.builtin_count(); spelled.pointers++)
    spelled.builtin = types.base_id(types[spelled.builtin].element);
  if (spelled.builtin >= types.builtin_count()) spelled.tag = types.name(spelled.builtin);
  known_[{scope, name}] = spelled;
  has_learned_ = true;
}

}  // namespace vmrun::d::lang
