// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "vm/ir/ssa.hpp"

/// What makes SSA better: each pass reads and changes a program or one function of it. Their order:
/// place_receive_markers, optimise, reuse_contexts, infer_signatures; then for each function
/// infer_types, optimise, unbox_floats, optimise. One compilation, one thread.
namespace vmrun::ir {

/// Lets receives skip messages that are older than the reference they wait for. Runs before any
/// other improvement. (receive_markers.cpp)
void place_receive_markers(Program& program);
/// Improves one function; leaves only reachable blocks, with preds filled in. (ssa_opt.cpp)
void optimise(Program& program, Function& fn);
/// Infers the kinds of values, drops tests whose outcome is known, and records what it knows in
/// Instr::types. `order`: the reachable blocks, each after its predecessors. (infer_types.cpp)
void infer_types(Program& program, Function& fn, const std::vector<BlockId>& order);
/// Infers the kinds without changing the function; records what it passes to others and returns.
struct Observed {
  struct Call {
    std::uint32_t callee;
    std::vector<Type> args;
  };
  std::vector<Call> calls;
  std::vector<Call> funs;  // made of lambda `callee`: their free variables
  Type result = Type::of_kinds(0);
};
Observed observe_types(Program& program, Function& fn, const std::vector<BlockId>& order);
/// Infers the signatures of the module's functions. (signatures.cpp)
void infer_signatures(Program& program);
/// Passes binaries under matching between local functions as match contexts. (ssa_context.cpp)
void reuse_contexts(Program& program);
/// Keeps intermediate floats off the heap. `order`: the reachable blocks, each after its
/// predecessors. (ssa_float.cpp)
void unbox_floats(Program& program, Function& fn, const std::vector<BlockId>& order);

}  // namespace vmrun::ir
