// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "runtime/compile/check/lint_guard.hpp"

/// Lint of patterns: what is allowed in them, which variables they bind and which they compare. One
/// compilation, one thread.
namespace vmrun::compile {

struct PatternPlace {
  std::size_t start;  // bindings newer than this mark belong to the pattern
  // "fun", "generate", …: variables of outer scopes are shadowed. Empty: they are matched.
  std::string_view shadows;
};

class PatternLinter {
 public:
  PatternLinter(LintContext& context, Variables& variables, GuardLinter& guards)
      : c_(context), vars_(variables), guards_(guards) {}
  void pattern(const Expr& e, const PatternPlace& context);
  void patterns(ExprList list, const PatternPlace& context);
  void sized_fields(const BinaryExpr& e);

 private:
  /// Checks a size or a map key. It sees variables that were bound before the pattern, and of the
  /// pattern only `own`, the variables of earlier segments.
  void pattern_operand(const Expr& e, const PatternPlace& context, std::span<const std::string_view> own);
  void pattern_variable(const VarExpr& v, const PatternPlace& context);
  void pattern_binary(const BinaryExpr& e, const PatternPlace& context);
  bool is_constant(const Expr& e) const;

  LintContext& c_;
  Variables& vars_;
  GuardLinter& guards_;
};

}  // namespace vmrun::compile
