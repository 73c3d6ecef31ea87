// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/ir/ssa.hpp"

/// Which values are alive where, and which register suits each best: the facts from which code
/// generation works. One compilation, one thread.
namespace vmrun::ir {

/// Where a value is needed next after its definition: in x register `x` (-1: no preference), and
/// whether it must outlast a call.
struct Hint {
  std::int16_t x = -1;
  bool outlasts_call = false;
};

struct Liveness {
  std::vector<BlockId>
      // reachable blocks, each after its predecessors (except in receive loops), with likely
      // successors next to each other
      order;
  std::vector<Hint> hints;  // indexed by value
};

/// Fills in Block::live_in (handlers count as successors of the code they guard) and computes the
/// rest.
Liveness analyse(Function& fn);

/// Returns the index of the argument that a call-like instruction expects in x0; the next ones go
/// to x1, ….
std::size_t first_register_arg(const Instr& i);

}  // namespace vmrun::ir
