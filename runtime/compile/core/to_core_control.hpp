// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "runtime/compile/core/core_context.hpp"

/// Clauses, function bodies, case, if, receive, try and maybe, and the variables that they export.
/// One compilation, one thread.
namespace vmrun::compile {

struct LoweredClause {
  const Clause* source;
  core::PatList patterns;
  CExpr* guard;
  Block block;
  CExpr* result;
  std::vector<std::pair<std::string_view, Var*>> bound;
};

class ControlToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  CExpr* case_expr(const CaseExpr& e, Block& block, bool wanted);
  CExpr* if_expr(const IfExpr& e, Block& block, bool wanted);
  CExpr* receive_expr(const ReceiveExpr& e, Block& block, bool wanted);
  CExpr* try_expr(const TryExpr& e);
  CExpr* maybe_expr(const MaybeExpr& e);
  CExpr* function_body(Loc loc, ClauseList clauses, std::span<Var* const>& params);

 private:
  LoweredClause clause(const Clause& c, bool in_head, bool wanted = true);
  /// Finishes clauses. If they bind variables that are used later, lets `build` make a construct of
  /// several values, whose variables are bound in `block`.
  CExpr* join(const Expr& e, std::vector<LoweredClause>& clauses, Block& block, bool wanted,
              const std::function<CExpr*(core::ClauseList)>& build);
  core::ClauseList closed_clauses(ClauseList clauses);
};

}  // namespace vmrun::compile
