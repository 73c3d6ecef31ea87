// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/jit/function_code.hpp"
#include "vm/process/core.hpp"

/// Which x and float registers are still needed where.
namespace vmrun::jit {

/// Functions with more of either are left to the interpreter. The loader's scratch register has the
/// last place of x registers here.
inline constexpr unsigned kMostX = 64, kMostFloats = 32;
inline constexpr unsigned kScratchPlace = kMostX - 1;
inline constexpr unsigned place_of_x(Word x) {
  return x == kMaxXRegs ? kScratchPlace : static_cast<unsigned>(x);
}
inline constexpr bool has_place(Word x) { return x < kScratchPlace || x == kMaxXRegs; }
inline constexpr unsigned x_of_place(unsigned place) { return place == kScratchPlace ? kMaxXRegs : place; }

struct RegisterSet {
  std::uint64_t x = 0, floats = 0;
  bool operator==(const RegisterSet&) const = default;
  RegisterSet operator|(const RegisterSet& o) const { return {x | o.x, floats | o.floats}; }
};

/// Returns what is needed at the beginning of each part. A register that an instruction may read in
/// a way that is not known here counts as needed. Returns nothing if the function uses too many.
std::vector<RegisterSet> live_registers(const FunctionCode& code);

/// Calls see(target) for each address that a part may jump to; begin_catch's handler is one.
template <class See>
void for_targets(const FunctionCode& code, const Part& p, See&& see);

}  // namespace vmrun::jit

#include "vm/jit/targets.hpp"
