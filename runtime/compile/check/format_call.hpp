// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/compile/check/lint_context.hpp"

/// Calls of io:format and similar functions: whether a literal format string takes as many
/// arguments as the call gives.
namespace vmrun::compile {

/// Checks any call of `module`:`name`, and warns if it is one of these and its arguments do not
/// fit.
void check_format_call(LintContext& c, const CallExpr& e, std::string_view module, std::string_view name);

}  // namespace vmrun::compile
