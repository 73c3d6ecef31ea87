// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/made_code.hpp"
#include "vm/jit/allocation.hpp"
#include "vm/jit/graph.hpp"

namespace vmrun::jit {

/// Writes machine code for a graph whose values have places. Without code it is too large for the
/// processor's jumps. (emit_code.cpp)
void emit(const Graph& graph, const Allocation& places, HotFunction* out);

/// Writes the code of Stubs, and says where it makes and leaves the frame; `offsets` are theirs, in
/// the order of the struct. (emit_stubs.cpp)
HotFunction emit_stubs(std::vector<std::uint32_t>* offsets);

}  // namespace vmrun::jit
