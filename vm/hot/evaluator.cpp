// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/evaluator.hpp"

#include <cstring>

namespace vmrun {

using namespace x86;

/// In words of the current instruction that never change: all but its operation.
bool Evaluator::is_constant(Word address, unsigned bytes) const {
  const Word first = reinterpret_cast<Word>(current.at) + 2,
             last = reinterpret_cast<Word>(current.end_of_operands());
  return address >= first && address + bytes <= last;
}

/// Where an instruction of the function may begin, as far as can be told: it is none of this one's
/// operands.
bool Evaluator::may_be_instruction(Word address) const {
  const auto* const word = reinterpret_cast<const Word*>(address);
  return address % sizeof(Word) == 0 && word >= begin_ && word < end_ &&
         !(word > current.at && word < current.end_of_operands());
}

std::optional<Word> Evaluator::address_of(const State& s, const ZydisDecodedOperand& o) {
  if (o.mem.segment != ZYDIS_REGISTER_DS && o.mem.segment != ZYDIS_REGISTER_SS) return {};
  auto address = static_cast<Word>(o.mem.disp.value);
  const auto add = [&](ZydisRegister reg, Word times) {
    if (reg == ZYDIS_REGISTER_NONE) return true;
    const int r = general(reg);
    if (r == kNone || !s.registers[r].known()) return false;
    address += s.registers[r].value * times;
    of_operands_ |= s.registers[r].of_operands;
    return true;
  };
  if (!add(o.mem.base, 1) || !add(o.mem.index, o.mem.scale)) return {};
  return address;
}

std::optional<Word> Evaluator::value_of(const State& s, const ZydisDecodedOperand& o) {
  if (is_immediate(o)) return immediate_value(o);
  if (is_register(o)) {
    const int r = general(o.reg.value);
    const bool second_byte = o.reg.value >= ZYDIS_REGISTER_AH && o.reg.value <= ZYDIS_REGISTER_BH;
    if (r == kNone || !s.registers[r].known() || second_byte) return {};
    of_operands_ |= s.registers[r].of_operands;
    return truncated(s.registers[r].value, o.size);
  }
  if (!is_memory(o) || o.size > 64) return {};
  const auto address = address_of(s, o);
  if (!address || !is_constant(*address, o.size / 8u)) return {};
  Word v = 0;
  std::memcpy(&v, reinterpret_cast<const void*>(*address), o.size / 8u);
  of_operands_ = true;
  return v;
}

bool Evaluator::evaluate(const Instruction& in, State& s) {
  of_operands_ = false;
  const ZydisDecodedOperand& to = in.operands[0];
  const int r = is_register(to) && to.size >= 32 ? general(to.reg.value) : kNone;  // all of it is written
  const auto set = [&](std::optional<Word> v) {
    if (r == kNone || !v) return false;
    s.registers[r].set(truncated(*v, to.size), of_operands_);
    return true;
  };
  const auto set_later = [&](Register::Kind kind, Word at) {
    s.registers[r].forget();
    s.registers[r].kind = kind;
    s.registers[r].value = at;
    return true;
  };
  switch (in.head.mnemonic) {
    case ZYDIS_MNEMONIC_NOP: return true;
    case ZYDIS_MNEMONIC_MOV:
      if (r != kNone && is_case(loop_, in.operands[1])) {
        const Register& index = s.registers[general(in.operands[1].mem.index)];
        return index.kind == Register::Kind::kOperation && set_later(Register::Kind::kCase, index.value);
      }
      return set(value_of(s, in.operands[1]));
    case ZYDIS_MNEMONIC_MOVZX:
      if (set(value_of(s, in.operands[1]))) return true;
      if (r == kNone || !is_memory(in.operands[1]) || in.operands[1].size != 16) return false;
      if (const auto a = address_of(s, in.operands[1]); a && may_be_instruction(*a))
        return set_later(Register::Kind::kOperation, *a);
      return false;
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      if (const auto v = value_of(s, in.operands[1]))
        return set(static_cast<Word>(extended(*v, in.operands[1].size)));
      return false;
    case ZYDIS_MNEMONIC_LEA: return set(address_of(s, in.operands[1]));
    case ZYDIS_MNEMONIC_CDQE: {
      Register& rax = s.registers[kRax];
      if (!rax.known()) return false;
      rax.set(static_cast<Word>(extended(rax.value, 32)), rax.of_operands);
      return true;
    }
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR: return evaluate_operator(in, s, r);
    default: return false;
  }
}

bool Evaluator::evaluate_operator(const Instruction& in, State& s, int r) {
  const ZydisDecodedOperand &to = in.operands[0], &by = in.operands[1];
  const ZydisMnemonic m = in.head.mnemonic;
  const bool compares = m == ZYDIS_MNEMONIC_CMP || m == ZYDIS_MNEMONIC_TEST;
  if (!compares && r == kNone) return false;
  const unsigned bits = to.size;
  const bool clears = in.clears();
  const auto x = clears ? Word{0} : value_of(s, to), y = clears ? Word{0} : value_of(s, by);
  if (!x || !y) return false;
  const Word a = *x, b = truncated(*y, bits);
  Word v = 0;
  Flags flags{Flags::Kind::kKnown, of_operands_};
  switch (m) {
    case ZYDIS_MNEMONIC_ADD:
      v = truncated(a + b, bits);
      flags.carry = v < a;
      flags.overflow = extended((a ^ v) & (b ^ v), bits) < 0;
      break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_CMP:
      v = truncated(a - b, bits);
      flags.carry = a < b;
      flags.overflow = extended((a ^ b) & (a ^ v), bits) < 0;
      break;
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_TEST: v = a & b; break;
    case ZYDIS_MNEMONIC_OR: v = a | b; break;
    case ZYDIS_MNEMONIC_XOR: v = a ^ b; break;
    default: {  // shifts
      const unsigned n = static_cast<unsigned>(b) & (bits == 64 ? 63u : 31u);
      if (n == 0) return false;  // leaves the flags as they are
      if (m == ZYDIS_MNEMONIC_SHL) v = truncated(a << n, bits);
      else if (m == ZYDIS_MNEMONIC_SHR) v = a >> n;
      else v = truncated(static_cast<Word>(extended(a, bits) >> n), bits);
      // The last bit that went out. Overflow is defined for n == 1 only.
      flags.carry = (m == ZYDIS_MNEMONIC_SHL ? a >> (bits - n) : a >> (n - 1)) & 1;
      flags.overflow = n == 1 && m != ZYDIS_MNEMONIC_SAR && extended(a ^ v, bits) < 0;
    }
  }
  flags.zero = v == 0;
  flags.sign = extended(v, bits) < 0;
  s.flags = flags;
  if (!compares) s.registers[r].set(v, of_operands_);
  return true;
}

}  // namespace vmrun
