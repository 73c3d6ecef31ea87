// SPDX-License-Identifier: Apache-2.0
// What the compiler's assembler for x86-64 writes is what its header says: taken apart again by
// Zydis. (What is more than one instruction of the processor is executed: executed_test.cpp.)
#include <Zydis/Zydis.h>
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "vm/jit/allocation.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/native_frame.hpp"

using namespace vmrun;
using namespace vmrun::jit;

namespace {

using Emit = std::function<void(Assembler&)>;
using Bytes = std::vector<std::uint8_t>;

constexpr unsigned kRegisters = 16;  // of either kind
/// What the processor calls them, in the order of Register::number; of 64, 32 and 8 bits.
const std::string kNames[] = {"rax", "rsi", "rdi", "r8",  "r9",  "r10", "rdx", "r15",
                              "r14", "rcx", "r11", "rbx", "r12", "r13", "rbp", "rsp"};
const std::string kHalfNames[] = {"eax",  "esi", "edi",  "r8d", "r9d",  "r10d", "edx", "r15d",
                                  "r14d", "ecx", "r11d", "ebx", "r12d", "r13d", "ebp", "esp"};
const std::string kConditions[] = {"z", "nz", "l", "nl", "nbe", "be", "o", "b", "nb", "le"};
constexpr unsigned kComparisons = std::size(kConditions);

constexpr SWord kLeast32 = std::numeric_limits<std::int32_t>::min();
constexpr SWord kMost32 = std::numeric_limits<std::int32_t>::max();
const SWord kDisplacements[] = {0, 8, -8, 1, 127, -128, 128, -129, kMost32, kLeast32};
const SWord kConstants32[] = {0, 1, -1, 15, ~SWord{15}, 127, -128, 128, -129, 0xFFFF, kMost32, kLeast32};
/// Those that no instruction but one has room for.
const SWord kConstants64[] = {kMost32 + 1,
                              kLeast32 - 1,
                              0xFFFFFFFF,
                              SWord{1} << 32,
                              std::numeric_limits<SWord>::max(),
                              std::numeric_limits<SWord>::min()};

Register r(unsigned n) { return {static_cast<std::uint8_t>(n)}; }
FloatRegister f(unsigned n) { return {static_cast<std::uint8_t>(n)}; }
const std::string& name(Register of) { return kNames[of.number]; }
std::string name(FloatRegister of) { return "xmm" + std::to_string(of.number); }
std::string hex(Word w) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lX", w);
  return text;
}
std::string with_sign(SWord w) {
  return w < 0 ? "-" + hex(-static_cast<Word>(w)) : hex(static_cast<Word>(w));
}
std::string place(Register base, SWord displacement) {
  if (displacement == 0) return "[" + name(base) + "]";
  return "[" + name(base) + (displacement > 0 ? "+" : "") + with_sign(displacement) + "]";
}
std::string memory(Register base, SWord displacement) { return "qword ptr " + place(base, displacement); }
std::string memory_32(Register base, SWord displacement) { return "dword ptr " + place(base, displacement); }

Bytes code_of(const Emit& emit) {
  Assembler a;
  emit(a);
  return a.finish();
}
/// Formats sizes of memory, no leading zeros, and constants as numbers without a sign.
const ZydisFormatter& formatter() {
  static const ZydisFormatter made = [] {
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    for (const auto padding : {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_DISP_PADDING,
                               ZYDIS_FORMATTER_PROP_IMM_PADDING})
      ZydisFormatterSetProperty(&f, padding, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED);
    return f;
  }();
  return made;
}
/// All instructions, one behind the other; addresses are those in the code.
std::string taken_apart(const Bytes& code) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  std::string all;
  for (std::size_t at = 0; at < code.size();) {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char text[128];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data() + at, code.size() - at, &i, operands)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter(), &i, operands, i.operand_count_visible,
                                                      text, sizeof text, at, nullptr)))
      return all + "?";
    all += (all.empty() ? "" : "; ") + std::string(text);
    at += i.length;
  }
  return all;
}
void is(const std::string& text, const Emit& emit) { CHECK(taken_apart(code_of(emit)) == text); }

template <class Do>
void each_pair(Do what) {
  for (unsigned a = 0; a < kRegisters; ++a)
    for (unsigned b = 0; b < kRegisters; ++b) what(r(a), r(b));
}
template <class Do>
void each_place(Do what) {
  for (unsigned base = 0; base < kRegisters; ++base)
    for (const SWord displacement : kDisplacements) what(r(base), displacement);
}

}  // namespace

TEST_CASE("Registers of the assembler are these of the processor") {
  CHECK(name(kScratch) == "rcx");
  CHECK(name(kScratch2) == "r11");
  CHECK(name(kStack) == "rbx");
  CHECK(name(kHeap) == "r12");
  CHECK(name(kProcess) == "r13");
  CHECK(name(kXRegisters) == "rbp");
  CHECK(name(kFrame) == "rsp");
  for (unsigned n = 0; n < kGeneral; ++n)
    CHECK_FALSE((r(n) == kScratch || r(n) == kScratch2 || n >= kStack.number));
}

TEST_CASE("Moves, loads and stores") {
  each_pair([](Register to, Register from) {
    is(to == from ? "" : "mov " + name(to) + ", " + name(from), [=](Assembler& a) { a.move(to, from); });
    for (const SWord d : kDisplacements) {
      is("mov " + name(to) + ", " + memory(from, d), [=](Assembler& a) { a.load(to, from, d); });
      is("mov " + memory(to, d) + ", " + name(from), [=](Assembler& a) { a.store(to, d, from); });
      is("lea " + name(to) + ", " + place(from, d), [=](Assembler& a) { a.address(to, from, d); });
    }
  });
  for (unsigned n = 0; n < kRegisters; ++n) {
    for (const SWord c : kConstants32) {
      const auto w = static_cast<Word>(c);
      is("mov " + (c < 0 ? kNames : kHalfNames)[n] + ", " + hex(w), [=](Assembler& a) { a.move(r(n), w); });
    }
    for (const SWord c : kConstants64) {
      const auto w = static_cast<Word>(c);
      is("mov " + (w >> 32 ? kNames : kHalfNames)[n] + ", " + hex(w), [=](Assembler& a) { a.move(r(n), w); });
    }
  }
  each_place([](Register base, SWord d) {
    for (const SWord c : kConstants32)
      is("mov " + memory(base, d) + ", " + hex(static_cast<Word>(c)),
         [=](Assembler& a) { a.store(base, d, static_cast<Word>(c)); });
    if (base == kScratch) return;
    for (const SWord c : kConstants64) {
      const auto w = static_cast<Word>(c);
      is("mov " + std::string(w >> 32 ? "rcx" : "ecx") + ", " + hex(w) + "; mov " + memory(base, d) + ", rcx",
         [=](Assembler& a) { a.store(base, d, w); });
    }
  });
}

TEST_CASE("Arithmetic and comparisons") {
  using OfTwo = void (Assembler::*)(Register, Register);
  const std::pair<const char*, OfTwo> of_two[] = {
      {"add", &Assembler::add},    {"sub", &Assembler::subtract}, {"imul", &Assembler::multiply},
      {"and", &Assembler::and_},   {"or", &Assembler::or_},       {"xor", &Assembler::xor_},
      {"cmp", &Assembler::compare}};
  each_pair([&](Register to, Register other) {
    for (const auto& [mnemonic, method] : of_two)
      is(std::string(mnemonic) + " " + name(to) + ", " + name(other),
         [=](Assembler& a) { (a.*method)(to, other); });
  });
  using OfConstant = void (Assembler::*)(Register, SWord);
  const std::pair<const char*, OfConstant> of_constant[] = {
      {"add", &Assembler::add}, {"and", &Assembler::and_}, {"or", &Assembler::or_}};
  for (unsigned n = 0; n < kRegisters; ++n) {
    for (const SWord c : kConstants32) {
      const std::string operands = name(r(n)) + ", " + hex(static_cast<Word>(c));
      for (const auto& [mnemonic, method] : of_constant)
        is(std::string(mnemonic) + " " + operands, [=](Assembler& a) { (a.*method)(r(n), c); });
      is("cmp " + operands, [=](Assembler& a) { a.compare(r(n), static_cast<Word>(c)); });
    }
    for (unsigned bits = 0; bits < 64; ++bits) {
      is("shl " + name(r(n)) + ", " + hex(bits), [=](Assembler& a) { a.shift_left(r(n), bits); });
      is("sar " + name(r(n)) + ", " + hex(bits), [=](Assembler& a) { a.shift_right(r(n), bits); });
    }
    is("test " + name(r(n)) + ", " + name(r(n)), [=](Assembler& a) { a.test_zero(r(n)); });
  }
  each_place([](Register base, SWord d) {
    for (const SWord c : kConstants32) {
      const auto i = static_cast<std::int32_t>(c);
      const auto u = static_cast<std::uint32_t>(c);
      is("cmp " + memory_32(base, d) + ", " + hex(u), [=](Assembler& a) { a.compare_memory_32(base, d, i); });
      is("cmp " + memory(base, d) + ", " + hex(static_cast<Word>(c)),
         [=](Assembler& a) { a.compare_memory_64(base, d, i); });
      is("test " + memory_32(base, d) + ", " + hex(u), [=](Assembler& a) { a.test_bits(base, d, u); });
    }
    is("dec " + memory_32(base, d), [=](Assembler& a) { a.count_down(base, d); });
    is("jmp " + memory(base, d), [=](Assembler& a) { a.jump_through(base, d); });
  });
}

TEST_CASE("Bytes in memory, and their order") {
  const std::string names_8[] = {"al",   "sil", "dil",  "r8b", "r9b",  "r10b", "dl",  "r15b",
                                 "r14b", "cl",  "r11b", "bl",  "r12b", "r13b", "bpl", "spl"};
  const std::string names_16[] = {"ax",   "si", "di",   "r8w", "r9w",  "r10w", "dx", "r15w",
                                  "r14w", "cx", "r11w", "bx",  "r12w", "r13w", "bp", "sp"};
  each_pair([&](Register to, Register base) {
    for (const SWord d : kDisplacements) {
      const std::string at = " ptr " + place(base, d);
      const unsigned n = to.number;
      is("movzx " + kHalfNames[n] + ", byte" + at, [=](Assembler& a) { a.load_bytes(to, base, d, 1); });
      is("movzx " + kHalfNames[n] + ", word" + at, [=](Assembler& a) { a.load_bytes(to, base, d, 2); });
      is("mov " + kHalfNames[n] + ", dword" + at, [=](Assembler& a) { a.load_bytes(to, base, d, 4); });
      is("mov " + kNames[n] + ", qword" + at, [=](Assembler& a) { a.load_bytes(to, base, d, 8); });
      is("mov byte" + at + ", " + names_8[n], [=](Assembler& a) { a.store_bytes(base, d, to, 1); });
      is("mov word" + at + ", " + names_16[n], [=](Assembler& a) { a.store_bytes(base, d, to, 2); });
      is("mov dword" + at + ", " + kHalfNames[n], [=](Assembler& a) { a.store_bytes(base, d, to, 4); });
      is("mov qword" + at + ", " + kNames[n], [=](Assembler& a) { a.store_bytes(base, d, to, 8); });
      is("sub dword" + at + ", " + kHalfNames[n], [=](Assembler& a) { a.subtract_32(base, d, to); });
    }
  });
  each_place([](Register base, SWord d) {
    const std::string at = " ptr " + place(base, d);
    const Word c = 0x8182838485868788;
    is("mov byte" + at + ", 0x88", [=](Assembler& a) { a.store_bytes(base, d, c, 1); });
    is("mov word" + at + ", 0x8788", [=](Assembler& a) { a.store_bytes(base, d, c, 2); });
    is("mov dword" + at + ", 0x85868788", [=](Assembler& a) { a.store_bytes(base, d, c, 4); });
    if (base == kScratch) return;
    is("mov rcx, " + hex(c) + "; mov qword" + at + ", rcx",
       [=](Assembler& a) { a.store_bytes(base, d, c, 8); });
  });
  for (unsigned n = 0; n < kRegisters; ++n) {
    is("bswap " + kNames[n], [=](Assembler& a) { a.swap_bytes(r(n), 8); });
    is("bswap " + kHalfNames[n], [=](Assembler& a) { a.swap_bytes(r(n), 4); });
    is("rol " + names_16[n] + ", 0x8", [=](Assembler& a) { a.swap_bytes(r(n), 2); });
    for (unsigned bits = 0; bits < 64; ++bits)
      is("shr " + kNames[n] + ", " + hex(bits), [=](Assembler& a) { a.shift_right_unsigned(r(n), bits); });
    is("shl " + kNames[n] + ", cl", [=](Assembler& a) { a.shift_left(r(n)); });
    is("test " + names_8[n] + ", 0xFF", [=](Assembler& a) { a.test_bits(r(n), 0xFF); });
    is("test " + kHalfNames[n] + ", 0x7FFFFFFF", [=](Assembler& a) { a.test_bits(r(n), 0x7FFFFFFF); });
    if (r(n) == kScratch) continue;
    is("mov ecx, 0x80000000; test " + kNames[n] + ", rcx",
       [=](Assembler& a) { a.test_bits(r(n), 0x80000000); });
    is("mov rcx, " + hex(~Word{0x7F0}) + "; test " + kNames[n] + ", rcx",
       [=](Assembler& a) { a.test_bits(r(n), ~Word{0x7F0}); });
  }
}

TEST_CASE("Floats are moved, loaded and stored") {
  for (unsigned n = 0; n < kRegisters; ++n) {
    for (unsigned m = 0; m < kRegisters; ++m)
      is(n == m ? "" : "movapd " + name(f(n)) + ", " + name(f(m)), [=](Assembler& a) { a.move(f(n), f(m)); });
    for (unsigned m = 0; m < kRegisters; ++m) {
      is("ucomisd " + name(f(n)) + ", " + name(f(m)), [=](Assembler& a) { a.compare(f(n), f(m)); });
      is("xorpd " + name(f(n)) + ", " + name(f(n)) + "; cvtsi2sd " + name(f(n)) + ", " + name(r(m)),
         [=](Assembler& a) { a.to_float(f(n), r(m)); });
    }
    each_place([=](Register base, SWord d) {
      is("movsd " + name(f(n)) + ", " + memory(base, d), [=](Assembler& a) { a.load(f(n), base, d); });
      is("movsd " + memory(base, d) + ", " + name(f(n)), [=](Assembler& a) { a.store(base, d, f(n)); });
    });
    is("xorpd " + name(f(n)) + ", " + name(f(n)), [=](Assembler& a) { a.constant(f(n), 0); });
    is("mov rcx, 0x8000000000000000; movq " + name(f(n)) + ", rcx",
       [=](Assembler& a) { a.constant(f(n), Word{1} << 63); });
  }
}

TEST_CASE("Jumps go where their labels are, near and far") {
  for (const unsigned bytes : {0u, 100u, 127u, 128u, 200u}) {
    const Bytes between(bytes, 0x90);
    const auto goes = [&](const std::string& mnemonic, const std::function<void(Assembler&, Label)>& jump) {
      // Forward, and back.
      Assembler a;
      const Label ahead = a.label(), behind = a.label();
      jump(a, ahead);
      const std::uint32_t from = a.here();
      a.data(between.data(), bytes);
      a.bind(ahead);
      CHECK(a.here() == from + bytes);
      const std::string target = hex(a.here());
      a.bind(behind);
      a.data(between.data(), bytes);
      jump(a, behind);
      const Bytes code = a.finish();
      const std::string text = taken_apart(code);
      CHECK(text.starts_with(mnemonic + " " + target));
      CHECK(text.ends_with(mnemonic + " " + target));
    };
    goes("jmp", [](Assembler& a, Label to) { a.jump(to); });
    goes("jle", [](Assembler& a, Label to) { a.jump_if_not_positive(to); });
    for (unsigned c = 0; c < kComparisons; ++c)
      goes("j" + kConditions[c], [=](Assembler& a, Label to) { a.jump_if(static_cast<Comparison>(c), to); });
  }
}

TEST_CASE("Jumps out of the code leave four bytes for the distance") {
  const int there = 0;
  const auto leads = [&](const std::string& mnemonic, const Emit& emit) {
    Assembler a;
    a.test_zero(r(0));
    emit(a);
    const std::uint32_t end = a.here();
    REQUIRE(a.outward().size() == 1);
    CHECK(a.outward()[0].at == end - 4);
    CHECK(a.outward()[0].target == &there);
    Bytes code = a.finish();
    const std::int32_t distance = 0x1000;
    std::memcpy(code.data() + end - 4, &distance, 4);
    CHECK(taken_apart(code) == "test rax, rax; " + mnemonic + " " + hex(end + 0x1000));
  };
  leads("jmp", [&](Assembler& a) { a.jump_outward(&there); });
  leads("call", [&](Assembler& a) { a.call_outward(&there); });
  for (unsigned c = 0; c < kComparisons; ++c)
    leads("j" + kConditions[c], [&](Assembler& a) { a.jump_if_outward(static_cast<Comparison>(c), &there); });
}

TEST_CASE("What is aligned begins where data of that size ends") {
  for (unsigned before = 0; before < 20; ++before)
    for (const unsigned size : {0u, 8u, 3u}) {
      Assembler a;
      const Bytes bytes(20, 0x90);
      a.data(bytes.data(), before);
      a.align_behind(size);
      CHECK((a.here() + size) % 16 == 0);
      CHECK(a.here() - before < 16);
      const Bytes code = a.finish();
      for (std::size_t n = before; n < code.size(); ++n) CHECK(code[n] == 0xCC);  // nobody comes here
    }
}

TEST_CASE("Code that is entered and left keeps what its caller has") {
  is("push rbx; push rbp; push r12; push r13; push r14; push r15; sub rsp, 0x2C8; mov r13, rdi; "
     "lea rbp, [rsi-0x10]; mov rax, qword ptr [rsp+0x2F8]; mov qword ptr [rbp+0x8], rax; "
     "mov qword ptr [rsp+0x200], rdx",
     [](Assembler& a) { CHECK(a.enter_code() == kScratch); });
  static_assert(kFloatsSlot * sizeof(Word) == 0x200);
  for (unsigned n = 0; n < kRegisters; ++n) {
    is("mov rax, " + name(r(n)) +
           "; mov edx, 0x5; add rsp, 0x2C8; pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx; ret",
       [=](Assembler& a) { a.leave_code(r(n), 5); });
    is("jmp " + name(r(n)), [=](Assembler& a) { a.jump_to(r(n)); });
  }
}

TEST_CASE("Functions of C++ are called with the processor's stack aligned") {
  // A return address lies there, so 8 bytes more make 16.
  is("mov qword ptr [r13+0x10], r12; mov qword ptr [r13+0x18], rbx; mov rdi, r13; "
     "lea rsi, [rbp+0x10]; sub rsp, 0x8; call r11; add rsp, 0x8; mov r12, qword ptr [r13+0x10]; mov rbx, "
     "qword ptr [r13+0x18]; test rax, rax; ret",
     [](Assembler& a) { a.call_of_process(0x10, 0x18); });
}
