// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "runtime/compile/check/variables.hpp"

/// Lint of guards and of the segments of binaries. One compilation, one thread.
namespace vmrun::compile {

class GuardLinter {
 public:
  GuardLinter(LintContext& context, Variables& variables) : c_(context), vars_(variables) {}
  void guards(std::span<const ExprList> alternatives);
  /// Checks an expression by the rules of guards. They also apply to the size of a segment and to
  /// the key of a map in a pattern.
  void guard(const Expr& e);
  void segment(const Segment& s, bool in_pattern, bool last);

 private:
  bool obsolete_test(const Expr& e);
  void guard_call(const CallExpr& e);
  void illegal(const Expr& e, std::string message = "illegal guard expression");

  LintContext& c_;
  Variables& vars_;
};

}  // namespace vmrun::compile
