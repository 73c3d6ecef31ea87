// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/writer.hpp"

#include <cstring>

namespace vmrun {

using namespace x86;

// ---- Bytes --------------------------------------------------------------------------------------

void Writer::put(std::initializer_list<unsigned> bytes) {
  for (const unsigned b : bytes) out_.code.push_back(static_cast<std::uint8_t>(b));
}

std::uint32_t Writer::put_distance() {
  put({0, 0, 0, 0});
  return here() - 4;
}

void Writer::set_distance(std::uint32_t at, std::uint32_t to) {
  const auto distance = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(at + 4);
  std::memcpy(out_.code.data() + at, &distance, sizeof distance);
}

void Writer::put_distance_to(const void* target) {
  const std::uint32_t at = put_distance();
  out_.fixups.push_back({at, at + 4, target});
}

void Writer::jump_to(const void* target) {
  put({0xE9});
  put_distance_to(target);
}

void Writer::encode(const ZydisEncoderRequest& request, const void* rip_target) {
  std::uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
  ZyanUSize length = sizeof bytes;
  if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, &length))) throw GiveUp{};
  const std::uint32_t start = here();
  out_.code.insert(out_.code.end(), bytes, bytes + length);
  if (!rip_target) return;
  Instruction in;
  if (!decode(out_.code.data() + start, &in)) throw GiveUp{};
  out_.fixups.push_back({start + in.head.raw.disp.offset, start + in.head.length, rip_target});
}

void Writer::take_back(Mark m) {
  out_.code.resize(m.code);
  out_.fixups.resize(m.fixups);
}

// ---- Registers ----------------------------------------------------------------------------------

/// The operation of an instruction, or its case.
void Writer::load_operation(State& s, int r) {
  Register& reg = s.registers[r];
  const Register& at = s.registers[loop_.at];
  if (!at.holds_known) throw GiveUp{};
  const bool loads_case = reg.kind == Register::Kind::kCase;
  encode(request(ZYDIS_MNEMONIC_MOVZX, {in_register(half_register(r)),
                                        in_memory(loop_.at, static_cast<SWord>(reg.value - at.holds), 2)}));
  reg.forget();
  if (!loads_case) return;
  encode(request(ZYDIS_MNEMONIC_MOV, {in_register(whole_register(r)), element(loop_.table, r)}));
  reg.kind = Register::Kind::kSomeCase;
}

void Writer::settle(State& s, int r) {
  Register& reg = s.registers[r];
  if (!reg.waits()) return;
  if (!reg.known()) return load_operation(s, r);
  const Word v = reg.value;
  const Register& at = s.registers[loop_.at];
  const auto is_near = [&](const Register& base) {
    return base.holds_known && fits_32(static_cast<SWord>(v - base.holds));
  };
  const bool is_short = v <= 0xFFFFFFFF, is_address = !is_short && !fits_32(static_cast<SWord>(v));
  if (is_address && (is_near(reg) || is_near(at))) {
    const int base = is_near(reg) ? r : loop_.at;
    const auto distance = static_cast<SWord>(v - s.registers[base].holds);
    encode(request(ZYDIS_MNEMONIC_LEA, {in_register(whole_register(r)), in_memory(base, distance, 8)}));
  } else {
    encode(request(ZYDIS_MNEMONIC_MOV,
                   {in_register(is_short ? half_register(r) : whole_register(r)),
                    constant(is_short ? static_cast<std::int32_t>(v) : static_cast<SWord>(v))}));
  }
  reg.holds_known = true;
  reg.holds = v;
}

void Writer::settle_all(State& s) {
  // The address last: others are found from where it is.
  for (int r = 0; r < kRegisters; ++r)
    if (r != loop_.at) settle(s, r);
  settle(s, loop_.at);
}

// ---- Instructions -------------------------------------------------------------------------------

namespace {

bool takes_immediate(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST: return true;
    default: return false;
  }
}

/// What it writes is not known any more.
void forget_written(const Instruction& in, State& s) {
  for (unsigned n = 0; n < in.head.operand_count; ++n) {
    const ZydisDecodedOperand& o = in.operands[n];
    if (!is_register(o) || !writes(o)) continue;
    if (const int r = general(o.reg.value); r != kNone) s.registers[r].forget();
  }
  if (in.writes_flags()) s.flags = {};
}

}  // namespace

std::optional<SWord> Writer::second_as_immediate(const Instruction& in, const State& s) {
  const ZydisDecodedOperand& o = in.operands[1];
  if (!takes_immediate(in.head.mnemonic) || in.head.operand_count_visible != 2 || is_immediate(o) ||
      o.size < 32)
    return {};
  const auto v = evaluator_.value_of(s, o);
  if (!v || !fits_32(extended(*v, o.size))) return {};
  return extended(*v, o.size);
}

/// A memory operand with what is known of its registers in the displacement; nothing: it stays as
/// it is.
std::optional<Writer::Folded> Writer::fold(State& s, const ZydisDecodedOperand& o) {
  if (o.mem.base == ZYDIS_REGISTER_RIP) return {};
  const int base = general(o.mem.base), index = general(o.mem.index);
  Folded f{o.mem.base, o.mem.index, o.mem.disp.value};
  if (index != kNone && s.registers[index].waits()) {
    const Register& r = s.registers[index];
    const auto by = static_cast<SWord>(r.value * o.mem.scale);
    if (r.known() && fits_32(by) && fits_32(f.displacement + by)) {
      f.displacement += by;
      f.index = ZYDIS_REGISTER_NONE;
    } else {
      settle(s, index);
    }
  }
  if (base != kNone && s.registers[base].waits()) {
    const Register &r = s.registers[base], &at = s.registers[loop_.at];
    const auto distance = [&](const Register& from) {
      return static_cast<SWord>(r.value + static_cast<Word>(f.displacement) - from.holds);
    };
    if (r.known() && r.holds_known && fits_32(distance(r))) {
      f.displacement = distance(r);
    } else if (r.known() && at.holds_known && fits_32(distance(at))) {
      f.displacement = distance(at);
      f.base = whole_register(loop_.at);
    } else {
      settle(s, base);
    }
  }
  if (f.base == o.mem.base && f.index == o.mem.index && f.displacement == o.mem.disp.value) return {};
  return f;
}

/// The registers that it reads, hidden operands' included; memory operands that are seen are
/// folded.
void Writer::settle_reads(const Instruction& in, State& s, bool but_second) {
  for (unsigned n = 0; n < in.head.operand_count; ++n) {
    const ZydisDecodedOperand& o = in.operands[n];
    if (is_register(o)) {
      const int r = general(o.reg.value);
      if (r == kNone || (n == 1 && but_second)) continue;
      if (reads(o) || !is_overwritten(o)) settle(s, r);
    } else if (is_memory(o) && o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
      for (const int r : {general(o.mem.base), general(o.mem.index)})
        if (r != kNone) settle(s, r);
    }
  }
}

/// It with folded memory operands, a constant as its second one, or as another one with the same
/// operands.
void Writer::write_changed(const Instruction& in, State& s, std::optional<SWord> second,
                           std::optional<ZydisMnemonic> instead) {
  ZydisEncoderRequest q;
  if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(&in.head, in.operands,
                                                                   in.head.operand_count_visible, &q)))
    throw GiveUp{};
  bool changed = instead.has_value();
  if (instead) q.mnemonic = *instead;
  const void* rip_target = nullptr;
  for (unsigned n = 0; n < in.head.operand_count_visible; ++n) {
    const ZydisDecodedOperand& o = in.operands[n];
    if (n == 1 && second) {
      q.operands[1] = constant(*second);
      changed = true;
      continue;
    }
    if (!is_memory(o)) continue;
    if (o.mem.base == ZYDIS_REGISTER_RIP) {
      rip_target = in.next() + o.mem.disp.value;
      q.operands[n].mem.displacement = 0;
    }
    const auto f = fold(s, o);
    if (!f) continue;
    auto& m = q.operands[n].mem;
    m.base = f->base;
    m.index = f->index;
    if (f->index == ZYDIS_REGISTER_NONE) m.scale = 0;
    m.displacement = f->displacement;
    changed = true;
  }
  if (changed) return encode(q, rip_target);
  const std::uint32_t start = here();
  out_.code.insert(out_.code.end(), in.at, in.next());
  if (rip_target)
    out_.fixups.push_back({start + in.head.raw.disp.offset, start + in.head.length, rip_target});
}

void Writer::perform(const Instruction& in, State& s) {
  if (evaluator_.evaluate(in, s)) return;
  const bool depends = in.reads_flags() && s.flags.kind == Flags::Kind::kKnown;
  if (!depends || !perform_by_flags(in, s)) perform_anyhow(in, s);
}

void Writer::perform_anyhow(const Instruction& in, State& s) {
  const auto second = second_as_immediate(in, s);
  settle_reads(in, s, second.has_value());
  write_changed(in, s, second);
  forget_written(in, s);
  if (const int r = register_with_case(loop_, in); r != kNone)
    s.registers[r].kind = Register::Kind::kSomeCase;
}

/// An instruction that depends on flags that are known. False: the processor has the one that it
/// depends on now.
bool Writer::perform_by_flags(const Instruction& in, State& s) {
  switch (in.head.meta.category) {
    case ZYDIS_CATEGORY_CMOV: move_if(s.flags.hold(in.condition()), in, s); return true;
    case ZYDIS_CATEGORY_SETCC: set_byte(s.flags.hold(in.condition()), in.operands[0], s); return true;
    default:
      if (in.head.cpu_flags->tested != ZYDIS_CPUFLAG_CF) throw GiveUp{};
      put({s.flags.carry ? 0xF9u : 0xF8u});  // stc, clc
      return false;
  }
}

/// cmov. The half of a register is written either way, and clears the other one.
void Writer::move_if(bool holds, const Instruction& in, State& s) {
  const ZydisDecodedOperand &to = in.operands[0], &from = in.operands[1];
  Register& r = s.registers[general(to.reg.value)];
  if (to.size == 16) throw GiveUp{};
  if (!holds && to.size == 64) return;
  if (const auto v = evaluator_.value_of(s, holds ? from : to)) return r.set(*v, true);
  settle_reads(in, s, false);
  if (holds) write_changed(in, s, {}, ZYDIS_MNEMONIC_MOV);
  else encode(request(ZYDIS_MNEMONIC_MOV, {in_register(to.reg.value), in_register(to.reg.value)}));
  r.forget();
}

void Writer::set_byte(bool value, const ZydisDecodedOperand& to, State& s) {
  if (!is_register(to) || (to.reg.value >= ZYDIS_REGISTER_AH && to.reg.value <= ZYDIS_REGISTER_BH))
    throw GiveUp{};
  const int n = general(to.reg.value);
  Register& r = s.registers[n];
  if (r.known()) return r.set((r.value & ~Word{0xFF}) | value, r.of_operands || s.flags.of_operands);
  settle(s, n);
  encode(request(ZYDIS_MNEMONIC_MOV, {in_register(to.reg.value), constant(value)}));
  r.forget();
}

void Writer::call(const Instruction& in, State& s) {
  // System V's convention: what the callee may look at has to be there, and all but these may
  // change.
  static constexpr bool kSaved[kRegisters] = {false, false, false, true,  true, true, false, false,
                                              false, false, false, false, true, true, true,  true};
  for (int r = 0; r < kRegisters; ++r)
    if (!kSaved[r]) settle(s, r);
  if (in.is_direct()) {
    put({0xE8});
    put_distance_to(in.target());
  } else {
    if (is_register(in.operands[0])) settle(s, general(in.operands[0].reg.value));
    write_changed(in, s, {});
  }
  for (int r = 0; r < kRegisters; ++r)
    if (!kSaved[r]) s.registers[r].forget();
  s.flags = {};
}

}  // namespace vmrun
