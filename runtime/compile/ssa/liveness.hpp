#pragma once
// What is alive where, and where a value had best live: the facts code generation works from. One
// compilation, one thread.

#include <vector>

#include "runtime/compile/ssa/ssa.hpp"

namespace vmrun::compile::ssa {

/// Where a value is wanted next after its definition: in x register `x` (-1: no preference), and
/// whether it must outlast a call.
struct Hint {
  std::int16_t x = -1;
  bool outlasts_call = false;
};

struct Liveness {
  std::vector<BlockId>
      // reachable blocks, each after its predecessors (receive loops aside), likely successors next
      // to each other
      order;
  std::vector<Hint> hints;  // by value
};

/// Fills Block::live_in (handlers count as successors of the code they guard) and computes the
/// rest.
Liveness analyse(Function& fn);

/// Index of the argument that a call-like instruction wants in x0; those after it go to x1, ….
std::size_t first_register_arg(const Instr& i);

}  // namespace vmrun::compile::ssa
