// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/compile/check/function_uses.hpp"
#include "runtime/compile/check/lint_pattern.hpp"

/// Lint of expressions, clauses and bodies. One compilation, one thread.
namespace vmrun::compile {

class ExprLinter {
 public:
  ExprLinter(LintContext& context, Variables& variables, FunctionUses& functions)
      : c_(context), vars_(variables), functions_(functions) {}
  void expr(const Expr& e);
  /// Checks the clauses of a function, or of a fun. `shadows` names the kind of fun; empty for a
  /// function.
  void fun_clauses(ClauseList list, std::string_view shadows);
  void unreachable_clauses(ClauseList list);

 private:
  void body(ExprList exprs);
  /// Checks operands, which do not see each other's bindings.
  void operands(const std::vector<const Expr*>& exprs);
  void operands(ExprList exprs) { operands(std::vector<const Expr*>(exprs.begin(), exprs.end())); }
  void clauses(ClauseList list, std::string_view what, Loc loc, const ExprList* extra_body = nullptr);
  void case_clause(const Clause& c);
  void call(const CallExpr& e);
  void local_call(const CallExpr& e, std::string_view name);
  void never_matches(const MatchExpr& m);
  void no_number(const BinaryOpExpr& b);
  void never_taken(const Clause& c);
  void callee(const Expr& e, std::string_view what);
  void remote_call(const Expr& module, const Expr& function, std::uint32_t arity);
  void try_expr(const TryExpr& e);
  void generator_pattern(const Qualifier& q, const PatternPlace& place);
  void comprehension(const ComprehensionExpr& e);
  void map_fields(const MapExpr& e);
  void ignored_value(const Expr& e);
  void binary(const BinaryExpr& e);
  void record_expr(const RecordExpr& e);
  void fun_local(const FunLocalExpr& e);
  void fun_expr(const FunExpr& e);
  void maybe_expr(const MaybeExpr& e);

  LintContext& c_;
  Variables& vars_;
  FunctionUses& functions_;
  std::map<std::tuple<std::string_view, std::string_view, std::uint32_t>, std::string>
      remote_calls_;  // with what is wrong
  GuardLinter guards_{c_, vars_};
  PatternLinter patterns_{c_, vars_, guards_};
};

}  // namespace vmrun::compile
