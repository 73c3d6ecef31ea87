// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Guards. One compilation, one thread.
namespace vmrun::compile {

class GuardToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  CExpr* guard(std::span<const ExprList> guards, const std::vector<CExpr*>& extra);
  CExpr* guard_test(const Expr& e);
  CExpr* guard_value(const Expr& e, std::vector<CExpr*>& checks);
  bool is_guard_expr(const Expr& e) const;

 private:
  const Expr& modern_test(const Expr& e);
};

}  // namespace vmrun::compile
