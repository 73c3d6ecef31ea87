// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/places.hpp"

#include "vm/term/compare.hpp"

namespace vmrun::compile::lower {

using namespace core;

Occ* Places::root(ValueId value) {
  occs_.push_back({Occ::kRoot, nullptr, 0, nullptr, value, {}});
  return &occs_.back();
}

Occ* Places::child(Occ* parent, Occ::Kind kind, std::uint64_t index, Expr* key) {
  for (Occ* c : parent->children) {
    if (c->kind != kind || c->index != index) continue;
    if (c->key == key) return c;
    if (!key || !c->key || key->kind != c->key->kind) continue;
    if (key->kind == Kind::kLiteral && equal_exact(key->as<Literal>().value, c->key->as<Literal>().value))
      return c;
    if (key->kind == Kind::kVar && key->as<VarRef>().var == c->key->as<VarRef>().var) return c;
  }
  occs_.push_back({kind, parent, index, key, kNone, {}});
  parent->children.push_back(&occs_.back());
  return &occs_.back();
}

void Places::known(Occ* at, ValueId v) {
  trail_.push_back({at, blocks_.here(), at->value});
  at->value = v;
}

ValueId Places::fetch(Occ* at) {
  if (at->value != kNone) return at->value;
  ValueId parent = fetch(at->parent);
  Arg v;
  switch (at->kind) {
    case Occ::kHead: v = blocks_.emit_value(Op::kGetHd, {Arg::of(parent)}); break;
    case Occ::kTail: v = blocks_.emit_value(Op::kGetTl, {Arg::of(parent)}); break;
    case Occ::kElement: v = blocks_.emit_value(Op::kGetElement, {Arg::of(parent)}, {}, at->index); break;
    case Occ::kBinTail: v = blocks_.emit_value(Op::kBsGetTail, {Arg::of(parent)}); break;
    default: return parent;  // kBinRest: the context
  }
  known(at, v.value);
  return v.value;
}

void Places::undo(std::size_t mark, BlockId base) {
  std::size_t kept = mark;
  for (std::size_t i = trail_.size(); i-- > mark;)
    if (trail_[i].block != base) trail_[i].at->value = trail_[i].before;
  for (std::size_t i = mark; i < trail_.size(); ++i)
    if (trail_[i].block == base) trail_[kept++] = trail_[i];
  trail_.resize(kept);
}

}  // namespace vmrun::compile::lower
