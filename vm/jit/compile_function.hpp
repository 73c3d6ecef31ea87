// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/made_code.hpp"
#include "vm/term/fun.hpp"

namespace vmrun::jit {

/// Compiles a function to machine code. Returns false if it is left to the interpreter. Nobody
/// changes its instructions meanwhile. (compile_function.cpp)
bool compile(const FunctionHeader& function, const Word* end, HotFunction* out);

}  // namespace vmrun::jit
