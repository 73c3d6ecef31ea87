// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/jit/compile_function.hpp"
#include "vm/jit/function_code.hpp"
#include "vm/jit/graph.hpp"
#include "vm/jit/surroundings.hpp"

namespace vmrun::jit {

/// Builds the graph of a function. Types are inferred on the way, since edges lead forward: a
/// value's type is known where it is used, narrowed by the tests before. (build_graph.cpp)
Refusal build_graph(const FunctionCode& code, const Surroundings& around, Graph* out);

}  // namespace vmrun::jit
