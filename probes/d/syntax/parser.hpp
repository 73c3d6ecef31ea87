#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/d/syntax/expression_parser.hpp"
#include "probes/d/syntax/token_stream.hpp"
#include "probes/d/syntax/tree.hpp"
#include "probes/d/syntax/type_parser.hpp"

/// The second pass: tokens to trees. Here are declarations, clauses and statements, which are
/// handed to a Listener as they come; types and expressions have parsers of their own.
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

class Parser : private TypeContext {
 public:
  Parser(Lexer& lexer, Tree& tree, Types& types, Listener& listener)
      : lexer_(lexer), types_(types), listener_(listener), expressions_(tokens_, tree, type_parser_) {}

  /// In a file a description alone is an error, not a clause as with -n.
  void parse(Source::Kind kind);

 private:
  using Deeper = TokenStream::Deeper;

  std::int64_t constant(const char* tag) override;
  void enumerator(Place place, const std::string& name, std::int64_t value) override;

  void descriptions(ClauseTree& clause, Source::Kind kind);
  void clause(Source::Kind kind);
  void declaration();
  void declare(const Specifiers& specifiers, const Declarator& declarator);
  void define_type(const Declarator& declarator);
  void inline_declaration();
  void translator_declaration();

  std::vector<Statement> block();
  void statement(std::vector<Statement>& out);
  Statement if_statement(Place place);
  void aggregation_statement(Statement& out);
  std::vector<Statement> branch();

  Lexer& lexer_;  // between clauses; what the stream has looked at is used up there
  Types& types_;
  Listener& listener_;
  TokenStream tokens_{lexer_};
  TypeParser type_parser_{tokens_, types_, *this};
  ExpressionParser expressions_;
};

}  // namespace vmrun::d::lang
