#pragma once
// Core as text in the notation of Core Erlang, so that this stage of the compiler can be looked at (`vmrunc -C`) and
// checked by handing it to a stock `erlc +from_core`. Pure function of its argument.

#include <string>

#include "runtime/compile/core.hpp"

namespace vmrun::compile {

/// Constructs that Core Erlang cannot express (an alias of two patterns) are marked by a line that starts with
/// "%% not expressible".
std::string print_core(const core::Module& module);

}  // namespace vmrun::compile
