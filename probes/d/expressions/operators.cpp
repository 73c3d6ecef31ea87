// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/operators.hpp"

#include "probes/d/expressions/vocabulary.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

void Operators::need_scalar(const Node* n, const char* what) {
  if (!types_.is_scalar(n->type))
    fail(n->place, "D_OP_SCALAR",
         std::string(what) + " requires an operand of scalar type, not " + nodes_.described(n));
}

void Operators::address_of(Node* n) {
  const Node* operand = n->children[0];
  if (operand->bits != 0) fail(n->place, "D_ADDROF_BITFIELD", "cannot take the address of a bit-field");
  if (!operand->lvalue) fail(n->place, "D_ADDROF_LVAL", "unary & operator requires an lvalue");
  const Node* root = operand;
  while ((root->kind == Kind::kMember || root->kind == Kind::kIndex) &&
         types_.is_by_reference(root->children[0]->type))
    root = root->children[0];
  if (root->kind == Kind::kReference && (root->self || !root->children.empty()))
    fail(n->place, "D_ADDROF_VAR", "cannot take the address of a dynamic variable");
  if (root->kind == Kind::kReference && root->where == Where::kVariable) symbols_.note_address(root->index);
  n->type = types_.pointer_to(operand->type);
}

void Operators::dereference(Node* n) {
  const Node* operand = n->children[0];
  const bool arrow = n->text == "->";
  if (!types_.is_pointer(operand->type) && !(types_.is_array(operand->type) && !arrow))
    fail(n->place, arrow ? "D_OP_PTR" : "D_DEREF_NONPTR",
         arrow ? "-> requires a pointer, not an operand of type " + nodes_.described(operand)
               : "cannot dereference a non-pointer type: " + nodes_.described(operand));
  n->type = types_.base(operand->type).element;
  if (types_.kind(n->type) == CType::Kind::kVoid)
    fail(n->place, "D_DEREF_VOID", "cannot dereference a pointer to void");
  if (types_.kind(n->type) == CType::Kind::kFunction)
    fail(n->place, "D_DEREF_FUNC", "cannot dereference a pointer to a function");
  n->lvalue = true;
}

void Operators::unary(Node*& n) {
  if (n->op == Op::kAddress) return address_of(n);
  if (n->op == Op::kDereference) return dereference(n);
  Node*& operand = n->children[0];
  if (n->op == Op::kLogicalNot) {
    if (!types_.is_scalar(operand->type))
      fail(n->place, "D_OP_SCALAR", "! requires an operand of scalar type");
    n->type = kInt;
  } else {
    if (!types_.is_integer(operand->type))
      fail(n->place, n->op == Op::kNot ? "D_OP_INT" : "D_OP_ARITH",
           "operator requires an operand of integral type, not " + nodes_.described(operand));
    n->type = types_.of_arithmetic(operand->type);
  }
  nodes_.fold(n);
}

void Operators::comparison(Node*& n) {
  Node *&a = n->children[0], *&b = n->children[1];
  n->type = kInt;
  const auto textual = [&](const Node* x) { return types_.is_text(x->type) || types_.is_term(x->type); };
  if (textual(a) && textual(b)) {
    conversions_.to_text(a);
    conversions_.to_text(b);
    return;
  }
  const auto word = [&](const Node* x) {
    return types_.is_scalar(x->type) || types_.is_text(x->type) || types_.is_array(x->type);
  };
  if (types_.is_integer(a->type)) conversions_.term_to_integer(b);
  if (types_.is_integer(b->type)) conversions_.term_to_integer(a);
  if (types_.is_term(a->type) || types_.is_term(b->type))
    fail(n->place, "D_OP_INCOMPAT",
         "a term is compared with a string or an integer, not with " +
             nodes_.described(types_.is_term(a->type) ? b : a));
  if (!word(a) || !word(b) || (types_.is_string(a->type) && b->kind != Kind::kInteger) ||
      (types_.is_string(b->type) && a->kind != Kind::kInteger))
    fail(n->place, "D_OP_INCOMPAT",
         "operands have incompatible types: " + nodes_.described(a) + " and " + nodes_.described(b) +
             (textual(a)   ? conversions_.text_hint(b)
              : textual(b) ? conversions_.text_hint(a)
                           : ""));
  if (!types_.is_integer(a->type) || !types_.is_integer(b->type)) return;
  nodes_.fold(n);
}

void Operators::logical(Node*& n) {
  const Node *a = n->children[0], *b = n->children[1];
  if (!types_.is_scalar(a->type) || !types_.is_scalar(b->type))
    fail(n->place, "D_OP_SCALAR",
         "logical operators require operands of scalar type, not " + nodes_.described(a) + " and " +
             nodes_.described(b));
  n->type = kInt;
  nodes_.fold(n);
}

/// Checks pointer + integer, integer + pointer, pointer - integer and pointer - pointer. Returns
/// false for any other operands.
bool Operators::on_pointers(Node* n) {
  Node *&a = n->children[0], *&b = n->children[1];
  const auto pointer = [&](const Node* x) { return types_.is_pointer(x->type) || types_.is_array(x->type); };
  if ((n->op != Op::kAdd && n->op != Op::kSub) || (!pointer(a) && !pointer(b))) return false;
  if (n->op == Op::kSub && pointer(a) && pointer(b)) {
    n->type = kLong;
    return true;
  }
  if (n->op == Op::kAdd && types_.is_integer(a->type)) std::swap(a, b);
  if (!pointer(a) || !types_.is_integer(b->type))
    fail(n->place, "D_OP_INCOMPAT",
         "operands have incompatible types: " + nodes_.described(a) + " and " + nodes_.described(b));
  n->type = types_.is_array(a->type) ? types_.pointer_to(types_.base(a->type).element) : a->type;
  return true;
}

void Operators::arithmetic(Node*& n) {
  Node *&a = n->children[0], *&b = n->children[1];
  const bool bitwise =
      n->op != Op::kAdd && n->op != Op::kSub && n->op != Op::kMul && n->op != Op::kDiv && n->op != Op::kRem;
  if (!types_.is_integer(a->type) || !types_.is_integer(b->type)) {
    const bool is_term = types_.is_term(a->type) || types_.is_term(b->type);
    fail(n->place, bitwise ? "D_OP_INT" : "D_OP_ARITH",
         "operator requires operands of integral type, not " + nodes_.described(a) + " and " +
             nodes_.described(b) + (is_term ? " (term2int makes an integer of a term)" : ""));
  }
  const bool shift = n->op == Op::kShl || n->op == Op::kShr;
  n->type = shift ? types_.of_arithmetic(a->type) : types_.common(a->type, b->type);
  if ((n->op == Op::kDiv || n->op == Op::kRem) && b->kind == Kind::kInteger && b->value == 0)
    fail(n->place, "D_DIV_ZERO", "expression contains division by zero");
  nodes_.fold(n);
}

void Operators::binary(Node*& n) {
  if (n->op >= Op::kEq && n->op <= Op::kGe) return comparison(n);
  if (n->op >= Op::kLogicalAnd && n->op <= Op::kLogicalXor) return logical(n);
  if (!on_pointers(n)) arithmetic(n);
}

void Operators::conditional(Node*& n) {
  need_scalar(n->children[0], "?:");
  Node *&a = n->children[1], *&b = n->children[2];
  for (const Node* x : {a, b})
    if (x->kind == Kind::kCall && is_action(x->text))
      fail(n->place, "D_OP_ACT", "an action may not follow the operator ?: (use if)");
  const auto is_null = [](const Node* x) { return x->kind == Kind::kInteger && x->value == 0; };
  if (types_.is_integer(a->type) && types_.is_integer(b->type)) {
    n->type = types_.common(a->type, b->type);
  } else if ((types_.is_text(a->type) || types_.is_term(a->type) || is_null(a)) &&
             (types_.is_text(b->type) || types_.is_term(b->type) || is_null(b))) {
    conversions_.to_text(a);
    conversions_.to_text(b);
    n->type = kString;
  } else if (types_.is_pointer(a->type) && (types_.is_pointer(b->type) || is_null(b))) {
    n->type = a->type;
  } else if (types_.is_pointer(b->type) && is_null(a)) {
    n->type = b->type;
  } else if (types_.same(a->type, b->type) && types_.is_by_reference(a->type)) {
    n->type = a->type;
  } else {
    fail(n->place, "D_OP_INCOMPAT",
         "operator ?: operands must have compatible types, not " + nodes_.described(a) + " and " +
             nodes_.described(b));
  }
  if (n->children[0]->kind == Kind::kInteger) n = n->children[0]->value != 0 ? a : b;
}

void Operators::cast(Node*& n) {
  Node*& operand = n->children[0];
  const TypeId to = n->type;
  if (types_.kind(to) == CType::Kind::kVoid && types_.bytes(to) == 0) return;
  if (types_.is_string(to)) {
    if (operand->kind == Kind::kInteger && operand->value == 0) return;
    if (!types_.is_pointer(operand->type) || conversions_.to_text(operand))
      conversions_.need_text(operand, "D_CAST_INVAL", "what is cast to string");
    if (types_.is_string(operand->type)) n = operand;
    return;
  }
  if (types_.is_struct(to) && types_.same(to, operand->type)) {
    n = operand;
    return;
  }
  const bool from_address = types_.is_by_reference(operand->type) && !types_.is_struct(operand->type);
  if (!types_.is_scalar(to) || !(types_.is_scalar(operand->type) || from_address))
    fail(n->place, "D_CAST_INVAL",
         "invalid cast expression: " + nodes_.described(operand) + " to \"" + types_.name(to) + '"');
  if (operand->kind == Kind::kInteger) n = nodes_.integer(n->place, operand->value, to);
}

void Operators::size_of(Node*& n) {
  TypeId type = n->type;
  if (!n->is_typed) {
    if (n->children[0]->bits != 0) fail(n->place, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field");
    type = n->children[0]->type;
  }
  const CType& t = types_.base(type);
  if (t.bytes == 0 || !t.complete || t.kind == CType::Kind::kFunction || t.kind == CType::Kind::kTerm)
    fail(n->place, "D_SIZEOF_TYPE", "cannot apply sizeof to type \"" + types_.name(type) + '"');
  // The size of a text does not count its NUL. A constant is an array of characters, whose size
  // does.
  std::uint64_t bytes = t.kind == CType::Kind::kString ? t.bytes - 1 : t.bytes;
  if (!n->is_typed && n->children[0]->kind == Kind::kString) bytes = n->children[0]->text.size() + 1;
  n = nodes_.integer(n->place, bytes, kUnsignedLong);
}

void Operators::offset_of(Node*& n) {
  if (!types_.is_struct(n->type) || !types_.base(n->type).complete)
    fail(n->place, "D_OFFSETOF_TYPE",
         "offsetof requires a complete struct or union type, not \"" + types_.name(n->type) + '"');
  FoundMember found;
  if (!find_member(types_, n->type, n->text, found))
    fail(n->place, "D_UNKNOWN",
         n->text + " is not a member of " + types_.name(n->type) + member_hint(types_, n->type, n->text));
  if (found.bits != 0)
    fail(n->place, "D_OFFSETOF_BITFIELD", "cannot take the offset of a bit-field: " + n->text);
  n = nodes_.integer(n->place, found.offset, kUnsignedLong);
}

void Operators::index(Node* n) {
  const Node* base = n->children[0];
  const bool is_text = types_.is_string(base->type);
  if (!types_.is_array(base->type) && !types_.is_pointer(base->type) && !is_text)
    fail(n->place, "D_ARR_BADREF", "[ ] requires an array or pointer, not " + nodes_.described(base));
  if (n->children.size() != 2) fail(n->place, "D_ARR_BADREF", "an array of C has one index");
  const Node* number = n->children[1];
  if (!types_.is_integer(number->type))
    fail(n->place, "D_ARR_BADREF", "the index of an array must be an integer");
  n->type = is_text ? TypeId{kChar} : types_.base(base->type).element;
  if (types_.kind(n->type) == CType::Kind::kVoid)
    fail(n->place, "D_DEREF_VOID", "cannot dereference a pointer to void");
  if (types_.is_array(base->type) && number->kind == Kind::kInteger &&
      number->value >= types_.base(base->type).count)
    fail(n->place, "D_ARR_BOUNDS",
         "index outside array bounds: " + std::to_string(static_cast<std::int64_t>(number->value)));
  n->lvalue = !is_text;
}

void Operators::member(Node* n) {
  const Node* of = n->children[0];
  if (!types_.is_struct(of->type))
    fail(n->place, "D_OP_SOU", "operator . requires a struct or union, not " + nodes_.described(of));
  if (!types_.base(of->type).complete)
    fail(n->place, "D_OP_INCOMPLETE", "an incomplete type has no members: " + nodes_.described(of));
  FoundMember found;
  if (!find_member(types_, of->type, n->text, found))
    fail(n->place, "D_TYPE_MEMBER",
         n->text + " is not a member of " + types_.name(of->type) + member_hint(types_, of->type, n->text));
  n->type = found.type;
  n->offset = found.offset;
  n->bit_offset = found.bit_offset;
  n->bits = found.bits;
  n->lvalue = true;
}

void Operators::string_of(Node*& n) {
  Node*& operand = n->children[0];
  if (operand->kind == Kind::kReference && operand->where == Where::kArgument) operand->type = kCharPointer;
  if (!types_.is_pointer(operand->type) || conversions_.to_text(operand))
    conversions_.need_text(operand, "D_STRINGOF_TYPE", "the operand of stringof");
  if (types_.is_string(operand->type)) {
    n = operand;
    n->lvalue = false;
    return;
  }
  n->kind = Kind::kCast;
  n->type = kString;
}

}  // namespace vmrun::d::lang
