// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/compile/emit/asm.hpp"

/// The last pass over the instructions of one function. It removes jumps to jumps, unused labels
/// and unreachable code. One compilation, one thread.
namespace vmrun::compile {

/// Improves code[first…end). The labels `info` and `entry` are always kept.
void peephole(std::vector<AsmInstr>& code, std::size_t first, std::uint32_t info, std::uint32_t entry);

}  // namespace vmrun::compile
