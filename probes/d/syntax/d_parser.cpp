// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/d_parser.hpp"

namespace vmrun::d::lang {
namespace {

constexpr std::size_t kMostTypes = 1 << 16;

}  // namespace

std::int64_t Parser::constant(const char* tag) { return listener_.constant(expressions_.conditional(), tag); }

void Parser::enumerator(Place place, const std::string& name, std::int64_t value) {
  listener_.enumerator(place, name, value);
}

void Parser::parse(Source::Kind kind) {
  const auto is_type = [this](const std::string& word) {
    TypeId id;
    return types_.find(word, id);
  };
  while (!lexer_.at_end()) {
    if (lexer_.peek() == ';') tokens_.take();
    else if (lexer_.at_description(is_type)) clause(kind);
    else declaration();
    if (types_.all().size() > kMostTypes) fail(lexer_.place(), "D_SYNTAX", "too many types");
  }
}

// --- Clauses ---

void Parser::descriptions(ClauseTree& clause, Source::Kind kind) {
  do {
    if (!clause.descriptions.empty()) tokens_.take();  // the comma
    lexer_.peek();
    const Place place = lexer_.place();
    clause.descriptions.push_back(lexer_.description(kind == Source::Kind::kFunction));
    clause.description_places.push_back(place);
    if (clause.descriptions.back().empty()) tokens_.unexpected(tokens_.peek());
  } while (lexer_.peek() == ',');
  clause.place = clause.description_places.front();
}

void Parser::clause(Source::Kind kind) {
  ClauseTree clause;
  descriptions(clause, kind);
  if (lexer_.peek() == '/') {
    tokens_.expect("/");
    clause.predicate = expressions_.expression();
    tokens_.expect("/{");
  }
  if (lexer_.peek() == '{') {
    tokens_.take();
    clause.has_body = true;
    clause.body = block();
  } else if (kind == Source::Kind::kFile && clause.predicate == nullptr) {
    if (const Token& next = tokens_.peek(); next.kind != Token::Kind::kEnd && !next.is(";"))
      tokens_.unexpected(next);
    fail(lexer_.place(), "D_SYNTAX", "expected predicate and/or actions following probe description");
  }
  listener_.clause(std::move(clause));
}

std::vector<Statement> Parser::block() {
  std::vector<Statement> out;
  while (!tokens_.accept("}")) {
    if (tokens_.peek().kind == Token::Kind::kEnd) tokens_.unexpected(tokens_.peek());
    if (!tokens_.accept(";")) statement(out);
  }
  return out;
}

std::vector<Statement> Parser::branch() {
  Deeper deeper(tokens_);
  if (tokens_.accept("{")) return block();
  std::vector<Statement> out;
  if (!tokens_.accept(";")) statement(out);
  return out;
}

Statement Parser::if_statement(Place place) {
  Statement out{.kind = Statement::Kind::kIf, .place = place};
  tokens_.expect("(");
  out.expression = expressions_.expression();
  tokens_.expect(")");
  out.then = branch();
  if (tokens_.accept("else")) out.otherwise = branch();
  return out;
}

void Parser::aggregation_statement(Statement& out) {
  out.kind = Statement::Kind::kAggregation;
  out.expression = expressions_.primary();
  if (tokens_.peek().is("["))
    fail(tokens_.peek().place, "D_AGG_MDIM",
         "improper use of an aggregation as a multi-dimensional array: keys are @a[k1, k2]");
  if (tokens_.accept("=")) out.function = expressions_.assignment();
  else if (!tokens_.peek().is(";") && !tokens_.peek().is("}")) tokens_.unexpected(tokens_.peek());
}

void Parser::statement(std::vector<Statement>& out) {
  const Place place = tokens_.peek().place;
  if (tokens_.accept("if")) {
    out.push_back(if_statement(place));
    return;
  }
  Statement statement{.place = place};
  if (tokens_.peek().kind == Token::Kind::kAggregation) aggregation_statement(statement);
  else statement.expression = expressions_.expression();
  if (!tokens_.peek().is("}")) tokens_.expect(";");
  out.push_back(std::move(statement));
}

// --- Declarations ---

void Parser::inline_declaration() {
  tokens_.take();
  const Specifiers s = type_parser_.specifiers();
  Listener::Declared declared{.place = tokens_.peek().place};
  // The parameters of inline int f[int a, string b] = ... have names, so this is not a plain
  // declarator.
  TypeId type = s.type;
  while (tokens_.accept("*")) type = types_.pointer_to(type);
  declared.name = tokens_.name();
  declared.type = type;
  std::vector<std::string> parameters;
  if (tokens_.accept("[")) {
    declared.associative = true;
    declared.keys = type_parser_.key_types(&parameters);
  }
  tokens_.expect("=");
  Node* value = expressions_.assignment();
  tokens_.expect(";");
  listener_.inlined(declared, parameters, value);
}

void Parser::translator_declaration() {
  const Place place = tokens_.take().place;
  const TypeId to = type_parser_.type_name();
  tokens_.expect("<");
  const Specifiers s = type_parser_.specifiers();
  const Declarator from = type_parser_.declarator(s.type, true);
  tokens_.expect(">");
  tokens_.expect("{");
  std::vector<Listener::Member> members;
  while (!tokens_.accept("}")) {
    Listener::Member member{.place = tokens_.peek().place};
    member.name = tokens_.member_name();
    tokens_.expect("=");
    member.value = expressions_.assignment();
    tokens_.expect(";");
    members.push_back(std::move(member));
  }
  tokens_.expect(";");
  listener_.translator(place, to, from.type, from.name, std::move(members));
}

void Parser::define_type(const Declarator& d) {
  TypeId known;
  if (d.associative) fail(d.place, "D_DECL_DYNOBJ", "a type cannot be an associative array: " + d.name);
  if (!types_.find(d.name, known)) types_.add_typedef(d.name, d.type);
  else if (!types_.same(known, d.type)) fail(d.place, "D_DECL_IDRED", "identifier redeclared: " + d.name);
}

void Parser::declare(const Specifiers& s, const Declarator& d) {
  if (s.storage == "typedef") return define_type(d);
  if (types_.kind(d.type) == CType::Kind::kFunction) return;  // a prototype: nothing to be done
  Listener::Declared declared{
      .place = d.place, .name = d.name, .type = d.type, .associative = d.associative, .keys = d.keys};
  if (s.storage == "self") declared.scope = VariableScope::kSelf;
  if (s.storage == "this") declared.scope = VariableScope::kThis;
  listener_.variable(declared);
}

void Parser::declaration() {
  if (tokens_.peek().is("inline")) return inline_declaration();
  if (tokens_.peek().is("translator")) return translator_declaration();
  if (tokens_.peek().is("provider"))
    fail(tokens_.peek().place, "D_SYNTAX",
         "provider declarations are for dtrace -h: a script cannot have one");
  const Specifiers s = type_parser_.specifiers();
  if (s.storage == "static" || s.storage == "auto" || s.storage == "register" || s.storage == "counter")
    fail(s.place, "D_DECL_BADCLASS", "storage class " + s.storage + " is not supported in D");
  if (tokens_.accept(";")) {
    if (!types_.is_struct(s.type) && types_.kind(s.type) != CType::Kind::kEnum)
      fail(s.place, "D_DECL_USELESS", "useless declaration");
    return;
  }
  do declare(s, type_parser_.declarator(s.type, true));
  while (tokens_.accept(","));
  if (tokens_.peek().is("="))
    fail(tokens_.peek().place, "D_SYNTAX", "a declaration cannot have an initial value: assign it in BEGIN");
  tokens_.expect(";");
}

}  // namespace vmrun::d::lang
