// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/type_parser.hpp"

#include <vector>

namespace vmrun::compile {

namespace {

using Number = TypeNumber;

Number known(__int128 value) { return {Number::kKnown, value}; }

/// An integer or a character as it is written.
Number number_of(const Token& t) {
  if (t.kind == Tok::kChar) return known(static_cast<__int128>(t.code));
  __int128 value = 0;
  for (const char c : t.text) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (__builtin_mul_overflow(value, static_cast<__int128>(t.base), &value) ||
        __builtin_add_overflow(value, static_cast<__int128>(digit), &value))
      return {Number::kLarge};
  }
  return known(value);
}

Number shifted(__int128 value, __int128 left) {
  if (left < 0) return known(value >> (left < -127 ? 127 : static_cast<int>(-left)));
  if (value == 0) return known(0);
  if (left > 126 || (value << left) >> left != value) return {Number::kLarge};
  return known(value << left);
}

Number operation(Tok op, Number a) {
  if (a.kind != Number::kKnown || op == Tok::kPlus) return a;
  return known(op == Tok::kBnot ? ~a.value : -a.value);
}

/// What is not known is taken for an integer, so that no message is wrong.
Number operation(Tok op, Number a, Number b) {
  if (a.kind == Number::kNone || b.kind == Number::kNone) return {};
  const bool divides = op == Tok::kDiv || op == Tok::kRem;
  if (divides && b.kind == Number::kKnown && b.value == 0) return {};
  if (a.kind == Number::kLarge || b.kind == Number::kLarge) return {Number::kLarge};
  __int128 result = 0;
  bool large = false;
  switch (op) {
    case Tok::kPlus: large = __builtin_add_overflow(a.value, b.value, &result); break;
    case Tok::kMinus: large = __builtin_sub_overflow(a.value, b.value, &result); break;
    case Tok::kStar: large = __builtin_mul_overflow(a.value, b.value, &result); break;
    case Tok::kDiv: result = a.value / b.value; break;
    case Tok::kRem: result = a.value % b.value; break;
    case Tok::kBand: result = a.value & b.value; break;
    case Tok::kBor: result = a.value | b.value; break;
    case Tok::kBxor: result = a.value ^ b.value; break;
    case Tok::kBsl: return shifted(a.value, b.value);
    case Tok::kBsr: return shifted(a.value, -b.value);
    default: return {};
  }
  return large ? Number{Number::kLarge} : known(result);
}

}  // namespace

const TypeExpr* TypeParser::computed(Loc loc, TypeNumber number) {
  return in_.make<TypeExpr>(TypeExpr{TypeKind::kLiteral, loc, {}, {}, {}, number, true});
}

const TypeExpr* TypeParser::type(TypeKind kind, Loc loc, TypeList args, std::string_view name,
                                 std::string_view module) {
  return in_.make<TypeExpr>(TypeExpr{kind, loc, module, name, args});
}

/// `Var :: Type`, a union, or a plain type.
const TypeExpr* TypeParser::parse_type() {
  TokenCursor::Nest nest(in_);
  const Token& t = in_.peek();
  if (t.kind == Tok::kVar && in_.peek(1).kind == Tok::kDoubleColon) {
    in_.take();
    in_.take();
    const TypeExpr* parts[2] = {type(TypeKind::kVar, t.loc, {}, t.text), parse_type()};
    return type(TypeKind::kAnnotated, t.loc, in_.copy(parts, 2));
  }
  std::vector<const TypeExpr*> members{parse_union_member()};
  while (in_.take_if(Tok::kBar)) {
    const bool annotated = in_.at(Tok::kVar) && in_.peek(1).kind == Tok::kDoubleColon;
    members.push_back(annotated ? parse_type() : parse_union_member());
  }
  return members.size() == 1 ? members[0] : type(TypeKind::kUnion, t.loc, in_.keep(members));
}

const TypeExpr* TypeParser::parse_union_member() {
  const TypeExpr* low = parse_type_sum(0);
  if (!in_.take_if(Tok::kDotDot)) return low;
  const TypeExpr* parts[2] = {low, parse_type_sum(0)};
  return type(TypeKind::kRange, low->loc, in_.copy(parts, 2));
}

/// Integer arithmetic, as allowed in the bounds of ranges. level 0: sums; 1: products; 2: signs.
const TypeExpr* TypeParser::parse_type_sum(int level) {
  TokenCursor::Nest nest(in_);
  const Token& t = in_.peek();
  if (level == 2) {
    if (t.kind != Tok::kMinus && t.kind != Tok::kPlus && t.kind != Tok::kBnot) return parse_type_primary();
    in_.take();
    return computed(t.loc, operation(t.kind, parse_type_sum(2)->number));
  }
  auto continues = [&](Tok k) {
    if (level == 0)
      return k == Tok::kPlus || k == Tok::kMinus || k == Tok::kBor || k == Tok::kBxor || k == Tok::kBsl ||
             k == Tok::kBsr;
    return k == Tok::kStar || k == Tok::kDiv || k == Tok::kRem || k == Tok::kBand;
  };
  const TypeExpr* left = parse_type_sum(level + 1);
  while (continues(in_.peek().kind)) {
    const Token& op = in_.take();
    left = computed(op.loc, operation(op.kind, left->number, parse_type_sum(level + 1)->number));
  }
  return left;
}

TypeList TypeParser::parse_types_until(Tok close, const Token& open) {
  if (in_.take_if(close)) return {};
  std::vector<const TypeExpr*> items;
  do items.push_back(parse_type());
  while (in_.take_if(Tok::kComma));
  in_.expect_close(close, open);
  return in_.keep(items);
}

const TypeExpr* TypeParser::parse_type_primary() {
  const Token& t = in_.take();
  switch (t.kind) {
    case Tok::kVar: return type(TypeKind::kVar, t.loc, {}, t.text);
    case Tok::kInteger:
    case Tok::kChar: return in_.make<TypeExpr>(TypeExpr{TypeKind::kLiteral, t.loc, {}, {}, {}, number_of(t)});
    case Tok::kLParen: {
      const TypeExpr* inner = parse_type();
      in_.expect_close(Tok::kRParen, t);
      return inner;
    }
    case Tok::kAtom: {
      if (in_.take_if(Tok::kColon)) {
        const Token& name = in_.expect(Tok::kAtom, "a type name");
        const Token& open = in_.expect(Tok::kLParen, "'('");
        return type(TypeKind::kRemote, t.loc, parse_types_until(Tok::kRParen, open), name.text, t.text);
      }
      if (!in_.at(Tok::kLParen)) return type(TypeKind::kLiteral, t.loc);
      const Token& open = in_.take();
      return type(TypeKind::kCall, t.loc, parse_types_until(Tok::kRParen, open), t.text);
    }
    case Tok::kLBracket: {
      if (in_.take_if(Tok::kRBracket)) return type(TypeKind::kLiteral, t.loc);
      const TypeExpr* element = parse_type();
      const bool nonempty = in_.take_if(Tok::kComma);
      if (nonempty) in_.expect(Tok::kEllipsis, "'...'");
      in_.expect_close(Tok::kRBracket, t);
      return type(nonempty ? TypeKind::kNonemptyList : TypeKind::kList, t.loc, in_.copy(&element, 1));
    }
    case Tok::kLBrace: return type(TypeKind::kTuple, t.loc, parse_types_until(Tok::kRBrace, t));
    case Tok::kHash: return in_.at(Tok::kLBrace) ? parse_map_type(t.loc) : parse_record_type(t.loc);
    case Tok::kLBin: return parse_binary_type(t.loc);
    case Tok::kFun: return parse_fun_type(t.loc);
    default: in_.step_back(); in_.fail_here("a type");
  }
}

const TypeExpr* TypeParser::parse_map_type(Loc loc) {
  const Token& open = in_.take();
  std::vector<const TypeExpr*> fields;
  if (in_.take_if(Tok::kRBrace)) return type(TypeKind::kMap, loc);
  do {
    if (in_.at(Tok::kEllipsis)) in_.fail_here("a map key type");
    const TypeExpr* parts[2] = {parse_type(), nullptr};
    if (!in_.take_if(Tok::kMapAssoc)) in_.expect(Tok::kMapExact, "'=>' or ':='");
    parts[1] = parse_type();
    fields.push_back(type(TypeKind::kMapField, parts[0]->loc, in_.copy(parts, 2)));
  } while (in_.take_if(Tok::kComma));
  in_.expect_close(Tok::kRBrace, open);
  return type(TypeKind::kMap, loc, in_.keep(fields));
}

const TypeExpr* TypeParser::parse_record_type(Loc loc) {
  std::string_view module, name = in_.expect(Tok::kAtom, "a record name").text;
  if (in_.take_if(Tok::kColon)) {
    module = name;
    const Token& t = in_.take();
    name = is_keyword(t.kind) ? token_spelling(t.kind) : t.text;
  }
  const Token& open = in_.expect(Tok::kLBrace, "'{'");
  std::vector<const TypeExpr*> fields;
  if (!in_.take_if(Tok::kRBrace)) {
    do {
      const Token& field = in_.expect(Tok::kAtom, "a record field name");
      in_.expect(Tok::kDoubleColon, "'::'");
      const TypeExpr* of = parse_type();
      fields.push_back(type(TypeKind::kRecordField, field.loc, in_.copy(&of, 1), field.text));
    } while (in_.take_if(Tok::kComma));
    in_.expect_close(Tok::kRBrace, open);
  }
  return type(TypeKind::kRecord, loc, in_.keep(fields), name, module);
}

/// `<<>>`, `<<_:Base>>`, `<<_:_*Unit>>`, `<<_:Base, _:_*Unit>>`.
const TypeExpr* TypeParser::parse_binary_type(Loc loc) {
  if (in_.take_if(Tok::kRBin)) return type(TypeKind::kBinary, loc);
  std::vector<const TypeExpr*> parts;
  bool unit = false;
  do {
    const Token& v = in_.expect(Tok::kVar, "'_'");
    if (v.text != "_") in_.fail_at(v.loc, "a binary type has '_' here");
    in_.expect(Tok::kColon, "':'");
    unit = in_.at(Tok::kVar) && in_.peek().text == "_";
    if (unit) {
      in_.take();
      in_.expect(Tok::kStar, "'*'");
    } else if (!parts.empty()) {
      in_.fail_here("'_*' and a unit");
    }
    parts.push_back(parse_type_sum(0));
  } while (!unit && in_.take_if(Tok::kComma));
  in_.expect(Tok::kRBin, "'>>'");
  return type(TypeKind::kBinary, loc, in_.keep(parts));
}

/// `fun()`, `fun((...) -> T)`, `fun((A, B) -> T)`.
const TypeExpr* TypeParser::parse_fun_type(Loc loc) {
  const Token& open = in_.expect(Tok::kLParen, "'('");
  if (in_.take_if(Tok::kRParen)) return type(TypeKind::kAnyFun, loc);
  const Token& inner = in_.expect(Tok::kLParen, "'('");
  std::vector<const TypeExpr*> parts;
  if (in_.take_if(Tok::kEllipsis)) {
    in_.expect_close(Tok::kRParen, inner);
  } else {
    TypeList args = parse_types_until(Tok::kRParen, inner);
    parts.push_back(type(TypeKind::kProduct, inner.loc, args));
  }
  in_.expect(Tok::kArrow, "'->'");
  parts.push_back(parse_type());
  in_.expect_close(Tok::kRParen, open);
  return type(TypeKind::kFun, loc, in_.keep(parts));
}

/// One `(Args) -> Result when Constraints` of a specification: args[0] is the product of the
/// arguments.
const TypeExpr* TypeParser::parse_signature() {
  const Token& open = in_.expect(Tok::kLParen, "'('");
  std::vector<const TypeExpr*> parts;
  parts.push_back(type(TypeKind::kProduct, open.loc, parse_types_until(Tok::kRParen, open)));
  in_.expect(Tok::kArrow, "'->'");
  parts.push_back(parse_type());
  if (in_.take_if(Tok::kWhen)) {
    do {
      const Token& t = in_.peek();
      if (t.kind == Tok::kAtom) {  // is_subtype(V, T)
        in_.take();
        const Token& paren = in_.expect(Tok::kLParen, "'('");
        const TypeList args = parse_types_until(Tok::kRParen, paren);
        if (t.text != "is_subtype" || args.size() != 2)
          in_.fail_at(t.loc, "unsupported constraint " + quote_atom(t.text));
        if (args[0]->kind != TypeKind::kVar || args[0]->name == "_")
          in_.fail_at(args[0]->loc, "bad type variable");
        parts.push_back(type(TypeKind::kConstraint, t.loc, args));
      } else {
        const Token& v = in_.expect(Tok::kVar, "a type variable");
        if (v.text == "_") in_.fail_at(v.loc, "bad type variable");
        in_.expect(Tok::kDoubleColon, "'::'");
        const TypeExpr* pair[2] = {type(TypeKind::kVar, v.loc, {}, v.text), parse_type()};
        parts.push_back(type(TypeKind::kConstraint, v.loc, in_.copy(pair, 2)));
      }
    } while (in_.take_if(Tok::kComma));
  }
  return type(TypeKind::kFun, open.loc, in_.keep(parts));
}

}  // namespace vmrun::compile
