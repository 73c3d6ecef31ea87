// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>

#include "runtime/compile/syntax/ast.hpp"

/// Which variables a construct has to export: those that occur again behind it. One function at a
/// time; one thread.
namespace vmrun::compile {

class VariableUses {
 public:
  /// Numbers the occurrences of variables, and records the ends of constructs that may export
  /// variables. Called for the parts of a function in their order.
  void index(const Expr& e);
  bool used_after(const Expr& construct, std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::uint32_t> last_use_;
  std::unordered_map<const Expr*, std::uint32_t> end_of_;
  std::uint32_t clock_ = 0;
};

}  // namespace vmrun::compile
