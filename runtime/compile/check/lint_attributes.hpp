// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/check/lint_context.hpp"

/// Checks attributes that name functions or callbacks of their module against what the module has.
/// One compilation, one thread.
namespace vmrun::compile {

class AttributeLinter {
 public:
  struct Family;

  explicit AttributeLinter(LintContext& c) : c_(c) {}
  void run();

 private:
  void attribute(const AttributeForm& a);
  void functions(const AttributeForm& a, const Expr& list, std::string_view what, bool imported);
  void compile_option(const AttributeForm& a, const Expr& e);
  void dialyzer(const AttributeForm& a, const Expr& e);
  void dialyzer_option(const AttributeForm& a, const Expr& option, bool of_function);
  void optional_callbacks(const AttributeForm& a);
  void deprecated(const AttributeForm& a, const Expr& e);
  void removed(const AttributeForm& a, const Expr& e);
  bool is_exported(const Family& family) const;

  LintContext& c_;
  std::unordered_set<FunctionName, FunctionNameHash> optional_;
};

}  // namespace vmrun::compile
