// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/compile/core/core_language.hpp"

/// Core as text, for people (`-core`): much as Core Erlang is written. A variable that is bound
/// more than once gets a number that makes its name unique. One compilation, one thread.
namespace vmrun::compile::core {

std::string print_core(const Module& module);

}  // namespace vmrun::compile::core
