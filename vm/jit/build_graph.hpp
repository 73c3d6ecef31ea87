// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/jit/function_code.hpp"
#include "vm/jit/graph.hpp"
#include "vm/jit/surroundings.hpp"

namespace vmrun::jit {

/// Builds the graph of a function. Types are inferred on the way, since all edges lead forward: a
/// value's type is known where it is used, narrowed by the tests before. Returns false if the
/// function is left to the interpreter. (build_graph.cpp)
bool build_graph(const FunctionCode& code, const Surroundings& around, Graph* out);

}  // namespace vmrun::jit
