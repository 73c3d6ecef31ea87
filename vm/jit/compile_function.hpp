// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/made_code.hpp"
#include "vm/jit/surroundings.hpp"
#include "vm/term/fun.hpp"

namespace vmrun::jit {

/// Compiles a function to machine code. Returns false if it is left to the interpreter. Nobody
/// changes its instructions meanwhile, nor those of functions that may be inlined.
/// (compile_function.cpp)
bool compile(const FunctionHeader& function, const Word* end, const Surroundings& around, HotFunction* out);

/// Fills in the jumps out of code that is going to be executed there. (assembler_*.cpp)
void lead_outward(HotFunction* code, const std::uint8_t* place);

/// For tests: machine code leaves at a third of the places where it may, though no assumption fails
/// there. The seed draws them; 0: it leaves where it must. Before functions are compiled.
/// (emit_code.cpp)
void leave_more_often(std::uint64_t seed);

}  // namespace vmrun::jit
