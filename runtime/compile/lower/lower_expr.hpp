// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/lower/lower_context.hpp"

/// Expressions and calls. In guard mode (LowerContext::guard_fail is set) an operation that would
/// raise goes there. One compilation, one thread.
namespace vmrun::compile::lower {

class LowerExpr : LowerPart {
 public:
  using LowerPart::LowerPart;
  void to(core::Expr* e, Dest d);
  Arg value(core::Expr* e);
  std::vector<Arg> values(core::ExprList es);
  Arg call_bif(const BifInfo* bif, const std::vector<Arg>& args, Loc loc);
  Arg apply_letrec(core::ApplyLetrec& a);

 private:
  void multi_value(core::Expr* e, std::span<core::Var* const> vars);
  void let(core::Let& l);
  Arg call_function(Term module, Term function, std::vector<Arg> args, Loc loc);
  Arg call(core::Call& c);
  Arg record_field(core::Call& c);
  Arg primop(core::Primop& p);
};

}  // namespace vmrun::compile::lower
