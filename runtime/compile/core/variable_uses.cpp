// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/variable_uses.hpp"

#include "runtime/compile/syntax/ast_walk.hpp"

namespace vmrun::compile {

void VariableUses::index(const Expr& e) {
  ++clock_;
  if (e.is(ExprKind::kVar)) last_use_[e.as<VarExpr>().name] = clock_;
  if (e.is(ExprKind::kTry)) {
    const auto& t = e.as<TryExpr>();
    for (const Expr* x : t.body) index(*x);
    end_of_[t.body.back()] = clock_;
    for (ClauseList clauses : {t.of_clauses, t.catch_clauses})
      for (const Clause* c : clauses) for_each_child(*c, [&](const Expr& x) { index(x); });
    for (const Expr* x : t.after) index(*x);
    return;
  }
  for_each_child(e, [&](const Expr& x) { index(x); });
  if (e.is(ExprKind::kCase) || e.is(ExprKind::kIf) || e.is(ExprKind::kReceive)) end_of_.emplace(&e, clock_);
}

bool VariableUses::used_after(const Expr& construct, std::string_view name) const {
  const auto end = end_of_.find(&construct);
  const auto use = last_use_.find(name);
  return end != end_of_.end() && use != last_use_.end() && use->second > end->second;
}

}  // namespace vmrun::compile
