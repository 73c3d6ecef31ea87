// SPDX-License-Identifier: Apache-2.0
// For processors that the compiler makes no code for.
#include "vm/jit/compile_function.hpp"
#include "vm/jit/emit_code.hpp"

namespace vmrun::jit {

bool compile(const FunctionHeader&, const Word*, const std::unordered_set<const Word*>&, HotFunction*) {
  return false;
}
void lead_outward(HotFunction*, const std::uint8_t*) {}
void leave_more_often(std::uint64_t) {}
std::vector<std::uint8_t> emit_stubs(std::vector<std::uint32_t>*) { return {}; }

}  // namespace vmrun::jit
