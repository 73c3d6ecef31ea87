// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/d/syntax/c_type_parser.hpp"
#include "probes/d/syntax/expression_parser.hpp"
#include "probes/d/syntax/token_stream.hpp"
#include "probes/d/syntax/tree.hpp"

/// The second pass: it turns tokens into trees. Declarations, clauses and statements are parsed
/// here and handed to a Listener as they come. Types and expressions have parsers of their own.
namespace vmrun::d::lang {

/// Receives what the parser has read, in the order of the text (check.hpp implements it).
class Listener {
 public:
  virtual ~Listener() = default;
  /// Returns the value of a constant expression. Fails with `tag` when it is not constant.
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
  /// parameters: those of inline f[int a, string b]; empty for a plain inline.
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
  Parser(Lexer& lexer, Tree& tree, Types& types, Listener& listener, Failures& failures)
      : lexer_(lexer),
        types_(types),
        listener_(listener),
        failures_(failures),
        expressions_(tokens_, tree, type_parser_) {}

  /// Reads to the end, whatever is wrong before it. In a file, a description alone is an error.
  /// With -n it is a clause.
  void parse(Source::Kind kind);

 private:
  using Deeper = TokenStream::Deeper;

  std::int64_t constant(const char* tag) override;
  void enumerator(Place place, const std::string& name, std::int64_t value) override;

  /// Reads a clause or declaration. Returns false at the end of the text.
  bool part(Source::Kind kind);
  void descriptions(ClauseTree& clause, Source::Kind kind);
  void predicate(ClauseTree& clause);
  bool is_no_clause(const ClauseTree& clause);
  [[noreturn]] void no_body(const ClauseTree& clause);
  void clause(Source::Kind kind);
  void declaration();
  void declare(const Specifiers& specifiers, const Declarator& declarator);
  void define_type(const Declarator& declarator);
  void inline_declaration();
  void translator_declaration();

  /// Excuses the names that a wrong part of the text has.
  void excuse_names();
  /// Reads to the } of a block, whose { was at `open`.
  std::vector<Statement> block(Place open);
  /// Returns false behind the end of the block.
  bool block_part(std::vector<Statement>& out, Place open);
  void statement(std::vector<Statement>& out);
  Statement if_statement(Place place);
  void aggregation_statement(Statement& out);
  std::vector<Statement> branch();

  Lexer& lexer_;  // used between clauses; the stream's lookahead is used up there
  Types& types_;
  Listener& listener_;
  Failures& failures_;
  bool is_at_end_ = false;  // what lacks an end has been reported
  TokenStream tokens_{lexer_};
  TypeParser type_parser_{tokens_, types_, *this};
  ExpressionParser expressions_;
};

}  // namespace vmrun::d::lang
