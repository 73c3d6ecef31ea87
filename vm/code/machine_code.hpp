// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "vm/base/word.hpp"
#include "vm/term/term.hpp"

/// What the interpreter and machine code that vm/jit has made agree on.
///
/// The interpreter calls machine code as a function, Stubs::enter. All machine code runs in that
/// function's frame: calls and returns of Erlang functions are jumps, and their return addresses
/// lie on the process's stack, where the interpreter has them too. The word in front of every
/// function's first instruction, and of every instruction that a call returns to, leads to code:
/// the function's own, or code that goes back to the interpreter.
///
/// There x registers 0 to 5 are in registers (vm/jit/allocation.hpp), the others in memory; the
/// tops of heap and stack are in registers, and the reductions that are left in the process. A
/// register has the address of the instruction. Behind a call only x0 is there.
///
/// Tracers that follow frame pointers (perf, bpftrace) go on from machine code to the interpreter
/// and the scheduler: the frame pointer is the register from which x registers in memory are
/// reached, and points to a FrameRecord in front of them.
namespace vmrun {

struct Process;

/// How machine code is left.
enum class How : Word {
  kAt,           // the interpreter goes on with the instruction
  kAsItWas,      // with the instruction that was there before machine code was made, if some begins there
  kGuessed,      // likewise, and what machine code guessed there has often been wrong
  kCollectSoon,  // the interpreter goes on there, and there may be much to collect
  kWait,         // the process waits, and goes on there
  kExiting,      // a signal has ended the process
  kYield,        // the function that begins there has been called, and the slice is used up
  kCounted,      // a call has returned there, with a deep stack, and the slice is used up
  kCollect,      // a built-in function has returned there, and there may be much to collect
  kFailed,       // the built-in function that the instruction calls returned no value, or it sent nothing
  kNoCode,       // `at` is a fun that has been called and whose code is missing
  kCount
};
struct Left {
  const Word* at;
  How how;
};

/// Code that there is once.
struct Stubs {
  Left (*enter)(Process& p, Term* x, double* floats, const void* code) = nullptr;
  const void* at_entry = nullptr;                              // for functions without machine code
  const void* at_return = nullptr;                             // likewise, where calls return to
  const void* leave[static_cast<unsigned>(How::kCount)] = {};  // registers are stored
  const void* yield = nullptr;     // where a function begins and the slice is used up
  const void* counted = nullptr;   // where a call returns to and the stack is deep
  const void* collect = nullptr;   // where a built-in function has returned to: stores x0
  const void* call_bif = nullptr;  // calls a built-in function
  const void* call_fun[7] = {};    // by the number of arguments; the last: more
};
/// Made before modules are loaded, and never changed.
inline constinit Stubs stubs;

/// Counts wrong guesses down, of all functions together, until one is dealt with.
inline constinit std::atomic<std::int32_t> guesses_left = 1;

/// In front of code that an instruction leads to: the operation that was there, and how many bytes
/// of the code whoever comes from the interpreter leaves out. It is `nopl operation(%rax); nop` for
/// who takes code apart.
struct CodePrefix {
  std::uint8_t nop[3] = {0x0F, 0x1F, 0x80};
  std::uint16_t operation;
  std::uint16_t skip;
  std::uint8_t end = 0x90;
} __attribute__((packed));
static_assert(sizeof(CodePrefix) == 8);
inline const void* entry_from_interpreter(const void* code) {
  return static_cast<const char*>(code) + static_cast<const CodePrefix*>(code)[-1].skip;
}

}  // namespace vmrun
