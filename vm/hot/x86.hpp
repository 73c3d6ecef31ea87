// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Zydis/Zydis.h>

#include "vm/base/word.hpp"

/// One instruction of the processor (x86-64), taken apart by Zydis, and the few questions that
/// loop_code.cpp asks about it. Values without owners; any thread.
namespace vmrun::x86 {

using Bytes = const std::uint8_t*;

/// General registers by their number in the machine's encoding: rax 0, rcx 1 ... r15 15.
inline constexpr int kRegisters = 16, kNone = -1;

struct Instruction {
  Bytes at;
  ZydisDecodedInstruction head;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  Bytes next() const { return at + head.length; }
  bool is_conditional_jump() const { return head.meta.category == ZYDIS_CATEGORY_COND_BR; }
  bool is_jump() const { return head.mnemonic == ZYDIS_MNEMONIC_JMP; }
  bool is_call() const { return head.mnemonic == ZYDIS_MNEMONIC_CALL; }
  /// Of a jump or call to a fixed place.
  bool is_direct() const { return operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE; }
  Bytes target() const { return next() + operands[0].imm.value.s; }
  /// Its result is 0 whatever is in its register.
  bool clears() const {
    return (head.mnemonic == ZYDIS_MNEMONIC_XOR || head.mnemonic == ZYDIS_MNEMONIC_SUB) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].reg.value == operands[1].reg.value;
  }
};

/// False: no instruction is there.
inline bool decode(Bytes at, Instruction* out) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  out->at = at;
  return ZYAN_SUCCESS(
      ZydisDecoderDecodeFull(&decoder, at, ZYDIS_MAX_INSTRUCTION_LENGTH, &out->head, out->operands));
}

/// The general register that this one is, or a part of; kNone.
inline int general(ZydisRegister r) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : kNone;
}

inline bool reads(const ZydisDecodedOperand& o) { return o.actions & ZYDIS_OPERAND_ACTION_MASK_READ; }
inline bool writes(const ZydisDecodedOperand& o) { return o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE; }
inline bool is_register(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_REGISTER; }
inline bool is_memory(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_MEMORY; }

}  // namespace vmrun::x86
