// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/parser.hpp"

#include <string>
#include <vector>

namespace vmrun::compile {

const Form* Parser::parse_form() {
  try {
    const Token& t = in_.peek();
    const Form* form = nullptr;
    if (t.kind == Tok::kMinus &&
        (in_.peek(1).kind == Tok::kAtom || keyword_of(token_spelling(in_.peek(1).kind)) != Tok::kAtom))
      form = parse_attribute();
    else if (t.kind == Tok::kAtom) form = parse_function();
    else in_.fail_here("a function or an attribute");
    if (in_.at(Tok::kEof))
      in_.fail_at(in_.peek().loc, "unexpected end of file: the last form does not end with '.'");
    if (!in_.at(Tok::kDot))
      in_.fail_here(form->kind == FormKind::kFunction ? "an operator, ',', ';' or '.'" : "'.'");
    return form;
  } catch (const TokenCursor::Abort&) {
    return nullptr;
  }
}

const Expr* Parser::parse_whole_expression() {
  try {
    const Expr* e = exprs_.parse_expr();
    if (!in_.at(Tok::kDot) && !in_.at(Tok::kEof)) in_.fail_here("an operator");
    return e;
  } catch (const TokenCursor::Abort&) {
    return nullptr;
  }
}

const Form* Parser::parse_body_of(std::string_view function) {
  try {
    const Loc loc = in_.peek().loc;
    ExprList body = exprs_.parse_body();
    if (!in_.at(Tok::kDot) && !in_.at(Tok::kEof)) in_.fail_here("an operator or ','");
    const Clause* clause = in_.make<Clause>(loc, function, ExprList(), std::span<const ExprList>(), body);
    return in_.make<FunctionForm>(
        FunctionForm{{FormKind::kFunction, loc}, function, 0, in_.copy(&clause, 1)});
  } catch (const TokenCursor::Abort&) {
    return nullptr;
  }
}

const Form* Parser::parse_function() {
  const Token& name = in_.peek();
  std::vector<const Clause*> clauses;
  do {
    const Token& head = in_.expect(Tok::kAtom, "the name of the function");
    const Token& open = in_.expect(Tok::kLParen, "'('");
    ExprList patterns = exprs_.parse_exprs_until(Tok::kRParen, open);
    std::span<const ExprList> guards;
    if (in_.take_if(Tok::kWhen)) guards = exprs_.parse_guards();
    in_.expect(Tok::kArrow, "'->' or 'when'");
    ExprList body = exprs_.parse_body();
    clauses.push_back(in_.make<Clause>(head.loc, head.text, patterns, guards, body));
  } while (in_.take_if(Tok::kSemicolon));
  const std::size_t arity = clauses[0]->patterns.size();
  bool bad = false;
  for (const Clause* c : clauses) {
    if (c->name == name.text && c->patterns.size() == arity) continue;
    bad = true;
    in_.error(c->loc,
              format_message(
                  "head mismatch: this clause is of %s/%zu, the function is %s/%zu (a '.' missing before?)",
                  quote_atom(c->name).c_str(), c->patterns.size(), quote_atom(name.text).c_str(), arity));
  }
  if (arity > 255) in_.fail_at(name.loc, "too many arguments: a function takes at most 255");
  if (bad) throw TokenCursor::Abort{};
  return in_.make<FunctionForm>(FunctionForm{
      {FormKind::kFunction, name.loc}, name.text, static_cast<std::uint32_t>(arity), in_.keep(clauses)});
}

const Form* Parser::parse_attribute() {
  in_.take();
  const Token& name = in_.take();
  const Loc loc = name.loc;
  const std::string_view attribute = name.kind == Tok::kAtom ? name.text : token_spelling(name.kind);
  if (attribute == "record") return parse_record_form(loc);
  if (attribute == "type" || attribute == "opaque" || attribute == "nominal")
    return parse_type_form(loc, attribute);
  if (attribute == "spec" || attribute == "callback") return parse_spec_form(loc, attribute);
  ExprList values;
  if (in_.at(Tok::kLParen)) {
    const Token& open = in_.take();
    values = exprs_.parse_exprs_until(Tok::kRParen, open);
  } else if (!in_.at(Tok::kDot)) {  // `-doc "text".` and the like need no parentheses
    values = exprs_.parse_body();
  }
  return in_.make<AttributeForm>(AttributeForm{{FormKind::kAttribute, loc}, attribute, values});
}

const Form* Parser::parse_record_form(Loc loc) {
  const bool parens = in_.at(Tok::kLParen);
  const Token& open = in_.peek();
  if (parens) in_.take();
  const bool native = in_.take_if(Tok::kHash);
  const std::string_view name =
      native ? exprs_.native_record_name() : in_.expect(Tok::kAtom, "a record name").text;
  if (!native) in_.expect(Tok::kComma, "','");
  const Token& brace = in_.expect(Tok::kLBrace, "'{' and the fields");
  std::vector<RecordFieldDef> fields;
  if (!in_.take_if(Tok::kRBrace)) {
    do {
      const Token& field = in_.expect(Tok::kAtom, "a record field name");
      RecordFieldDef def{field.loc, field.text, nullptr, nullptr};
      if (in_.take_if(Tok::kEqual)) def.initial = exprs_.parse_expr();
      if (in_.take_if(Tok::kDoubleColon)) def.type = types_.parse_type();
      fields.push_back(def);
    } while (in_.take_if(Tok::kComma));
    in_.expect_close(Tok::kRBrace, brace);
  }
  if (parens) in_.expect_close(Tok::kRParen, open);
  return in_.make<RecordForm>(RecordForm{{FormKind::kRecord, loc}, native, name, in_.keep(fields)});
}

const Form* Parser::parse_type_form(Loc loc, std::string_view attribute) {
  const bool parens = in_.at(Tok::kLParen);
  const Token& outer = in_.peek();
  if (parens) in_.take();
  const Token& name = in_.expect(Tok::kAtom, "a type name");
  const Token& open = in_.expect(Tok::kLParen, "'('");
  TypeList params = types_.parse_types_until(Tok::kRParen, open);
  for (const TypeExpr* p : params)
    if (p->kind != TypeKind::kVar || p->name == "_")
      in_.fail_at(p->loc, "the parameters of a type must be variables");
  in_.expect(Tok::kDoubleColon, "'::'");
  const TypeExpr* definition = types_.parse_type();
  if (parens) in_.expect_close(Tok::kRParen, outer);
  return in_.make<TypeForm>(TypeForm{{FormKind::kType, loc}, attribute, name.text, params, definition});
}

const Form* Parser::parse_spec_form(Loc loc, std::string_view attribute) {
  const bool parens = in_.at(Tok::kLParen);
  const Token& outer = in_.peek();
  if (parens) in_.take();
  std::string_view module, name = in_.expect(Tok::kAtom, "a function name").text;
  if (in_.take_if(Tok::kColon)) {
    module = name;
    name = in_.expect(Tok::kAtom, "a function name").text;
  }
  std::vector<const TypeExpr*> signatures;
  do signatures.push_back(types_.parse_signature());
  while (in_.take_if(Tok::kSemicolon));
  if (parens) in_.expect_close(Tok::kRParen, outer);
  const std::size_t arity = signatures[0]->args[0]->args.size();
  for (const TypeExpr* s : signatures)
    if (s->args[0]->args.size() != arity)
      in_.fail_at(s->loc, "the alternatives of a specification differ in arity");
  return in_.make<SpecForm>(SpecForm{{FormKind::kSpec, loc},
                                     attribute,
                                     module,
                                     name,
                                     static_cast<std::uint32_t>(arity),
                                     in_.keep(signatures)});
}

}  // namespace vmrun::compile
