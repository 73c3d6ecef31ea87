// Forms: functions and attributes.

#include <string>
#include <vector>

#include "runtime/compile/syntax/parser_nest.hpp"

namespace vmrun::compile {

const Form* Parser::parse_form() {
  try {
    const Token& t = peek();
    const Form* form = nullptr;
    if (t.kind == Tok::kMinus &&
        (peek(1).kind == Tok::kAtom || keyword_of(token_spelling(peek(1).kind)) != Tok::kAtom))
      form = parse_attribute();
    else if (t.kind == Tok::kAtom) form = parse_function();
    else fail_here("a function or an attribute");
    if (!at(Tok::kDot)) fail_here(form->kind == FormKind::kFunction ? "an operator, ',', ';' or '.'" : "'.'");
    return form;
  } catch (const Abort&) {
    return nullptr;
  }
}

const Expr* Parser::parse_whole_expression() {
  try {
    const Expr* e = parse_expr();
    if (!at(Tok::kDot) && !at(Tok::kEof)) fail_here("an operator");
    return e;
  } catch (const Abort&) {
    return nullptr;
  }
}

const Form* Parser::parse_function() {
  const Token& name = peek();
  std::vector<const Clause*> clauses;
  do {
    const Token& head = expect(Tok::kAtom, "the name of the function");
    const Token& open = expect(Tok::kLParen, "'('");
    ExprList patterns = parse_exprs_until(Tok::kRParen, open);
    std::span<const ExprList> guards;
    if (take_if(Tok::kWhen)) guards = parse_guards();
    expect(Tok::kArrow, "'->' or 'when'");
    ExprList body = parse_body();
    clauses.push_back(make<Clause>(head.loc, head.text, patterns, guards, body));
  } while (take_if(Tok::kSemicolon));
  size_t arity = clauses[0]->patterns.size();
  bool bad = false;
  for (const Clause* c : clauses) {
    if (c->name == name.text && c->patterns.size() == arity) continue;
    bad = true;
    session_.diagnostics.error(
        c->loc, format_message(
                    "head mismatch: this clause is of %s/%zu, the function is %s/%zu (a '.' missing before?)",
                    quote_atom(c->name).c_str(), c->patterns.size(), quote_atom(name.text).c_str(), arity));
  }
  if (arity > 255) fail_at(name.loc, "too many arguments: a function takes at most 255");
  if (bad) throw Abort{};
  return make<FunctionForm>(
      FunctionForm{{FormKind::kFunction, name.loc}, name.text, static_cast<uint32_t>(arity), keep(clauses)});
}

const Form* Parser::parse_attribute() {
  Loc loc = take().loc;
  const Token& name = take();
  std::string_view attribute = name.kind == Tok::kAtom ? name.text : token_spelling(name.kind);
  if (attribute == "record") return parse_record_form(loc);
  if (attribute == "type" || attribute == "opaque" || attribute == "nominal")
    return parse_type_form(loc, attribute);
  if (attribute == "spec" || attribute == "callback") return parse_spec_form(loc, attribute);
  ExprList values;
  if (at(Tok::kLParen)) {
    const Token& open = take();
    values = parse_exprs_until(Tok::kRParen, open);
  } else if (!at(Tok::kDot)) {  // `-doc "text".` and the like need no parentheses
    values = parse_body();
  }
  return make<AttributeForm>(AttributeForm{{FormKind::kAttribute, loc}, attribute, values});
}

const Form* Parser::parse_record_form(Loc loc) {
  bool parens = at(Tok::kLParen);
  const Token& open = peek();
  if (parens) take();
  const Token& name = expect(Tok::kAtom, "a record name");
  expect(Tok::kComma, "','");
  const Token& brace = expect(Tok::kLBrace, "'{' and the fields");
  std::vector<RecordFieldDef> fields;
  if (!take_if(Tok::kRBrace)) {
    do {
      const Token& field = expect(Tok::kAtom, "a record field name");
      RecordFieldDef def{field.loc, field.text, nullptr, nullptr};
      if (take_if(Tok::kEqual)) def.initial = parse_expr();
      if (take_if(Tok::kDoubleColon)) def.type = parse_type();
      fields.push_back(def);
    } while (take_if(Tok::kComma));
    expect_close(Tok::kRBrace, brace);
  }
  if (parens) expect_close(Tok::kRParen, open);
  return make<RecordForm>(RecordForm{{FormKind::kRecord, loc}, name.text, keep(fields)});
}

const Form* Parser::parse_type_form(Loc loc, std::string_view attribute) {
  bool parens = at(Tok::kLParen);
  const Token& outer = peek();
  if (parens) take();
  const Token& name = expect(Tok::kAtom, "a type name");
  const Token& open = expect(Tok::kLParen, "'('");
  TypeList params = parse_types_until(Tok::kRParen, open);
  for (const TypeExpr* p : params)
    if (p->kind != TypeKind::kVar) fail_at(p->loc, "the parameters of a type must be variables");
  expect(Tok::kDoubleColon, "'::'");
  const TypeExpr* definition = parse_type();
  if (parens) expect_close(Tok::kRParen, outer);
  return make<TypeForm>(TypeForm{{FormKind::kType, loc}, attribute, name.text, params, definition});
}

const Form* Parser::parse_spec_form(Loc loc, std::string_view attribute) {
  bool parens = at(Tok::kLParen);
  const Token& outer = peek();
  if (parens) take();
  std::string_view module, name = expect(Tok::kAtom, "a function name").text;
  if (take_if(Tok::kColon)) {
    module = name;
    name = expect(Tok::kAtom, "a function name").text;
  }
  std::vector<const TypeExpr*> signatures;
  do signatures.push_back(parse_signature());
  while (take_if(Tok::kSemicolon));
  if (parens) expect_close(Tok::kRParen, outer);
  size_t arity = signatures[0]->args[0]->args.size();
  for (const TypeExpr* s : signatures)
    if (s->args[0]->args.size() != arity)
      fail_at(s->loc, "the alternatives of a specification differ in arity");
  return make<SpecForm>(SpecForm{
      {FormKind::kSpec, loc}, attribute, module, name, static_cast<uint32_t>(arity), keep(signatures)});
}

}  // namespace vmrun::compile
