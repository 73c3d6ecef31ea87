// SPDX-License-Identifier: Apache-2.0
#include "probes/d/emit/values.hpp"

#include "probes/d/expressions/tree_nodes.hpp"
#include "probes/d/expressions/vocabulary.hpp"

namespace vmrun::d::lang {
namespace {

using Kind = Node::Kind;

/// Whether the value is always 0 or 1.
bool is_boolean(const Node* n) {
  return (n->kind == Kind::kBinary && ((n->op >= Op::kEq && n->op <= Op::kGe) || n->op >= Op::kLogicalAnd)) ||
         (n->kind == Kind::kUnary && n->op == Op::kLogicalNot) ||
         (n->kind == Kind::kInteger && n->value <= 1);
}

bool is_comparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }

}  // namespace

unsigned Values::value(const Node* n) {
  code_.at(n->place);
  const unsigned r = code_.take();
  code_.free_from(r);
  value_in(n, r);
  code_.free_from(r + 1);
  return r;
}

void Values::value_in(const Node* n, unsigned r) {
  switch (n->kind) {
    case Kind::kInteger: code_.number(r, n->value); return;
    case Kind::kString: code_.text(r, n->text); return;
    case Kind::kReference: return reference(n, r);
    case Kind::kUnary: return unary(n, r);
    case Kind::kBinary: return binary(n, r);
    case Kind::kAssign: return assign(n, r);
    case Kind::kConditional: return conditional(n, r);
    case Kind::kComma:
      value(n->children[0]);
      code_.free_from(r);
      value(n->children[1]);
      return;
    case Kind::kCall: return call(n, r);
    case Kind::kMember:
    case Kind::kIndex:
      code_.free_from(r + 1);
      locations_.load(locations_.of(n), r);
      return;
    case Kind::kCast:
      value(n->children[0]);
      arithmetic_.convert(r, n->children[0]->type, n->type, is_cut(n->children[0]));
      return;
    default: fail(n->place, "D_UNKNOWN", "the compiler failed: it has no instructions for this expression");
  }
}

void Values::conditional(const Node* n, unsigned r) {
  value(n->children[0]);
  const std::size_t no = code_.put(Operation::kJz, 0, r);
  code_.free_from(r);
  value(n->children[1]);
  const std::size_t end = code_.put(Operation::kJump);
  code_.here(no);
  code_.free_from(r);
  value(n->children[2]);
  code_.here(end);
}

void Values::reference(const Node* n, unsigned r) {
  code_.free_from(r + 1);
  switch (n->where) {
    case Where::kArgument: code_.put(Operation::kArg, r, 0, 0, n->index); return;
    case Where::kArgumentText: code_.put(Operation::kArgtext, r, 0, 0, n->index); return;
    case Where::kBuiltin: code_.put(Operation::kBuiltin, r, 0, 0, n->index); return;
    case Where::kVariable: return global_or_self(n, r);
    case Where::kFrame:
      code_.put(Operation::kFrame, r, 0, 0, n->index);
      locations_.load({.kind = Location::kMemory, .node = n, .base = r}, r);
      return;
    default: fail(n->place, "D_OP_DYN", "a term has no value of its own: term2int() or term2str()");
  }
}

/// A structure in the script's own memory is used where it lies; other values are copied.
void Values::global_or_self(const Node* n, unsigned r) {
  if (!types_.is_by_reference(n->type) || types_.is_string(n->type))
    return locations_.load(locations_.of(n), r);
  const Location l = locations_.in_memory(n);
  if (l.base != r) code_.put(Operation::kMove, r, l.base);
}

void Values::unary(const Node* n, unsigned r) {
  const Node* operand = n->children[0];
  switch (n->op) {
    case Op::kPreIncrement:
    case Op::kPreDecrement:
    case Op::kPostIncrement:
    case Op::kPostDecrement: return increment(n, r);
    case Op::kAddress: return address(operand, r);
    case Op::kDereference:
      code_.free_from(r + 1);
      locations_.load(locations_.of(n), r);
      return;
    case Op::kLogicalNot: {
      condition(operand);
      const unsigned zero = code_.take();
      code_.number(zero, 0);
      code_.put(Operation::kSeq, r, r, zero);
      return;
    }
    default: break;
  }
  value(operand);
  if (n->op == Op::kNegate) code_.put(Operation::kNeg, r, r);
  if (n->op == Op::kNot) code_.put(Operation::kNot, r, r);
}

void Values::address(const Node* n, unsigned r) {
  code_.free_from(r + 1);
  const Location l = locations_.in_memory(n);
  code_.number(r, static_cast<std::uint64_t>(l.offset));
  code_.put(Operation::kAdd, r, r, l.base);
}

void Values::increment(const Node* n, unsigned r) {
  code_.free_from(r + 1);
  const bool post = n->op == Op::kPostIncrement || n->op == Op::kPostDecrement;
  const bool up = n->op == Op::kPreIncrement || n->op == Op::kPostIncrement;
  const Location l = locations_.of(n->children[0]);
  locations_.load(l, r);
  const unsigned step = code_.take();
  code_.number(step, types_.is_pointer(n->type) ? arithmetic_.pointed_bytes(n->type) : 1);
  const unsigned result = post ? step : r;
  code_.put(up ? Operation::kAdd : Operation::kSub, result, r, step);
  arithmetic_.fit(result, n->type);
  locations_.store(l, result);
}

unsigned Values::condition(const Node* n) {
  if (n->kind != Kind::kBinary || (n->op != Op::kLogicalAnd && n->op != Op::kLogicalOr)) return value(n);
  code_.at(n->place);
  const unsigned r = code_.take();
  code_.free_from(r);
  condition(n->children[0]);
  const std::size_t end = code_.put(n->op == Op::kLogicalAnd ? Operation::kJz : Operation::kJnz, 0, r);
  code_.free_from(r);
  condition(n->children[1]);
  code_.here(end);
  code_.free_from(r + 1);
  return r;
}

void Values::logical(const Node* n, unsigned r) {
  const Node *left = n->children[0], *right = n->children[1];
  if (n->op == Op::kLogicalXor) {
    value(left);
    arithmetic_.truth(r);
    const unsigned b = value(right);
    arithmetic_.truth(b);
    code_.put(Operation::kXor, r, r, b);
    return;
  }
  condition(n);
  if (!is_boolean(left) || !is_boolean(right) || left->op >= Op::kLogicalAnd || right->op >= Op::kLogicalAnd)
    arithmetic_.truth(r);
}

void Values::binary(const Node* n, unsigned r) {
  if (n->op == Op::kLogicalAnd || n->op == Op::kLogicalOr || n->op == Op::kLogicalXor) return logical(n, r);
  const TypeId left = n->children[0]->type, right = n->children[1]->type;
  value(n->children[0]);
  const unsigned b = value(n->children[1]);
  const bool integers = types_.is_integer(left) && types_.is_integer(right);
  if (is_comparison(n->op) && types_.is_text(left) && types_.is_text(right)) {
    code_.put(Operation::kScmp, r, r, b);
    code_.number(b, 0);
    arithmetic_.compare(n->op, true, r, r, b);
  } else if (is_comparison(n->op)) {
    arithmetic_.compare(n->op, integers && types_.is_signed(types_.common(left, right)), r, r, b);
  } else if (types_.is_integer(left)) {
    arithmetic_.binary(n->op, n->type, r, b);
  } else if (types_.is_integer(right)) {
    arithmetic_.move_pointer(n->op, n->type, r, b);
  } else {
    arithmetic_.distance(left, r, b);
  }
}

void Values::assign(const Node* n, unsigned r) {
  if (n->op != Op::kNone) return assign_with(n, r);
  value(n->children[1]);
  locations_.store(locations_.of(n->children[0]), r);
}

/// a += b and similar.
void Values::assign_with(const Node* n, unsigned r) {
  const Node *to = n->children[0], *from = n->children[1];
  code_.free_from(r + 1);
  const Location l = locations_.of(to);
  locations_.load(l, r);
  const unsigned b = value(from);
  if (types_.is_pointer(to->type)) {
    arithmetic_.move_pointer(n->op, to->type, r, b);
  } else {
    const bool shift = n->op == Op::kShl || n->op == Op::kShr;
    arithmetic_.binary(n->op, shift ? to->type : types_.common(to->type, from->type), r, b);
    arithmetic_.fit(r, to->type);
  }
  locations_.store(l, r);
}

/// Returns false when the call is not a function of a term.
bool Values::call_of_term(const Node* n, unsigned r) {
  const unsigned mark = code_.free_term();
  if (n->text == "is_map_key") {
    terms_.map_value(n, mark);
    code_.put(Operation::kTis, r, mark);
  } else if (n->text == "term2str") {
    code_.put(Operation::kTtext, r, term(n->children[0]));
  } else if (kSubroutines[n->index].of_term) {
    code_.put(Operation::kTint, r, term(n->children[0]), 0, n->index);
  } else {
    return false;
  }
  code_.free_terms_from(mark);
  return true;
}

void Values::call(const Node* n, unsigned r) {
  if (is_action(n->text))
    fail(n->place, "D_CG_EXPR",
         n->text + "( ) may not be called from a D expression (D program context required)");
  if (n->text == "speculation") {
    code_.put(Operation::kSpec, r);
  } else if (n->text == "alloca") {
    value(n->children[0]);
    code_.put(Operation::kAlloc, r, r);
  } else if (n->text == "bcopy") {
    value(n->children[0]);
    const unsigned to = value(n->children[1]), bytes = value(n->children[2]);
    code_.put(Operation::kCopyn, to, r, bytes);
  } else if (n->text == "copyinstr") {
    value(n->children[0]);
    code_.put(Operation::kArgof, r, r);
  } else if (!call_of_term(n, r)) {
    if (n->children.empty()) code_.number(r, 0);
    for (const Node* argument : n->children) value(argument);
    code_.put(Operation::kCall, r, r, static_cast<unsigned>(n->children.size()), n->index);
    if (types_.is_integer(n->type)) arithmetic_.fit(r, n->type);
  }
}

}  // namespace vmrun::d::lang
