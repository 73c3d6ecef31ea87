// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "vm/jit/function_code.hpp"
#include "vm/jit/graph.hpp"

namespace vmrun::jit {

/// Instructions that have often left machine code since something was guessed.
using WrongGuesses = std::unordered_set<const Word*>;

/// Builds the graph of a function. Types are inferred on the way, since all edges lead forward: a
/// value's type is known where it is used, narrowed by the tests before. Returns false if the
/// function is left to the interpreter. (build_graph.cpp)
bool build_graph(const FunctionCode& code, const WrongGuesses& wrong, Graph* out);

}  // namespace vmrun::jit
