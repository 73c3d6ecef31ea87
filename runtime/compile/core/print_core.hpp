#pragma once
// Core as text, for people (`-core`): much as Core Erlang is written, with a variable's name made
// unique by a number where it is bound more than once. One compilation, one thread.

#include <string>

#include "runtime/compile/core/core.hpp"

namespace vmrun::compile::core {

std::string print_core(const Module& module);

}  // namespace vmrun::compile::core
