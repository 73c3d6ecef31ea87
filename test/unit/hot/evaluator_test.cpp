// SPDX-License-Identifier: Apache-2.0
// What the evaluator says that an instruction does is what the processor does.
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "vm/hot/area.hpp"
#include "vm/hot/evaluator.hpp"
#include "vm/hot/writer.hpp"

using namespace vmrun;
using namespace vmrun::x86;

namespace {

int some_function() { return 1; }

struct Done {
  Word rax, flags;
};

/// Executes one instruction with these values in rax and rcx.
class Processor {
 public:
  Processor() : area_(reinterpret_cast<const void*>(&some_function), 4096), code_(area_.allocate(256)) {}

  Done execute(const std::vector<std::uint8_t>& instruction, Word rax, Word rcx) {
    // mov %rdi, %rax; mov %rsi, %rcx; INSTRUCTION; mov %rax, (%rdx); pushf; pop %rax; mov %rax,
    // 8(%rdx); ret
    std::vector<std::uint8_t> code{0x48, 0x89, 0xF8, 0x48, 0x89, 0xF1};
    code.insert(code.end(), instruction.begin(), instruction.end());
    for (const int b : {0x48, 0x89, 0x02, 0x9C, 0x58, 0x48, 0x89, 0x42, 0x08, 0xC3})
      code.push_back(static_cast<std::uint8_t>(b));
    REQUIRE(area_.install(code_, code.data(), code.size()));
    Done done{};
    reinterpret_cast<void (*)(Word, Word, Done*)>(reinterpret_cast<std::uintptr_t>(code_))(rax, rcx, &done);
    return done;
  }

 private:
  Area area_;
  const std::uint8_t* code_;
};

/// By the processor's flags.
bool holds(Word flags, unsigned condition) {
  Flags f;
  f.carry = flags & 1;
  f.zero = flags >> 6 & 1;
  f.sign = flags >> 7 & 1;
  f.overflow = flags >> 11 & 1;
  return f.hold(condition);
}

std::vector<std::uint8_t> encoded(const ZydisEncoderRequest& q) {
  std::uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
  ZyanUSize length = sizeof bytes;
  REQUIRE(ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&q, bytes, &length)));
  return {bytes, bytes + length};
}

const LoopCode kNoLoop{nullptr, {}, 3, 13, {}};

}  // namespace

TEST_CASE("Operators and moves give what the processor gives, flags included") {
  Processor processor;
  Word no_code[4] = {};
  Evaluator evaluator(kNoLoop, no_code, no_code + 4);
  InstructionRow row{};
  evaluator.current = {no_code, no_code + 1, &row};
  std::mt19937_64 random(11);
  const Word interesting[] = {0,          1,          2,          0x7F,     0x80,          0xFF,
                              0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, ~Word{0}, Word{1} << 63, ~Word{0} >> 1};
  const auto value = [&] {
    return random() % 3 ? interesting[random() % std::size(interesting)] : random() >> random() % 64;
  };
  const ZydisMnemonic operators[] = {ZYDIS_MNEMONIC_ADD,  ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_CMP,
                                     ZYDIS_MNEMONIC_AND,  ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_XOR,
                                     ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_MOV};
  const ZydisMnemonic shifts[] = {ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR};
  const ZydisMnemonic extensions[] = {ZYDIS_MNEMONIC_MOVZX, ZYDIS_MNEMONIC_MOVSX};
  unsigned evaluated = 0;
  for (int n = 0; n < 20'000; ++n) {
    const bool half = random() & 1;
    const ZydisEncoderOperand rax = in_register(half ? half_register(kRax) : whole_register(kRax)),
                              rcx = in_register(half ? half_register(kRcx) : whole_register(kRcx));
    ZydisEncoderRequest q{};
    bool defines_flags = true, defines_overflow = true;
    switch (random() % 5) {
      case 0:
      case 1: q = request(operators[random() % std::size(operators)], {rax, rcx}); break;
      case 2:
        q = request(operators[random() % std::size(operators)],
                    {rax, constant(static_cast<std::int32_t>(value()))});
        break;
      case 3:
        q = request(shifts[random() % std::size(shifts)],
                    {rax, constant(1 + static_cast<SWord>(random() % 31))});
        defines_overflow = q.operands[1].imm.s == 1;
        break;
      default:
        q = request(extensions[random() % std::size(extensions)],
                    {rax, in_register(random() & 1 ? ZYDIS_REGISTER_CL : ZYDIS_REGISTER_CX)});
        defines_flags = false;
    }
    defines_flags &= q.mnemonic != ZYDIS_MNEMONIC_MOV;
    const std::vector<std::uint8_t> bytes = encoded(q);
    const Word a = value(), b = value();
    Instruction in;
    std::vector<std::uint8_t> padded = bytes;
    padded.resize(ZYDIS_MAX_INSTRUCTION_LENGTH);
    REQUIRE(decode(padded.data(), &in));
    State s;
    s.registers[kRax].set(a, false);
    s.registers[kRcx].set(b, false);
    REQUIRE(evaluator.evaluate(in, s));
    ++evaluated;
    const Done done = processor.execute(bytes, a, b);
    CAPTURE(q.mnemonic, half, a, b);
    REQUIRE(s.registers[kRax].value == done.rax);
    if (!defines_flags) continue;
    REQUIRE(s.flags.kind == Flags::Kind::kKnown);
    for (unsigned condition = 0; condition < 16; ++condition) {
      if (condition >> 1 == 5) continue;  // parity
      if (!defines_overflow && (condition >> 1 == 0 || condition >> 1 >= 6)) continue;
      REQUIRE(s.flags.hold(condition) == holds(done.flags, condition));
    }
  }
  CHECK(evaluated == 20'000);
}

TEST_CASE("What depends on flags that are known gives what the processor gives") {
  Processor processor;
  Word no_code[4] = {};
  InstructionRow row{};
  std::mt19937_64 random(12);
  const Word interesting[] = {0, 1, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, ~Word{0}, Word{1} << 63};
  const auto value = [&] { return random() % 2 ? interesting[random() % std::size(interesting)] : random(); };
  const ZydisMnemonic moves[] = {ZYDIS_MNEMONIC_CMOVB,  ZYDIS_MNEMONIC_CMOVZ,  ZYDIS_MNEMONIC_CMOVNBE,
                                 ZYDIS_MNEMONIC_CMOVNL, ZYDIS_MNEMONIC_CMOVLE, ZYDIS_MNEMONIC_CMOVS};
  const ZydisMnemonic sets[] = {ZYDIS_MNEMONIC_SETB,  ZYDIS_MNEMONIC_SETZ,  ZYDIS_MNEMONIC_SETNBE,
                                ZYDIS_MNEMONIC_SETNL, ZYDIS_MNEMONIC_SETLE, ZYDIS_MNEMONIC_SETNO};
  const ZydisMnemonic with_carry[] = {ZYDIS_MNEMONIC_ADC, ZYDIS_MNEMONIC_SBB};
  for (int n = 0; n < 20'000; ++n) {
    const bool half = random() & 1;
    const ZydisEncoderOperand rax = in_register(half ? half_register(kRax) : whole_register(kRax)),
                              rcx = in_register(half ? half_register(kRcx) : whole_register(kRcx));
    ZydisEncoderRequest q{};
    switch (random() % 3) {
      case 0: q = request(moves[random() % std::size(moves)], {rax, rcx}); break;
      case 1: q = request(sets[random() % std::size(sets)], {in_register(ZYDIS_REGISTER_AL)}); break;
      default: q = request(with_carry[random() % std::size(with_carry)], {rax, rcx});
    }
    // cmp $limit, %edx comes first: there the value of rdx is known.
    const auto compared = static_cast<Word>(value()), limit = static_cast<Word>(random() % 3);
    const auto first = encoded(
        request(ZYDIS_MNEMONIC_CMP, {in_register(half_register(2)), constant(static_cast<SWord>(limit))}));
    const std::vector<std::uint8_t> second = encoded(q);
    const Word a = value(), b = value();
    CAPTURE(q.mnemonic, half, a, b, compared, limit);

    HotFunction made;
    Evaluator evaluator(kNoLoop, no_code, no_code + 4);
    evaluator.current = {no_code, no_code + 1, &row};
    Writer writer(kNoLoop, evaluator, made);
    State s;
    s.registers[2].set(compared, false);
    if (random() & 1) s.registers[kRax].set(a, false);
    if (random() & 1) s.registers[kRcx].set(b, false);
    for (const auto& bytes : {first, second}) {
      std::vector<std::uint8_t> padded = bytes;
      padded.resize(ZYDIS_MAX_INSTRUCTION_LENGTH);
      Instruction in;
      REQUIRE(decode(padded.data(), &in));
      writer.perform(in, s);
    }
    writer.settle(s, kRax);
    writer.settle(s, kRcx);

    // The processor gets rdx there by `mov`, pushed, for Processor needs it.
    std::vector<std::uint8_t> whole{0x52, 0x48, 0xBA};
    for (unsigned i = 0; i < 64; i += 8) whole.push_back(static_cast<std::uint8_t>(compared >> i));
    for (const auto& bytes : {first, second}) whole.insert(whole.end(), bytes.begin(), bytes.end());
    whole.push_back(0x5A);
    REQUIRE(processor.execute(made.code, a, b).rax == processor.execute(whole, a, b).rax);
  }
}

TEST_CASE("Only an instruction's operands are constants: its operation may change at any time") {
  Word code[4] = {0x1234'5678'9ABC'0011, 7, 9, 11};
  Evaluator evaluator(kNoLoop, code, code + 4);
  InstructionRow row{};
  evaluator.current = {code, code + 2, &row};
  State s;
  s.registers[3].set(reinterpret_cast<Word>(code), true);
  const auto load = [&](ZydisMnemonic m, std::int64_t at, unsigned bytes) {
    auto padded = encoded(request(
        m, {in_register(bytes == 2 ? ZYDIS_REGISTER_EAX : ZYDIS_REGISTER_RAX), in_memory(3, at, bytes)}));
    padded.resize(ZYDIS_MAX_INSTRUCTION_LENGTH);
    Instruction in;
    REQUIRE(decode(padded.data(), &in));
    s.registers[kRax].forget();
    return evaluator.evaluate(in, s);
  };
  REQUIRE(load(ZYDIS_MNEMONIC_MOVZX, 2, 2));
  CHECK(s.registers[kRax].value == 0x9ABC);
  REQUIRE(load(ZYDIS_MNEMONIC_MOV, 8, 8));
  CHECK(s.registers[kRax].value == 7);
  CHECK(!load(ZYDIS_MNEMONIC_MOV, 0, 8));   // the operation is in it
  CHECK(!load(ZYDIS_MNEMONIC_MOV, 16, 8));  // another instruction's
  REQUIRE(load(ZYDIS_MNEMONIC_MOVZX, 16, 2));
  CHECK(s.registers[kRax].kind == Register::Kind::kOperation);
  REQUIRE(load(ZYDIS_MNEMONIC_MOVZX, 0, 2));
  CHECK(s.registers[kRax].kind == Register::Kind::kOperation);
  // A word that belongs to the next instruction.
  row.flags = InstructionRow::kEntry;
  CHECK(!load(ZYDIS_MNEMONIC_MOV, 8, 8));
}
