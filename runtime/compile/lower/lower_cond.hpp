// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/lower/lower_context.hpp"

/// Tests and guards as control flow. They go to `yes` or `no`. In guards a failure goes to
/// `broken`; with kNone it raises, and a value that is not a boolean raises {badarg, V}. One
/// compilation, one thread.
namespace vmrun::compile::lower {

class LowerCond : LowerPart {
 public:
  using LowerPart::LowerPart;
  void cond(core::Expr* e, BlockId yes, BlockId no, BlockId broken);
  bool boolean(core::Expr* e) const;
  Arg cond_value(core::Expr* e);

 private:
  bool simple_test(core::Expr* e) const;
  void bool_value(Arg v, BlockId yes, BlockId no, BlockId broken, Loc loc);
  bool bif_test(core::Call& c, BlockId yes, BlockId no, BlockId broken);
};

}  // namespace vmrun::compile::lower
