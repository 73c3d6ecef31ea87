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

bool Parser::part(Source::Kind kind) {
  const auto is_type = [this](const std::string& word) {
    TypeId id;
    return types_.find(word, id);
  };
  tokens_.begin_part();
  bool is_at_end = false;
  if (!failures_.guard([&] { is_at_end = lexer_.at_end(); })) return true;
  if (is_at_end) return false;
  if (lexer_.peek() == ';') tokens_.take();
  else if (lexer_.at_description(is_type)) clause(kind);
  else declaration();
  return true;
}

void Parser::parse(Source::Kind kind) {
  for (bool more = true; more;) {
    if (!failures_.guard([&] { more = part(kind); })) {
      tokens_.skip_part();
      excuse_names();
    }
    if (types_.all().size() <= kMostTypes) continue;
    failures_.add({"D_SYNTAX", lexer_.place(), "too many types"});
    return;
  }
}

void Parser::excuse_names() {
  for (const std::string& name : tokens_.names()) failures_.excuse(name);
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

void Parser::predicate(ClauseTree& clause) {
  const Place open = tokens_.peek().place;
  tokens_.expect("/");
  clause.predicate = expressions_.expression();
  if (tokens_.accept("/{")) return;
  const Token& next = tokens_.peek();
  const std::string lacks =
      "the predicate that begins in line " + std::to_string(open.line) + " has no / at its end";
  if (next.kind == Token::Kind::kEnd) fail(open, "D_SYNTAX", "end of input: " + lacks);
  tokens_.unexpected(next, ": " + lacks);
}

/// Whether what follows shows that this was no description, but a statement outside of a clause, or
/// a declaration whose first word is misspelt.
bool Parser::is_no_clause(const ClauseTree& clause) {
  const char next = lexer_.peek();
  if (next == '(' || next == '=') return true;
  const bool is_word = next == '_' || (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
  return is_word && !keyword_like(clause.descriptions.back(), true).empty();
}

/// Fails at what stands in place of a clause's predicate or body.
void Parser::no_body(const ClauseTree& clause) {
  const Token& next = tokens_.peek();
  if (next.kind == Token::Kind::kEnd || next.is(";"))
    fail(clause.place, "D_SYNTAX", "expected predicate and/or actions following probe description");
  if (next.is("(") || next.is("=")) tokens_.unexpected(next, ": statements stand in the { } of a clause");
  const std::string& word = clause.descriptions.back();
  const std::string_view meant = next.kind == Token::Kind::kName ? keyword_like(word, true) : "";
  tokens_.unexpected(next, meant.empty()
                               ? ": { or a predicate is expected"
                               : ", did you mean " + std::string(meant) + " in place of " + word + "?");
}

void Parser::clause(Source::Kind kind) {
  ClauseTree clause;
  descriptions(clause, kind);
  if (is_no_clause(clause)) no_body(clause);
  bool is_good = true;
  if (lexer_.peek() == '/') {
    is_good = failures_.guard([&] { predicate(clause); });
    if (!is_good) tokens_.skip_to_brace();
    tokens_.rewind();
  }
  if (lexer_.peek() == '{') {
    const Place open = tokens_.take().place;
    clause.has_body = true;
    clause.body = block(open);
  } else if (is_good && kind == Source::Kind::kFile && clause.predicate == nullptr) {
    no_body(clause);
  }
  listener_.clause(std::move(clause));
}

bool Parser::block_part(std::vector<Statement>& out, Place open) {
  if (tokens_.accept("}")) return false;
  if (tokens_.peek().kind == Token::Kind::kEnd) fail(open, "D_SYNTAX", "end of input: this { has no }");
  if (tokens_.accept(";")) return true;
  tokens_.begin_part();
  statement(out);
  return true;
}

std::vector<Statement> Parser::block(Place open) {
  std::vector<Statement> out;
  const int depth = tokens_.depth();
  for (bool more = true; more && !is_at_end_;) {
    if (failures_.guard([&] { more = block_part(out, open); })) continue;
    tokens_.skip_statement(depth);
    excuse_names();
    is_at_end_ = tokens_.is_at_end();
  }
  return out;
}

std::vector<Statement> Parser::branch() {
  Deeper deeper(tokens_);
  if (const Place open = tokens_.peek().place; tokens_.accept("{")) return block(open);
  std::vector<Statement> out;
  if (!tokens_.accept(";")) statement(out);
  return out;
}

Statement Parser::if_statement(Place place) {
  Statement out{.kind = Statement::Kind::kIf, .place = place};
  const Place open = tokens_.peek().place;
  tokens_.expect("(");
  out.expression = expressions_.expression();
  tokens_.expect_closing(")", "(", open);
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
  else if (!tokens_.peek().is(";") && !tokens_.peek().is("}"))
    tokens_.unexpected(tokens_.peek(), ": = is expected");
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
  // At the end of the text, the block lacks its end, which says more.
  if (!tokens_.peek().is("}") && tokens_.peek().kind != Token::Kind::kEnd) tokens_.expect(";");
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
  if (!failures_.guard([&] { listener_.inlined(declared, parameters, value); }))
    failures_.excuse(declared.name);
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
  failures_.guard([&] { listener_.translator(place, to, from.type, from.name, std::move(members)); });
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
  if (!failures_.guard([&] { listener_.variable(declared); })) failures_.excuse(d.name);
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
