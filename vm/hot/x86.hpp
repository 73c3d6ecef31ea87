// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include <Zydis/Zydis.h>

#include "vm/base/word.hpp"

/// One instruction of the processor (x86-64), taken apart by Zydis, and the few questions that
/// specialiser.cpp asks about it. Values without owners; any thread.
namespace vmrun::x86 {

using Bytes = const std::uint8_t*;

/// General registers by their number in the machine's encoding: rax 0, rcx 1 ... r15 15.
inline constexpr int kRegisters = 16, kNone = -1, kRax = 0, kRcx = 1;

struct Instruction {
  Bytes at;
  ZydisDecodedInstruction head;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  Bytes next() const { return at + head.length; }
  bool is_conditional_jump() const { return head.meta.category == ZYDIS_CATEGORY_COND_BR; }
  bool is_jump() const { return head.mnemonic == ZYDIS_MNEMONIC_JMP; }
  /// Of one that depends on flags: its number in the encoding.
  unsigned condition() const { return head.opcode & 15u; }
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
  bool reads_flags() const { return head.cpu_flags && head.cpu_flags->tested; }
  bool writes_flags() const {
    return head.cpu_flags && (head.cpu_flags->modified | head.cpu_flags->set_0 | head.cpu_flags->set_1 |
                              head.cpu_flags->undefined);
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
inline ZydisRegister whole_register(int r) { return static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + r); }
inline ZydisRegister half_register(int r) { return static_cast<ZydisRegister>(ZYDIS_REGISTER_EAX + r); }

inline bool reads(const ZydisDecodedOperand& o) { return o.actions & ZYDIS_OPERAND_ACTION_MASK_READ; }
inline bool writes(const ZydisDecodedOperand& o) { return o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE; }
inline bool is_register(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_REGISTER; }
inline bool is_memory(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_MEMORY; }
inline bool is_immediate(const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE; }

/// The operand's register, all of which is written (a half that is written clears the other one).
inline bool is_overwritten(const ZydisDecodedOperand& o) {
  return (o.actions & ZYDIS_OPERAND_ACTION_WRITE) && o.size >= 32;
}

/// The value of an immediate operand, as wide as it can get.
inline std::uint64_t immediate_value(const ZydisDecodedOperand& o) {
  return o.imm.is_signed ? static_cast<std::uint64_t>(o.imm.value.s) : o.imm.value.u;
}

inline std::uint64_t truncated(std::uint64_t v, unsigned bits) {
  return bits >= 64 ? v : v & ((std::uint64_t{1} << bits) - 1);
}
inline std::int64_t extended(std::uint64_t v, unsigned bits) {
  return bits >= 64 ? static_cast<std::int64_t>(v)
                    : static_cast<std::int64_t>(v << (64 - bits)) >> (64 - bits);
}
inline bool fits_32(std::int64_t v) { return v == static_cast<std::int32_t>(v); }

// ---- Instructions to be encoded -----------------------------------------------------------------

inline ZydisEncoderOperand in_register(ZydisRegister r) {
  ZydisEncoderOperand o{};
  o.type = ZYDIS_OPERAND_TYPE_REGISTER;
  o.reg.value = r;
  return o;
}
inline ZydisEncoderOperand in_memory(int base, std::int64_t displacement, unsigned bytes) {
  ZydisEncoderOperand o{};
  o.type = ZYDIS_OPERAND_TYPE_MEMORY;
  o.mem.base = whole_register(base);
  o.mem.displacement = displacement;
  o.mem.size = static_cast<ZyanU16>(bytes);
  return o;
}
inline ZydisEncoderOperand element(int base, int index) {  // of a table of words
  ZydisEncoderOperand o = in_memory(base, 0, 8);
  o.mem.index = whole_register(index);
  o.mem.scale = 8;
  return o;
}
inline ZydisEncoderOperand constant(std::int64_t v) {
  ZydisEncoderOperand o{};
  o.type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
  o.imm.s = v;
  return o;
}
inline ZydisEncoderRequest request(ZydisMnemonic m, std::initializer_list<ZydisEncoderOperand> operands) {
  ZydisEncoderRequest q{};
  q.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
  q.mnemonic = m;
  for (const ZydisEncoderOperand& o : operands) q.operands[q.operand_count++] = o;
  if (m == ZYDIS_MNEMONIC_JMP) q.branch_type = ZYDIS_BRANCH_TYPE_NEAR;
  return q;
}

}  // namespace vmrun::x86
