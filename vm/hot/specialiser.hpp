// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/made_code.hpp"
#include "vm/hot/loop_code.hpp"
#include "vm/term/fun.hpp"

/// Machine code for one function, made from the machine code of the interpreter's own loop.
///
/// What the loop does for an instruction is a case of it: from its label to the jump that ends it,
/// `jmp *table(,operation,8)`. This goes through the cases of a function's instructions one after
/// another, as the processor would, and writes down what is done, except what depends only on the
/// instruction: its address and operands are known, so loads of them are left out, their values put
/// where they are used, jumps that depend on them decided, loops over them unrolled, and the jump
/// at the end is not there at all when the next instruction's code follows. What is left is what
/// the function itself does. (Futamura, "Partial evaluation of computation process", 1971; copying
/// the loop's code: Piumarta, Riccardi, "Optimizing direct threaded code by selective inlining",
/// 1998; Ertl, Gregg, "Retargeting JIT compilers by using C-compiler generated executable code",
/// 2004.)
///
/// Nothing is assumed about how the compiler has laid the loop out. Memory other than the
/// instruction's operands is never looked at; and where the code does what is not understood here,
/// or what is rare (most calls on ways to the side), the loop's own code is jumped to with all
/// registers as it would have them, and goes on from there.
namespace vmrun {

/// Code for the instructions from a function's entry up to `end`. False: none is made. Nobody
/// changes those instructions meanwhile. Any thread.
bool specialise(const LoopCode& loop, const FunctionHeader& function, const Word* end, HotFunction* out);

}  // namespace vmrun
