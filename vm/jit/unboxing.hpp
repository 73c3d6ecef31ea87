// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/jit/graph.hpp"

namespace vmrun::jit {

/// Makes no terms of floats that only exits need as such: these make them, for which each test for
/// room asks for that much more. (unboxing.cpp)
void keep_unboxed(Graph* graph);

/// Whether it calls a C++ function that may use the room on the heap.
bool uses_heap_elsewhere(const Inst& i);

}  // namespace vmrun::jit
