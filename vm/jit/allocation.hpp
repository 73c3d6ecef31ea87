// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vm/jit/graph.hpp"
#include "vm/jit/processor.hpp"

/// Where values are: in a register of the processor, or in a slot of the frame that all machine
/// code shares.
namespace vmrun::jit {

inline constexpr unsigned kSlots = 64;

struct Location {
  enum class Kind : std::uint8_t { kNowhere, kRegister, kFloat, kSlot };
  Kind kind = Kind::kNowhere;
  std::uint8_t number = 0;
  bool operator==(const Location&) const = default;
};

/// Registers that have values which are needed behind a call of a C++ function.
struct LiveRegisters {
  std::uint32_t general = 0, floats = 0;
};

struct Allocation {
  std::vector<BlockId> order;       // of the blocks: each behind those that lead to it
  std::vector<BlockId> layout;      // the same, with those that are rarely reached last
  std::vector<Location> locations;  // by value; constants are nowhere
  std::unordered_map<const Inst*, LiveRegisters> live_over;  // by kCall
};

/// The blocks that are reached, each behind those that lead to it (but for jumps back).
std::vector<BlockId> block_order(const Graph& graph);

/// Allocates registers by linear scan (Poletto, Sarkar, "Linear scan register allocation", 1999).
/// An edge back leads to a loop's first block, and takes nothing along but its parameters; so a
/// value is needed from its definition to its last use in the order of the blocks. Returns false if
/// there are too few slots. (allocation.cpp)
bool allocate_registers(const Graph& graph, Allocation* out);

}  // namespace vmrun::jit
