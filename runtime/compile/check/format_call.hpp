#pragma once
// Calls of io:format and its like: whether a format string that is written out takes as many
// arguments as are given.

#include <string_view>

#include "runtime/compile/check/lint_context.hpp"

namespace vmrun::compile {

/// Looks at any call of `module`:`name`; warns if it is one of these and does not fit.
void check_format_call(LintContext& c, const CallExpr& e, std::string_view module, std::string_view name);

}  // namespace vmrun::compile
