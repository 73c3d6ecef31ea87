#pragma once
// Which function of the module uses which: what is called must exist, and what nothing leads to is
// worth a warning. Filled while lint walks through the functions, looked at afterwards. One
// compilation, one thread.

#include <string>
#include <vector>

#include "runtime/compile/check/lint_context.hpp"

namespace vmrun::compile {

class FunctionUses {
 public:
  explicit FunctionUses(LintContext& context) : c_(context) {}

  /// The function whose uses come next; no name: none, a record's default say.
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
