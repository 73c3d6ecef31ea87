// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "vm/code/made_code.hpp"
#include "vm/jit/surroundings.hpp"
#include "vm/term/fun.hpp"

namespace vmrun::jit {

/// Why a function is left to the interpreter.
enum class Refusal : std::uint8_t {
  kNone,
  kArguments,  // it has too many
  kRegisters,  // it uses too many x registers
  kPlaces,     // its values need too many places
  kTooLong,    // it has more code than jumps in it reach
};

/// Takes the instructions of a function apart; end: where they end. Nobody changes them meanwhile.
std::shared_ptr<const FunctionCode> read_function(const FunctionHeader& function, const Word* end);

/// Compiles it to machine code. Its instructions may be changed meanwhile, but its module stays. No
/// operation of an instruction is read. (compile_function.cpp)
Refusal compile(const FunctionCode& code, const Surroundings& around, HotFunction* out);

/// Fills in the jumps out of code that is going to be executed there. (assembler_*.cpp)
void lead_outward(HotFunction* code, const std::uint8_t* place);

/// Whether the instruction has an operand that is a float. x, y: the registers as it begins.
/// (compile_function.cpp)
bool computes_with_floats(const FunctionCode& code, const Word* at, const Term* x, const Term* y);

/// Returns the fun that the instruction calls, or no value if it calls none. x, y: as above.
/// (compile_function.cpp)
Term called_fun(const FunctionCode& code, const Word* at, const Term* x, const Term* y);

/// Whether calls of the function may be replaced by its code: it is small, returns on some way
/// without having called another function, and nothing in it is entered from outside.
/// (build_inlining.cpp)
bool may_be_inlined(const FunctionCode& code);

/// For tests: machine code leaves at a third of the places where it may, though no assumption fails
/// there. The seed draws them; 0: it leaves where it must. Before functions are compiled.
/// (emit_code.cpp)
void leave_more_often(std::uint64_t seed);

}  // namespace vmrun::jit
