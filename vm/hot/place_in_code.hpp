// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/term.hpp"

/// Where in Erlang code a thread is, from the registers of the processor: for a profiler that
/// interrupts it. What the loop keeps in which register is found out by reading it (loop_code.hpp).
namespace vmrun {

/// The registers, by their number in the machine's encoding, in which the loop keeps the address of
/// our instruction and the top of the stack, and in which machine code has the latter. -1: it is
/// not known, or there is no such register.
struct ErlangRegisters {
  int instruction = -1, stack = -1, stack_in_code = -1;
};

/// Reads the loop, once. False: this build's loop is not what is expected, or no process has begun
/// yet. Not in a handler.
bool find_places_in_code(ErlangRegisters* out);

/// vm/base/debugger_facts.hpp. function: the loop's.
void tell_debuggers_of_loop(const void* function);

// In a signal's handler, in the thread that has been interrupted there. The loop has been read.

/// pc: an address of machine code.
bool is_in_loop(const void* pc);
struct PlaceInHotCode {
  const Word* at = nullptr;  // the instruction; nullptr: it is no hot code
  /// If that belongs to a call that has been inlined, and whose return address is not on the stack:
  /// where it returns to.
  const Word* returns_to = nullptr;
};
PlaceInHotCode place_in_hot_code(const void* pc);

}  // namespace vmrun
