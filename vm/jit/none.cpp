// SPDX-License-Identifier: Apache-2.0
// For processors that the compiler makes no code for.
#include "vm/jit/compile_function.hpp"
#include "vm/jit/emit_code.hpp"

namespace vmrun::jit {

std::shared_ptr<const FunctionCode> read_function(const FunctionHeader&, const Word*) { return {}; }
Refusal compile(const FunctionCode&, const Surroundings&, HotFunction*) { return Refusal::kRegisters; }
void lead_outward(HotFunction*, const std::uint8_t*) {}
void leave_more_often(std::uint64_t) {}
HotFunction emit_stubs(std::vector<std::uint32_t>*) { return {}; }

}  // namespace vmrun::jit
