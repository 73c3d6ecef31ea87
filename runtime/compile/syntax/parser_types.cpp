// Types and specifications: parsed in full, kept as far as lint looks at them.

#include <vector>

#include "runtime/compile/syntax/parser_nest.hpp"

namespace vmrun::compile {

const TypeExpr* Parser::type(TypeKind kind, Loc loc, TypeList args, std::string_view name,
                             std::string_view module) {
  return make<TypeExpr>(kind, loc, module, name, args);
}

/// `Var :: Type`, a union, or a plain type.
const TypeExpr* Parser::parse_type() {
  Nest nest(*this);
  const Token& t = peek();
  if (t.kind == Tok::kVar && peek(1).kind == Tok::kDoubleColon) {
    take();
    take();
    const TypeExpr* parts[2] = {type(TypeKind::kVar, t.loc, {}, t.text), parse_type()};
    return type(TypeKind::kAnnotated, t.loc, session_.arena.copy(parts, 2));
  }
  std::vector<const TypeExpr*> members{parse_union_member()};
  while (take_if(Tok::kBar)) {
    bool annotated = at(Tok::kVar) && peek(1).kind == Tok::kDoubleColon;
    members.push_back(annotated ? parse_type() : parse_union_member());
  }
  return members.size() == 1 ? members[0] : type(TypeKind::kUnion, t.loc, keep(members));
}

const TypeExpr* Parser::parse_union_member() {
  const Token& t = peek();
  const TypeExpr* low = parse_type_sum(0);
  if (!take_if(Tok::kDotDot)) return low;
  const TypeExpr* parts[2] = {low, parse_type_sum(0)};
  return type(TypeKind::kRange, t.loc, session_.arena.copy(parts, 2));
}

/// Integer arithmetic, as allowed in the bounds of ranges. level 0: sums; 1: products; 2: signs.
const TypeExpr* Parser::parse_type_sum(int level) {
  Nest nest(*this);
  const Token& t = peek();
  if (level == 2) {
    if (t.kind != Tok::kMinus && t.kind != Tok::kPlus && t.kind != Tok::kBnot) return parse_type_primary();
    take();
    return parse_type_sum(2);
  }
  auto continues = [&](Tok k) {
    if (level == 0)
      return k == Tok::kPlus || k == Tok::kMinus || k == Tok::kBor || k == Tok::kBxor || k == Tok::kBsl ||
             k == Tok::kBsr;
    return k == Tok::kStar || k == Tok::kDiv || k == Tok::kRem || k == Tok::kBand;
  };
  const TypeExpr* left = parse_type_sum(level + 1);
  while (continues(peek().kind)) {
    take();
    parse_type_sum(level + 1);
    left = type(TypeKind::kLiteral, t.loc);
  }
  return left;
}

TypeList Parser::parse_types_until(Tok close, const Token& open) {
  if (take_if(close)) return {};
  std::vector<const TypeExpr*> items;
  do items.push_back(parse_type());
  while (take_if(Tok::kComma));
  expect_close(close, open);
  return keep(items);
}

const TypeExpr* Parser::parse_type_primary() {
  const Token& t = take();
  switch (t.kind) {
    case Tok::kVar: return type(TypeKind::kVar, t.loc, {}, t.text);
    case Tok::kInteger:
    case Tok::kChar: return type(TypeKind::kLiteral, t.loc);
    case Tok::kLParen: {
      const TypeExpr* inner = parse_type();
      expect_close(Tok::kRParen, t);
      return inner;
    }
    case Tok::kAtom: {
      if (take_if(Tok::kColon)) {
        const Token& name = expect(Tok::kAtom, "a type name");
        const Token& open = expect(Tok::kLParen, "'('");
        return type(TypeKind::kRemote, t.loc, parse_types_until(Tok::kRParen, open), name.text, t.text);
      }
      if (!at(Tok::kLParen)) return type(TypeKind::kLiteral, t.loc);
      const Token& open = take();
      return type(TypeKind::kCall, t.loc, parse_types_until(Tok::kRParen, open), t.text);
    }
    case Tok::kLBracket: {
      if (take_if(Tok::kRBracket)) return type(TypeKind::kLiteral, t.loc);
      const TypeExpr* element = parse_type();
      bool nonempty = take_if(Tok::kComma);
      if (nonempty) expect(Tok::kEllipsis, "'...'");
      expect_close(Tok::kRBracket, t);
      return type(nonempty ? TypeKind::kNonemptyList : TypeKind::kList, t.loc,
                  session_.arena.copy(&element, 1));
    }
    case Tok::kLBrace: return type(TypeKind::kTuple, t.loc, parse_types_until(Tok::kRBrace, t));
    case Tok::kHash: return at(Tok::kLBrace) ? parse_map_type(t.loc) : parse_record_type(t.loc);
    case Tok::kLBin: return parse_binary_type(t.loc);
    case Tok::kFun: return parse_fun_type(t.loc);
    default: next_--; fail_here("a type");
  }
}

const TypeExpr* Parser::parse_map_type(Loc loc) {
  const Token& open = take();
  std::vector<const TypeExpr*> fields;
  if (take_if(Tok::kRBrace)) return type(TypeKind::kMap, loc);
  do {
    if (at(Tok::kEllipsis)) fail_here("a map key type");
    const TypeExpr* parts[2] = {parse_type(), nullptr};
    if (!take_if(Tok::kMapAssoc)) expect(Tok::kMapExact, "'=>' or ':='");
    parts[1] = parse_type();
    fields.push_back(type(TypeKind::kMapField, parts[0]->loc, session_.arena.copy(parts, 2)));
  } while (take_if(Tok::kComma));
  expect_close(Tok::kRBrace, open);
  return type(TypeKind::kMap, loc, keep(fields));
}

const TypeExpr* Parser::parse_record_type(Loc loc) {
  const Token& name = expect(Tok::kAtom, "a record name");
  const Token& open = expect(Tok::kLBrace, "'{'");
  std::vector<const TypeExpr*> fields;
  if (!take_if(Tok::kRBrace)) {
    do {
      const Token& field = expect(Tok::kAtom, "a record field name");
      expect(Tok::kDoubleColon, "'::'");
      const TypeExpr* of = parse_type();
      fields.push_back(type(TypeKind::kRecordField, field.loc, session_.arena.copy(&of, 1), field.text));
    } while (take_if(Tok::kComma));
    expect_close(Tok::kRBrace, open);
  }
  return type(TypeKind::kRecord, loc, keep(fields), name.text);
}

/// `<<>>`, `<<_:Base>>`, `<<_:_*Unit>>`, `<<_:Base, _:_*Unit>>`.
const TypeExpr* Parser::parse_binary_type(Loc loc) {
  if (take_if(Tok::kRBin)) return type(TypeKind::kBinary, loc);
  do {
    const Token& v = expect(Tok::kVar, "'_'");
    if (v.text != "_") fail_at(v.loc, "a binary type has '_' here");
    expect(Tok::kColon, "':'");
    if (at(Tok::kVar) && peek().text == "_") {
      take();
      expect(Tok::kStar, "'*'");
    }
    parse_type_sum(2);
  } while (take_if(Tok::kComma));
  expect(Tok::kRBin, "'>>'");
  return type(TypeKind::kBinary, loc);
}

/// `fun()`, `fun((...) -> T)`, `fun((A, B) -> T)`.
const TypeExpr* Parser::parse_fun_type(Loc loc) {
  const Token& open = expect(Tok::kLParen, "'('");
  if (take_if(Tok::kRParen)) return type(TypeKind::kAnyFun, loc);
  const Token& inner = expect(Tok::kLParen, "'('");
  std::vector<const TypeExpr*> parts;
  if (take_if(Tok::kEllipsis)) {
    expect_close(Tok::kRParen, inner);
  } else {
    TypeList args = parse_types_until(Tok::kRParen, inner);
    parts.push_back(type(TypeKind::kProduct, inner.loc, args));
  }
  expect(Tok::kArrow, "'->'");
  parts.push_back(parse_type());
  expect_close(Tok::kRParen, open);
  return type(TypeKind::kFun, loc, keep(parts));
}

/// One `(Args) -> Result when Constraints` of a specification: args[0] is the product of the
/// arguments.
const TypeExpr* Parser::parse_signature() {
  const Token& open = expect(Tok::kLParen, "'('");
  std::vector<const TypeExpr*> parts;
  parts.push_back(type(TypeKind::kProduct, open.loc, parse_types_until(Tok::kRParen, open)));
  expect(Tok::kArrow, "'->'");
  parts.push_back(parse_type());
  if (take_if(Tok::kWhen)) {
    do {
      const Token& t = peek();
      if (t.kind == Tok::kAtom) {  // is_subtype(V, T)
        take();
        const Token& paren = expect(Tok::kLParen, "'('");
        parts.push_back(type(TypeKind::kConstraint, t.loc, parse_types_until(Tok::kRParen, paren)));
      } else {
        const Token& v = expect(Tok::kVar, "a type variable");
        expect(Tok::kDoubleColon, "'::'");
        const TypeExpr* pair[2] = {type(TypeKind::kVar, v.loc, {}, v.text), parse_type()};
        parts.push_back(type(TypeKind::kConstraint, v.loc, session_.arena.copy(pair, 2)));
      }
    } while (take_if(Tok::kComma));
  }
  return type(TypeKind::kFun, open.loc, keep(parts));
}

}  // namespace vmrun::compile
