// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/type_parser.hpp"

#include <vector>

namespace vmrun::compile {

const TypeExpr* TypeParser::type(TypeKind kind, Loc loc, TypeList args, std::string_view name,
                                 std::string_view module) {
  return in_.make<TypeExpr>(kind, loc, module, name, args);
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
  const Token& t = in_.peek();
  const TypeExpr* low = parse_type_sum(0);
  if (!in_.take_if(Tok::kDotDot)) return low;
  const TypeExpr* parts[2] = {low, parse_type_sum(0)};
  return type(TypeKind::kRange, t.loc, in_.copy(parts, 2));
}

/// Integer arithmetic, as allowed in the bounds of ranges. level 0: sums; 1: products; 2: signs.
const TypeExpr* TypeParser::parse_type_sum(int level) {
  TokenCursor::Nest nest(in_);
  const Token& t = in_.peek();
  if (level == 2) {
    if (t.kind != Tok::kMinus && t.kind != Tok::kPlus && t.kind != Tok::kBnot) return parse_type_primary();
    in_.take();
    return parse_type_sum(2);
  }
  auto continues = [&](Tok k) {
    if (level == 0)
      return k == Tok::kPlus || k == Tok::kMinus || k == Tok::kBor || k == Tok::kBxor || k == Tok::kBsl ||
             k == Tok::kBsr;
    return k == Tok::kStar || k == Tok::kDiv || k == Tok::kRem || k == Tok::kBand;
  };
  const TypeExpr* left = parse_type_sum(level + 1);
  while (continues(in_.peek().kind)) {
    in_.take();
    parse_type_sum(level + 1);
    left = type(TypeKind::kLiteral, t.loc);
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
    case Tok::kChar: return type(TypeKind::kLiteral, t.loc);
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
  do {
    const Token& v = in_.expect(Tok::kVar, "'_'");
    if (v.text != "_") in_.fail_at(v.loc, "a binary type has '_' here");
    in_.expect(Tok::kColon, "':'");
    if (in_.at(Tok::kVar) && in_.peek().text == "_") {
      in_.take();
      in_.expect(Tok::kStar, "'*'");
    }
    parse_type_sum(2);
  } while (in_.take_if(Tok::kComma));
  in_.expect(Tok::kRBin, "'>>'");
  return type(TypeKind::kBinary, loc);
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
        parts.push_back(type(TypeKind::kConstraint, t.loc, parse_types_until(Tok::kRParen, paren)));
      } else {
        const Token& v = in_.expect(Tok::kVar, "a type variable");
        in_.expect(Tok::kDoubleColon, "'::'");
        const TypeExpr* pair[2] = {type(TypeKind::kVar, v.loc, {}, v.text), parse_type()};
        parts.push_back(type(TypeKind::kConstraint, v.loc, in_.copy(pair, 2)));
      }
    } while (in_.take_if(Tok::kComma));
  }
  return type(TypeKind::kFun, open.loc, in_.keep(parts));
}

}  // namespace vmrun::compile
