// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vm/ir/ssa.hpp"

/// SSA as text, for people (`-ssa`): a function's blocks in order, one instruction per line. `v3`
/// is a value and `b2` a block; what is known about an argument follows ` :: `. One compilation,
/// one thread.
namespace vmrun::ir {

std::string print_ssa(const Program& program);

}  // namespace vmrun::ir
