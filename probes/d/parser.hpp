#pragma once

#include <deque>
#include <string>
#include <vector>

#include "probes/d/script.hpp"
#include "probes/d/token.hpp"
#include "probes/d/tree.hpp"
#include "probes/d/types.hpp"

/// The second pass: tokens to trees. Declarations of types are entered into the type table as they
/// are read, since C's grammar depends on them; all else is handed to a Listener as it comes.
namespace vmrun::d::lang {

/// What the parser hands over, in the order of the text (check.hpp implements it).
class Listener {
 public:
  virtual ~Listener() = default;
  /// The value of a constant expression; fails with this tag when it is none.
  virtual std::int64_t constant(Node* expression, const char* tag) = 0;
  virtual void enumerator(Place place, const std::string& name, std::int64_t value) = 0;
  struct Declared {
    Place place;
    VariableScope scope = VariableScope::kGlobal;
    std::string name;
    TypeId type = 0;
    bool associative = false;
    std::vector<TypeId> keys;
  };
  virtual void variable(const Declared& declared) = 0;
  /// parameters: those of inline f[int a, string b]; none for a plain one.
  virtual void inlined(const Declared& declared, const std::vector<std::string>& parameters, Node* value) = 0;
  struct Member {
    Place place;
    std::string name;
    Node* value;
  };
  virtual void translator(Place place, TypeId to, TypeId from, const std::string& variable,
                          std::vector<Member> members) = 0;
  virtual void clause(ClauseTree clause) = 0;
};

class Parser {
 public:
  Parser(Lexer& lexer, Tree& tree, Types& types, Listener& listener)
      : lexer_(lexer), tree_(tree), types_(types), listener_(listener) {}

  /// bodies_needed: a description alone is an error (in files), not a clause (-n).
  void parse(bool bodies_needed);

 private:
  struct Specifiers;
  struct Declarator;
  class Deeper;

  const Token& peek(std::size_t n = 0);
  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  [[noreturn]] void unexpected(const Token& token);
  std::string name();

  void clause(bool bodies_needed);
  void declaration();
  void inline_declaration();
  void translator_declaration();
  Specifiers specifiers();
  void specifier_word(Specifiers& s, const Token& token);
  TypeId structure(bool is_union);
  TypeId enumeration();
  void members(std::vector<NewMember>& out);
  Declarator declarator(TypeId base, bool needs_name);
  struct Modifier;
  void declarator_part(std::vector<Modifier>& modifiers, Declarator& out);
  void array_suffix(std::vector<Modifier>& modifiers, Declarator& out);
  TypeId type_name();
  bool begins_type(std::size_t n);
  std::vector<TypeId> key_types(std::vector<std::string>* names);
  std::vector<TypeId> parameter_types(std::string_view end, std::vector<std::string>* names, bool* varargs);

  std::vector<Statement> block();
  void statement(std::vector<Statement>& out);
  std::vector<Statement> branch();
  Node* expression();
  Node* assignment();
  Node* conditional();
  Node* binary(int least);
  Node* unary();
  Node* postfix();
  Node* primary();
  std::vector<Node*> arguments(std::string_view end);

  Lexer& lexer_;
  Tree& tree_;
  Types& types_;
  Listener& listener_;
  std::deque<Token> ahead_;
  unsigned depth_ = 0;
};

}  // namespace vmrun::d::lang
