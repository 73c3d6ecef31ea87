// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/symbols.hpp"

#include <algorithm>

#include "probes/engine/operations.hpp"

namespace vmrun::d::lang {
namespace {

using Kind = Node::Kind;

constexpr std::uint32_t kMostFrameBytes = 64 << 10;
// The kinds of keys of associative arrays: a bit for each kind of argument and for each built-in.
constexpr std::uint64_t kOtherKey = 1ull << 63;
constexpr unsigned kBuiltinKey = 16;
static_assert(kBuiltinKey + kBuiltinCount < 63);

}  // namespace

std::map<std::string, Symbol>& Symbols::table(VariableScope scope) {
  switch (scope) {
    case VariableScope::kSelf: return selfs_;
    case VariableScope::kThis: return thises_;
    default: return globals_;
  }
}

Symbol* Symbols::find(VariableScope scope, const std::string& name) {
  auto& names = table(scope);
  const auto at = names.find(name);
  return at == names.end() ? nullptr : &at->second;
}

Symbol* Symbols::find_later(VariableScope scope, const std::string& name, Place place) {
  if (const auto type = later_.find(types_, scope, name))
    return &create(scope, name, type->id, type->associative, place);
  later_.want(scope, name);
  return nullptr;
}

Symbol& Symbols::create(VariableScope scope, const std::string& name, TypeId type, bool associative,
                        Place place) {
  later_.assigned(types_, scope, name, {type, associative});
  Symbol symbol{.place = place, .type = type, .associative = associative};
  const std::uint32_t bytes = std::max<std::uint32_t>(types_.bytes(type), 1);
  if (!types_.base(type).complete)
    fail(place, "D_DECL_INCOMPLETE", "variable " + name + " is of an incomplete type");
  if (scope == VariableScope::kThis) {
    symbol.kind = Symbol::Kind::kFrame;
    symbol.index = program_.frame_bytes;
    if (bytes > kMostFrameBytes || symbol.index + bytes > kMostFrameBytes)
      fail(place, "D_ID_OFLOW", "too many bytes of this-> variables");
    program_.frame_bytes = (symbol.index + bytes + 7) & ~7u;
  } else {
    symbol.index = static_cast<std::uint32_t>(program_.variables.size());
    const bool by_reference = types_.is_by_reference(type);
    program_.variables.push_back({.name = name,
                                  .scope = scope == VariableScope::kSelf ? Scope::kSelf : Scope::kGlobal,
                                  .associative = associative,
                                  .bytes = by_reference ? bytes : 8,
                                  .by_reference = by_reference,
                                  .is_text = types_.is_string(type)});
  }
  return table(scope)[name] = symbol;
}

void Symbols::note_address(std::uint32_t variable) {
  if (addressed_.size() <= variable) addressed_.resize(variable + 1);
  addressed_[variable] = true;
}

void Symbols::note_key(const Symbol& array, std::size_t n, const Node* key, const ProbeArguments& arguments) {
  if (key_kinds_.size() <= array.index) key_kinds_.resize(array.index + 1);
  auto& kinds = key_kinds_[array.index];
  if (kinds.size() <= n) kinds.resize(n + 1);
  std::uint64_t is = 0;
  if (key->kind == Kind::kReference && key->where == Where::kArgumentText) is = arguments.kinds(key->index);
  else if (key->kind == Kind::kReference && key->where == Where::kBuiltin && types_.is_string(key->type))
    is = 1ull << (kBuiltinKey + key->index);
  kinds[n] |= is != 0 ? is : kOtherKey;
}

bool Symbols::key_as_it_is(std::uint32_t variable, std::size_t key) const {
  if (variable >= key_kinds_.size() || key >= key_kinds_[variable].size()) return false;
  const std::uint64_t kinds = key_kinds_[variable][key];
  return kinds != 0 && (kinds & (kinds - 1)) == 0 && kinds != kOtherKey;
}

}  // namespace vmrun::d::lang
