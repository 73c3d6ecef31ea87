// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Expressions without control flow: data, operators, calls, matches, funs. One compilation, one
/// thread.
namespace vmrun::compile {

class ExprToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  CExpr* value(const Expr& e, Block& block, bool wanted = true);
  void effect(const Expr& e, Block& block);
  /// Returns a body as one expression, in a scope of its own.
  CExpr* body(ExprList exprs);
  CExpr* body_into(ExprList exprs, Block& block, bool wanted = true);
  std::vector<CExpr*> operands(const std::vector<const Expr*>& exprs, Block& block);

 private:
  CExpr* match(const MatchExpr& e, Block& block, bool wanted);
  CExpr* call_expr(const CallExpr& e, Block& block);
  CExpr* local_call(const CallExpr& e, Block& block);
  CExpr* operator_expr(const BinaryOpExpr& e, Block& block);
  CExpr* map_expr(const MapExpr& e, Block& block);
  CExpr* fun_expr(const FunExpr& e);
  static bool is_mere_scope(const FunExpr& e);
  CExpr* scoped_body(const FunExpr& e);
  CExpr* fun_local(const FunLocalExpr& e);
  CExpr* test_without_instruction(Loc loc, const FunctionName& name, const std::vector<CExpr*>& args);
  bool is_known_record(std::string_view name) const;
  CExpr* is_record_call(Loc loc, const Expr& subject, std::string_view record, Block& block);
};

}  // namespace vmrun::compile
