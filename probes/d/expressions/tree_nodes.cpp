// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/tree_nodes.hpp"

namespace vmrun::d::lang {
namespace {

using Kind = Node::Kind;

std::uint64_t cut(std::uint64_t value, std::uint32_t bytes, bool is_signed) {
  if (bytes >= 8 || bytes == 0) return value;
  const unsigned shift = 64 - 8 * bytes;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift)
                   : value << shift >> shift;
}

}  // namespace

bool is_cut(const Node* n) {
  switch (n->kind) {
    case Kind::kBinary: return n->op >= Op::kEq && n->op <= Op::kLogicalXor;
    case Kind::kUnary:
      return n->op >= Op::kPreIncrement || n->op == Op::kLogicalNot || n->op == Op::kDereference;
    case Kind::kConditional:
    case Kind::kComma: return false;
    default: return true;
  }
}

Node* Nodes::integer(Place place, std::uint64_t value, TypeId type) {
  Node* n = tree_.make(Kind::kInteger, place);
  n->value = cut(value, types_.bytes(type), types_.is_signed(type));
  n->type = type;
  n->checked = true;
  return n;
}

Node* Nodes::cast_to(Node* n, TypeId type) {
  if (n->kind == Kind::kInteger) return integer(n->place, n->value, type);
  if (types_.base_id(n->type) == types_.base_id(type) && (types_.bytes(type) >= 8 || is_cut(n))) return n;
  Node* out = tree_.make(Kind::kCast, n->place);
  out->children = {n};
  out->type = type;
  out->checked = true;
  return out;
}

Node* Nodes::clone(const Node* n, const std::map<std::string, Node*>& bindings) {
  if (n->kind == Kind::kName && n->scope == VariableScope::kGlobal) {
    if (const auto bound = bindings.find(n->text); bound != bindings.end()) return clone(bound->second, {});
  }
  Node* out = tree_.make(n->kind, n->place);
  std::vector<Node*> children;
  for (const Node* child : n->children) children.push_back(clone(child, bindings));
  const std::uint32_t depth = out->depth;
  *out = *n;
  out->depth = depth;
  out->children = std::move(children);
  return out;
}

std::string Nodes::described(const Node* n) const { return '"' + types_.name(n->type) + '"'; }

void Nodes::fold(Node*& n) {
  for (const Node* child : n->children)
    if (child->kind != Kind::kInteger || !types_.is_integer(child->type)) return;
  const std::uint64_t a = n->children[0]->value;
  const std::uint64_t b = n->children.size() > 1 ? n->children[1]->value : 0;
  const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
  const bool shift = n->op == Op::kShl || n->op == Op::kShr;
  const TypeId left = n->children[0]->type;
  const bool is_signed =
      types_.is_signed(n->children.size() < 2 || shift ? left : types_.common(left, n->children[1]->type));
  std::uint64_t out = 0;
  switch (n->op) {
    case Op::kAdd: out = a + b; break;
    case Op::kSub: out = a - b; break;
    case Op::kMul: out = a * b; break;
    case Op::kDiv:
    case Op::kRem:
      if (is_signed && sb == -1) out = n->op == Op::kDiv ? 0 - a : 0;
      else if (is_signed) out = static_cast<std::uint64_t>(n->op == Op::kDiv ? sa / sb : sa % sb);
      else out = n->op == Op::kDiv ? a / b : a % b;
      break;
    case Op::kAnd: out = a & b; break;
    case Op::kOr: out = a | b; break;
    case Op::kXor: out = a ^ b; break;
    case Op::kShl: out = a << (b & 63); break;
    case Op::kShr: out = is_signed ? static_cast<std::uint64_t>(sa >> (b & 63)) : a >> (b & 63); break;
    case Op::kEq: out = a == b; break;
    case Op::kNe: out = a != b; break;
    case Op::kLt: out = is_signed ? sa < sb : a < b; break;
    case Op::kLe: out = is_signed ? sa <= sb : a <= b; break;
    case Op::kGt: out = is_signed ? sa > sb : a > b; break;
    case Op::kGe: out = is_signed ? sa >= sb : a >= b; break;
    case Op::kLogicalAnd: out = a != 0 && b != 0; break;
    case Op::kLogicalOr: out = a != 0 || b != 0; break;
    case Op::kLogicalXor: out = (a != 0) != (b != 0); break;
    case Op::kNegate: out = 0 - a; break;
    case Op::kPlus: out = a; break;
    case Op::kNot: out = ~a; break;
    case Op::kLogicalNot: out = a == 0; break;
    default: return;
  }
  // The result is like one computed at a firing: it is 64 bits wide until it is stored.
  n = integer(n->place, out, n->type);
  n->value = out;
}

}  // namespace vmrun::d::lang
