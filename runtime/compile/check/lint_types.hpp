// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/compile/check/lint_context.hpp"

/// Lint of types and specifications. One compilation, one thread.
namespace vmrun::compile {

class TypeLinter {
 public:
  explicit TypeLinter(LintContext& context) : c_(context) {}
  void run();

 private:
  /// Type variables of one definition: where each stands first, and how often it occurs.
  using Seen = std::unordered_map<std::string_view, std::pair<Loc, int>>;
  void type(const TypeExpr& t, Seen* vars);
  void type_variables(const Seen& vars);

  LintContext& c_;
  std::unordered_map<FunctionName, Loc, FunctionNameHash> defined_types_;
  std::unordered_set<FunctionName, FunctionNameHash> used_types_;
};

}  // namespace vmrun::compile
