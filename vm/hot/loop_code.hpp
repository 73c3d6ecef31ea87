// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/code/hot_code.hpp"
#include "vm/hot/x86.hpp"

/// The interpreter's loop as machine code: what specialiser.hpp has to know of it. Made once; never
/// changes.
namespace vmrun {

struct LoopCode {
  const void* const* cases;                   // by operation
  std::span<const void* const> often_called;  // as in LoopView
  int at;                                     // register: address of our instruction
  int table;                                  // register: the table of cases
  int stack;                                  // register: top of the process's stack; kNone
  bool scratch
      [x86::kRegisters];  // registers in which nothing is kept from one of our instructions to the next
};

/// False: the loop's code is not what is expected (not optimised, say). It is read at the first
/// call, which takes some 20 ms; there is one loop. Any thread.
bool look_at_loop(const LoopView& view, LoopCode* out);

/// An element of the table of cases.
inline bool is_case(const LoopCode& loop, const ZydisDecodedOperand& o) {
  return x86::is_memory(o) && o.mem.scale == 8 && x86::general(o.mem.base) == loop.table &&
         o.mem.disp.value == 0;
}
/// The end of a case: the jump to the next instruction's.
inline bool is_dispatch(const LoopCode& loop, const x86::Instruction& in) {
  return in.is_jump() && is_case(loop, in.operands[0]);
}
/// That in two steps: the register into which the first of them loads the case; kNone.
inline int register_with_case(const LoopCode& loop, const x86::Instruction& in) {
  return in.head.mnemonic == ZYDIS_MNEMONIC_MOV && x86::is_register(in.operands[0]) &&
                 is_case(loop, in.operands[1])
             ? x86::general(in.operands[0].reg.value)
             : x86::kNone;
}

}  // namespace vmrun
