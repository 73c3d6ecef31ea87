// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/check/lint_context.hpp"

/// Which function of the module uses which. A function that is called must exist, and one that is
/// never reached gets a warning. Filled while lint walks the functions, checked afterwards. One
/// compilation, one thread.
namespace vmrun::compile {

class FunctionUses {
 public:
  explicit FunctionUses(LintContext& context) : c_(context) {}

  /// Sets the function to which the next uses belong. Without a name they belong to no function,
  /// like those of a record's defaults.
  void set_user(FunctionName name) { current_ = name; }
  void use(FunctionName name, Loc loc) { uses_.push_back({current_, name, loc}); }
  void check_calls();
  void check_unused();

 private:
  struct Use {
    FunctionName from, to;
    Loc loc;
  };

  std::string in_library(const FunctionName& f) const;

  LintContext& c_;
  FunctionName current_{};
  std::vector<Use> uses_;
};

}  // namespace vmrun::compile
