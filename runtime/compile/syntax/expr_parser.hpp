// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/compile/syntax/ast.hpp"
#include "runtime/compile/syntax/token_cursor.hpp"

/// Recursive descent through expressions, patterns, clauses and guards. Shares the cursor of its
/// form's parser; one thread at a time.
namespace vmrun::compile {

class ExprParser {
 public:
  explicit ExprParser(TokenCursor& in) : in_(in) {}

  const Expr* parse_expr(int min_precedence = 0);
  ExprList parse_exprs_until(Tok close, const Token& open);
  ExprList parse_body(bool in_maybe = false);
  std::span<const ExprList> parse_guards();
  std::string_view native_record_name();

 private:
  const Expr* parse_unary();
  const Expr* parse_postfix();
  RecordName record_name();
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
  const Expr* map_comprehension(Loc loc, const std::vector<MapField>& fields, const Token& open);
  const Expr* finish_comprehension(Loc loc, ComprehensionKind kind,
                                   const std::vector<ComprehensionValue>& values, Tok close,
                                   const Token& open);
  const Expr* integer_of(const Token& token);
  const Expr* float_of(const Token& token);
  const Expr* string_of();
  Segment parse_segment();
  void parse_segment_types(Segment& segment);
  const Clause* parse_case_clause();
  const Clause* parse_catch_clause();
  const Clause* parse_fun_clause(bool named);
  ClauseList parse_clauses(const Clause* (ExprParser::*one)());
  Qualifier parse_qualifier();
  Qualifier match_qualifier(const MatchExpr& match);
  std::vector<Qualifier> parse_qualifiers();

  TokenCursor& in_;
  bool in_catch_pattern_ = false;  // in it `Reason:Stack` is not a remote call
};

}  // namespace vmrun::compile
