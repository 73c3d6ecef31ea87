#pragma once
// Recursive-descent parser: the tokens of one form, macros expanded and the dot included, to its
// syntax tree. A form with an error is reported once and dropped; the next form starts afresh, so
// several errors come out of one run. Nesting is bounded: every later phase recurses over the tree
// and relies on kMaxNesting. One thread at a time.

#include <vector>

#include "runtime/compile/source/session.hpp"
#include "runtime/compile/syntax/ast.hpp"

namespace vmrun::compile {

class Parser {
 public:
  /// Upper bound on the depth of a syntax tree. compiler.cpp gives the compiling thread a stack to
  /// match.
  static constexpr uint32_t kMaxNesting = 4000;

  Parser(Session& session, const std::vector<Token>& tokens) : session_(session), tokens_(tokens) {}

  /// Null after an error.
  const Form* parse_form();
  /// An expression that makes up all the tokens, as in `-if(Expr)`. Null after an error.
  const Expr* parse_whole_expression();

 private:
  struct Abort {};  // unwinds to parse_form after the first error of a form
  class Nest;

  // Tokens.
  const Token& peek(size_t ahead = 0) const;
  bool at(Tok kind) const { return peek().kind == kind; }
  const Token& take();
  bool take_if(Tok kind);
  const Token& expect(Tok kind, std::string_view wanted);
  void expect_close(Tok kind, const Token& open);
  [[noreturn]] void fail_at(Loc loc, std::string message);
  [[noreturn]] void fail_here(std::string_view wanted);
  [[noreturn]] void fail_nesting();
  template <class T, class... Args>
  const T* make(Args&&... args) {
    return session_.arena.make<T>(std::forward<Args>(args)...);
  }
  template <class T>
  std::span<const T> keep(const std::vector<T>& items) {
    return session_.arena.copy(items);
  }

  // Expressions (parser.cpp).
  const Expr* parse_expr(int min_precedence = 0);
  const Expr* parse_unary();
  const Expr* parse_postfix();
  const Expr* parse_hash(const Expr* base);
  const Expr* parse_primary();
  const Expr* parse_list();
  const Expr* parse_binary();
  const Expr* parse_fun();
  const Expr* parse_receive();
  const Expr* parse_try();
  const Expr* parse_maybe();
  const Expr* parse_sigil();
  const Expr* parse_map_fields(Loc loc, const Expr* base);
  const Expr* finish_comprehension(Loc loc, ComprehensionKind kind, const Expr* value, const Expr* key,
                                   Tok close, const Token& open);
  const Expr* integer_of(const Token& token);
  const Expr* float_of(const Token& token);
  const Expr* string_of();
  Segment parse_segment();
  void parse_segment_types(Segment& segment);
  ExprList parse_exprs_until(Tok close, const Token& open);
  ExprList parse_body(bool in_maybe = false);
  std::span<const ExprList> parse_guards();
  const Clause* parse_case_clause();
  const Clause* parse_catch_clause();
  const Clause* parse_fun_clause(bool named);
  ClauseList parse_clauses(const Clause* (Parser::*one)());
  std::vector<Qualifier> parse_qualifiers();

  // Types (parser_types.cpp).
  const TypeExpr* parse_type();
  const TypeExpr* parse_union_member();
  const TypeExpr* parse_type_sum(int level);
  const TypeExpr* parse_type_primary();
  const TypeExpr* parse_map_type(Loc loc);
  const TypeExpr* parse_record_type(Loc loc);
  const TypeExpr* parse_binary_type(Loc loc);
  const TypeExpr* parse_fun_type(Loc loc);
  const TypeExpr* parse_signature();
  TypeList parse_types_until(Tok close, const Token& open);
  const TypeExpr* type(TypeKind kind, Loc loc, TypeList args = {}, std::string_view name = {},
                       std::string_view module = {});

  // Forms (parser_forms.cpp).
  const Form* parse_function();
  const Form* parse_attribute();
  const Form* parse_record_form(Loc loc);
  const Form* parse_type_form(Loc loc, std::string_view attribute);
  const Form* parse_spec_form(Loc loc, std::string_view attribute);

  Session& session_;
  const std::vector<Token>& tokens_;
  size_t next_ = 0;
  uint32_t depth_ = 0;
  uint32_t peak_ = 0;              // see Nest
  bool in_catch_pattern_ = false;  // there `Reason:Stack` is not a remote call
};

}  // namespace vmrun::compile
