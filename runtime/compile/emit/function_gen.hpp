// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/compile/emit/code_builder.hpp"
#include "vm/ir/ssa.hpp"

/// Code generation for one function: walks the blocks in order and assigns registers to values on
/// the fly. The first edge to a block fixes where its values are; other edges move values into
/// place. Because blocks come after their predecessors, one pass suffices. Only what has to be
/// known before (liveness, preferences, which blocks run with a stack frame) is computed up front.
///
///  - x registers are lost in a call. A value needed afterwards is stored in a y register, at its
///    definition if a frame exists, else before the call.
///  - Wherever memory may be collected, every x register below the "live" count holds a term. A
///    hole is filled by moving the topmost value down.
///  - y registers that are not written before the first collection are initialised where the frame
///    is made.
///
/// uses.hpp: how long values are needed; frames.hpp: stack frames; registers.hpp: the contents of
/// registers; edges.hpp: from block to block; instr_gen.hpp: single instructions. One compilation,
/// one thread.
namespace vmrun::compile {

/// Appends one function to the code. `entries` are the entry labels of all functions.
void generate_function(CodeBuilder& builder, ir::Program& program, ir::Function& fn,
                       const std::vector<std::uint32_t>& entries, std::uint32_t info_label);

}  // namespace vmrun::compile
