// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/core/core_language.hpp"
#include "vm/ir/ssa.hpp"

/// Lowers Core to SSA: blocks over single-assignment values, for all functions of a module. One
/// compilation, one thread.
namespace vmrun::compile::lower {

struct Lowered {
  ir::Program program;
  std::vector<std::string> errors;  // empty on success
};

/// Nodes of `module` are annotated on the way. The program keeps what it needs in `arena`.
Lowered to_ssa(NodeArena& arena, core::Module& module);

}  // namespace vmrun::compile::lower
