// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/loop_code.hpp"

#include <algorithm>

#include "vm/code/instructions.hpp"

namespace vmrun {
namespace {

using namespace x86;

constexpr unsigned kLongestCase = 300;  // instructions of the processor that are looked at

/// A jump through a table of cases, whichever register that is in.
bool looks_like_dispatch(const Instruction& in) {
  return in.is_jump() && is_memory(in.operands[0]) && in.operands[0].mem.scale == 8 &&
         general(in.operands[0].mem.base) != kNone;
}

/// How cases use registers.
struct Use {
  bool read[kRegisters] = {};         // before it has been written, in some case
  bool overwritten[kRegisters] = {};  // in some case that goes on to the next instruction
};

/// What it reads that the case has not written, and what it writes.
void note(const Instruction& in, bool* written, Use* use) {
  const auto read = [&](ZydisRegister reg) {
    if (const int r = general(reg); r != kNone && !written[r] && !in.clears()) use->read[r] = true;
  };
  for (unsigned n = 0; n < in.head.operand_count; ++n) {
    const ZydisDecodedOperand& o = in.operands[n];
    if (is_register(o) && reads(o)) read(o.reg.value);
    if (is_memory(o)) {
      read(o.mem.base);
      read(o.mem.index);
    }
  }
  for (unsigned n = 0; n < in.head.operand_count; ++n) {
    const ZydisDecodedOperand& o = in.operands[n];
    if (is_register(o) && writes(o))
      if (const int r = general(o.reg.value); r != kNone) written[r] = true;
  }
}

/// The straight way through a case. False: nothing that can be read, or another table.
bool look_at_case(Bytes pc, int* table, Use* use) {
  bool written[kRegisters] = {};
  for (unsigned n = 0; n < kLongestCase; ++n) {
    Instruction in;
    if (!decode(pc, &in)) return false;
    note(in, written, use);
    if (looks_like_dispatch(in)) {
      const int through = general(in.operands[0].mem.base);
      if (*table == kNone) *table = through;
      for (int r = 0; r < kRegisters; ++r) use->overwritten[r] |= written[r];
      return *table == through;
    }
    if (in.is_call() || in.head.meta.category == ZYDIS_CATEGORY_RET || (in.is_jump() && !in.is_direct()))
      break;
    pc = in.is_jump() ? in.target() : in.next();
  }
  return true;
}

/// Where operations are read from: as seen in the simplest case.
int register_of_address(Bytes pc) {
  int at = kNone;
  for (unsigned n = 0; n < 16; ++n) {
    Instruction in;
    if (!decode(pc, &in)) break;
    if (in.head.mnemonic == ZYDIS_MNEMONIC_MOVZX && is_memory(in.operands[1]) && in.operands[1].size == 16)
      at = general(in.operands[1].mem.base);
    if (in.is_jump()) break;
    pc = in.next();
  }
  return at;
}

/// That of the y registers: what the case of move_yx reads its source from.
int register_of_stack(Bytes pc) {
  for (unsigned n = 0; n < 16; ++n) {
    Instruction in;
    if (!decode(pc, &in) || in.is_jump()) break;
    if (in.head.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(in.operands[0]) && is_memory(in.operands[1]) &&
        in.operands[1].mem.scale == 8)
      return general(in.operands[1].mem.base);
    pc = in.next();
  }
  return kNone;
}

bool read_loop(std::span<const void* const> cases, LoopCode* out) {
  int table = kNone;
  Use use;
  for (const void* const code : cases)
    if (!look_at_case(static_cast<Bytes>(code), &table, &use)) return false;
  out->at = register_of_address(static_cast<Bytes>(cases[op::jump]));
  out->stack = register_of_stack(static_cast<Bytes>(cases[op::move_yx]));
  // Nothing is kept in a register that some cases write and none reads.
  const auto is_kept = [&](int r) { return r != kNone && !(use.overwritten[r] && !use.read[r]); };
  return is_kept(out->at) && is_kept(out->stack) && is_kept(table);
}

}  // namespace

bool look_at_loop(std::span<const void* const> cases, LoopCode* out) {
  static LoopCode read;
  static const bool is_as_expected = read_loop(cases, &read);
  *out = read;
  return is_as_expected;
}

}  // namespace vmrun
