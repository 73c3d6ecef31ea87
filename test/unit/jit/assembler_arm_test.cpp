// SPDX-License-Identifier: Apache-2.0
// What the compiler's assembler for 64-bit ARM writes, whatever processor this runs on, is what its
// header says: taken apart again by Capstone. (What it does on that processor: executed_test.cpp.)
#include <capstone/capstone.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "vm/jit/allocation.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/compile_function.hpp"
#include "vm/jit/native_frame.hpp"

using namespace vmrun;
using namespace vmrun::jit;

namespace {

using Emit = std::function<void(Assembler&)>;
using Bytes = std::vector<std::uint8_t>;

constexpr unsigned kRegisters = kFrame.number + 1, kFloatRegisters = kFloatScratch2.number + 1;
constexpr SWord kLeast32 = std::numeric_limits<std::int32_t>::min();
constexpr SWord kMost32 = std::numeric_limits<std::int32_t>::max();
const SWord kDisplacements[] = {0,    8,    -8,    1,     -2,    6,       255,     256,
                                -256, -257, 32760, 32768, 65520, kMost32, kLeast32};
const SWord kConstants[] = {0,
                            1,
                            -1,
                            15,
                            4095,
                            -4095,
                            4096,
                            -4096,
                            4097,
                            0xFFF000,
                            -0xFFF000,
                            0x1000000,
                            -5000,
                            0xFFFF,
                            0x12345,
                            kMost32,
                            kLeast32,
                            kMost32 + 1,
                            kLeast32 - 1,
                            0xFFFFFFFF,
                            SWord{1} << 32,
                            std::numeric_limits<SWord>::max(),
                            std::numeric_limits<SWord>::min(),
                            0x123456789ABCDEF0};
const SWord kMasks[] = {
    1,      3,          15, ~SWord{15}, 0x3F,           0xFF,
    0xFFFF, 0x7FFFFFFF, 8,  7,          SWord{1} << 62, std::numeric_limits<SWord>::min()};
const SWord kNoMasks[] = {0, -1, 5, 0x101, 0x7F1, ~SWord{5}, 0xF00F00F0};

Register r(unsigned n) { return {static_cast<std::uint8_t>(n)}; }
FloatRegister f(unsigned n) { return {static_cast<std::uint8_t>(n)}; }
std::string name(Register of) {
  const std::string others[] = {"x14", "x15", "x19", "x20", "x21", "x29", "sp"};
  const unsigned n = of.number;
  return n < kGeneral ? "x" + std::to_string(n < 14 ? n : n + 8) : others[n - kGeneral];
}
std::string half(Register of) { return "w" + name(of).substr(1); }
std::string name(FloatRegister of) { return "d" + std::to_string(of.number < 8 ? of.number : of.number + 8); }
std::string hex(Word w) {
  char text[24];
  std::snprintf(text, sizeof text, w > 9 ? "0x%lx" : "%lu", w);
  return text;
}
std::string number(SWord w) {
  return (w < 0 ? "#-" : "#") + hex(w < 0 ? -static_cast<Word>(w) : static_cast<Word>(w));
}

/// The value of `#0x12`, or of `#0x12, lsl #16`.
Word value_of(const std::string& text) {
  const std::size_t shift = text.find("lsl #");
  const char* const digits = text.c_str() + 1;
  const Word w = text[1] == '-' ? static_cast<Word>(std::strtoll(digits, nullptr, 0))
                                : std::strtoull(digits, nullptr, 0);
  return shift == std::string::npos ? w : w << std::atoi(text.c_str() + shift + 5);
}

/// Instructions that make a constant become one: `x16 = 0x12345`, the value of the whole register.
class Constants {
 public:
  /// False: it makes none.
  bool take(const std::string& mnemonic, const std::string& operands) {
    const std::size_t comma = operands.find(", ");
    if (comma == std::string::npos) return false;
    const std::string to = operands.substr(0, comma);
    std::string from = operands.substr(comma + 2);
    const bool is_half = to[0] == 'w';
    const std::string whole = "x" + to.substr(1);
    const Word mask = is_half ? 0xFFFFFFFF : ~Word{0};
    Word value;
    if (mnemonic == "movk" && whole == in_) {
      const std::size_t shift = from.find("lsl #");
      const int bits = shift == std::string::npos ? 0 : std::atoi(from.c_str() + shift + 5);
      value = (value_ & ~(Word{0xFFFF} << bits)) | value_of(from);
    } else if (!in_.empty()) {
      return false;
    } else if (mnemonic == "orr" && from.starts_with(is_half ? "wzr, #" : "xzr, #")) {
      value = value_of(from.substr(5));
    } else if (from[0] != '#' || (mnemonic != "mov" && mnemonic != "movz" && mnemonic != "movn")) {
      return false;
    } else {
      value = mnemonic == "movn" ? ~value_of(from) : value_of(from);
    }
    in_ = whole;
    value_ = value & mask;
    return true;
  }
  /// What has been taken, which begins anew.
  std::string made() {
    const std::string text = in_.empty() ? "" : in_ + " = " + hex(value_);
    in_.clear();
    return text;
  }

 private:
  std::string in_;
  Word value_ = 0;
};

/// All instructions, one behind the other; addresses are those in the code.
std::string taken_apart(const Bytes& code) {
  struct Handle {
    csh h = 0;
    Handle() { REQUIRE(cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &h) == CS_ERR_OK); }
  };
  static const Handle handle;
  cs_insn* found = nullptr;
  const std::size_t count = cs_disasm(handle.h, code.data(), code.size(), 0, 0, &found);
  std::string all;
  const auto append = [&](const std::string& text) {
    if (!text.empty()) all += (all.empty() ? "" : "; ") + text;
  };
  Constants constants;
  for (std::size_t n = 0; n < count; ++n) {
    const std::string mnemonic = found[n].mnemonic;
    std::string operands = found[n].op_str;
    if (constants.take(mnemonic, operands)) continue;
    append(constants.made());
    if (constants.take(mnemonic, operands)) continue;
    // Versions differ in the sign of masks.
    const std::size_t sign = mnemonic == "tst" ? operands.find("#-") : std::string::npos;
    if (sign != std::string::npos)
      operands = operands.substr(0, sign + 1) + hex(value_of(operands.substr(sign)));
    append(operands.empty() ? mnemonic : mnemonic + " " + operands);
  }
  append(constants.made());
  if (count * 4 != code.size()) append("?");
  if (count) cs_free(found, count);
  return all;
}
Bytes code_of(const Emit& emit) {
  Assembler a;
  emit(a);
  return a.finish();
}
void is(const std::string& text, const Emit& emit) { CHECK(taken_apart(code_of(emit)) == text); }

std::string made(const std::string& in, SWord value) {
  return in + " = " + hex(static_cast<Word>(value)) + "; ";
}

/// A load or store of so many bytes: by a scaled displacement, by a small one, or by a register.
std::string access(const std::string& mnemonic, const std::string& of, const std::string& base, SWord d,
                   unsigned bytes, const std::string& temp = "x16") {
  const auto size = static_cast<SWord>(bytes);
  if (d == 0) return mnemonic + " " + of + ", [" + base + "]";
  if (d > 0 && d % size == 0 && d / size < 4096)
    return mnemonic + " " + of + ", [" + base + ", " + number(d) + "]";
  if (d >= -256 && d < 256)
    return mnemonic.substr(0, 2) + "u" + mnemonic.substr(2) + " " + of + ", [" + base + ", " + number(d) +
           "]";
  return made(temp, d) + mnemonic + " " + of + ", [" + base + ", " + temp + "]";
}
std::string load(const std::string& to, const std::string& base, SWord d) {
  return access("ldr", to, base, d, to[0] == 'w' ? 4 : 8);
}
std::string store(const std::string& from, const std::string& base, SWord d) {
  return access("str", from, base, d, from[0] == 'w' ? 4 : 8);
}
bool fits(SWord v) { return v >= 0 && (v < 4096 || (v % 4096 == 0 && v < 1 << 24)); }
std::string small(SWord v) { return v < 4096 ? number(v) : number(v / 4096) + ", lsl #12"; }
/// An instruction, the opposite one, or the first one with a register.
std::string by_constant(const std::string& mnemonic, const std::string& opposite, const std::string& operands,
                        SWord c, const std::string& temp) {
  if (fits(c)) return mnemonic + " " + operands + ", " + small(c);
  if (c > -(1 << 24) && fits(-c)) return opposite + " " + operands + ", " + small(-c);
  return made(temp, temp[0] == 'w' ? static_cast<std::uint32_t>(c) : c) + mnemonic + " " + operands + ", " +
         temp;
}
/// `cmp` of constants in 32 bits.
std::string compared_32(const std::string& reg, SWord c) {
  std::string text = by_constant("cmp", "cmn", reg, c, "w17");
  return text.starts_with("w17 =") ? "x" + text.substr(1) : text;
}

template <class Do>
void each_pair(Do what) {
  for (unsigned a = 0; a < kFrame.number; ++a)
    for (unsigned b = 0; b < kFrame.number; ++b) what(r(a), r(b));
}
template <class Do>
void each_place(Do what) {
  for (unsigned base = 0; base < kRegisters; ++base)
    for (const SWord displacement : kDisplacements) what(r(base), displacement);
}

}  // namespace

TEST_CASE("Registers of the assembler are these of the processor") {
  CHECK(name(kScratch) == "x14");
  CHECK(name(kScratch2) == "x15");
  CHECK(name(kStack) == "x19");
  CHECK(name(kHeap) == "x20");
  CHECK(name(kProcess) == "x21");
  CHECK(name(kXRegisters) == "x29");
  CHECK(name(kFrame) == "sp");
  // C++ functions keep x19 to x28, and return and take words in x0 and those that follow.
  for (unsigned n = 0; n < kGeneral; ++n) {
    const int id = std::atoi(name(r(n)).c_str() + 1);
    CHECK((id < 18 || id > 18));
    CHECK((kKept >> n & 1) == (id >= 19 && id <= 28));
  }
  for (unsigned n = 0; n < std::size(kArguments); ++n) CHECK(name(kArguments[n]) == "x" + std::to_string(n));
  CHECK(name(kResult) == "x0");
  for (unsigned n = 0; n < kFloatRegisters; ++n) {
    const int id = std::atoi(name(f(n)).c_str() + 1);
    CHECK((id < 8 || id > 15));
    CHECK(id < 32);
  }
}

TEST_CASE("Moves, loads and stores") {
  each_pair([](Register to, Register from) {
    is(to == from ? "" : "mov " + name(to) + ", " + name(from), [=](Assembler& a) { a.move(to, from); });
    for (const SWord d : kDisplacements)
      is(d == 0 && to == from ? ""
                              : (d == 0 ? "add " + name(to) + ", " + name(from) + ", #0"
                                        : by_constant("add", "sub", name(to) + ", " + name(from), d, "x16")),
         [=](Assembler& a) { a.address(to, from, d); });
    is("add x16, " + name(to) + ", " + name(from) + "; ldur x3, [x16, #-9]",
       [=](Assembler& a) { a.load(r(3), to, from, -9); });
    is("add x16, " + name(to) + ", " + name(from) + ", lsl #3; ldur x3, [x16, #6]",
       [=](Assembler& a) { a.load_indexed(r(3), to, from, 6); });
  });
  for (unsigned n = 0; n < kFrame.number; ++n)
    for (const SWord c : kConstants)
      is(name(r(n)) + " = " + hex(static_cast<Word>(c)),
         [=](Assembler& a) { a.move(r(n), static_cast<Word>(c)); });
  each_place([](Register base, SWord d) {
    for (unsigned n = 0; n < kFrame.number; ++n) {
      is(load(name(r(n)), name(base), d), [=](Assembler& a) { a.load(r(n), base, d); });
      is(store(name(r(n)), name(base), d), [=](Assembler& a) { a.store(base, d, r(n)); });
    }
    const bool is_far = access("str", "x", "x", d, 8).starts_with("x16 =");
    const std::string where = is_far ? made("x16", d) : "",
                      with = is_far ? store("x17", name(base), d).substr(where.size())
                                    : store("x17", name(base), d);
    for (const SWord c : kConstants)
      is(c ? where + made("x17", c) + with : store("xzr", name(base), d),
         [=](Assembler& a) { a.store(base, d, static_cast<Word>(c)); });
  });
  is("ldr q31, [x5, #0x10]; stur q31, [x6, #8]", [](Assembler& a) { a.copy_two(r(6), 8, r(5), 16); });
  is("x16 = 0x107; ldr q31, [x5, x16]; x16 = 0x108; str q31, [x6, x16]",
     [](Assembler& a) { a.copy_two(r(6), 0x108, r(5), 0x107); });
}

TEST_CASE("Arithmetic and comparisons") {
  using OfTwo = void (Assembler::*)(Register, Register);
  const std::pair<const char*, OfTwo> of_two[] = {{"adds", &Assembler::add},
                                                  {"subs", &Assembler::subtract},
                                                  {"and", &Assembler::and_},
                                                  {"orr", &Assembler::or_},
                                                  {"eor", &Assembler::xor_}};
  each_pair([&](Register to, Register other) {
    for (const auto& [mnemonic, method] : of_two)
      is(std::string(mnemonic) + " " + name(to) + ", " + name(to) + ", " + name(other),
         [=, method = method](Assembler& a) { (a.*method)(to, other); });
    is("cmp " + name(to) + ", " + name(other), [=](Assembler& a) { a.compare(to, other); });
    is("smulh x16, " + name(to) + ", " + name(other) + "; mul " + name(to) + ", " + name(to) + ", " +
           name(other) + "; cmp x16, " + name(to) + ", asr #63; ccmp xzr, xzr, #1, eq",
       [=](Assembler& a) { a.multiply(to, other); });
    is("sdiv x16, " + name(to) + ", " + name(other) + "; msub x17, x16, " + name(other) + ", " + name(to),
       [=](Assembler& a) { a.divide(to, other); });
    is("lsr w16, " + half(to) + ", " + half(other) + "; and w16, w16, #1; cmp wzr, w16",
       [=](Assembler& a) { a.test_bit(to, other); });
  });
  for (unsigned n = 0; n < kFrame.number; ++n) {
    const std::string of = name(r(n)), twice = of + ", " + of;
    for (const SWord c : kConstants) {
      is(by_constant("adds", "subs", twice, c, "x17"), [=](Assembler& a) { a.add(r(n), c); });
      is(by_constant("cmp", "cmn", of, c, "x17"),
         [=](Assembler& a) { a.compare(r(n), static_cast<Word>(c)); });
    }
    for (const SWord c : kMasks) {
      const std::string hexed = "#" + hex(static_cast<Word>(c));
      is("and " + twice + ", " + hexed, [=](Assembler& a) { a.and_(r(n), c); });
      is("orr " + twice + ", " + hexed, [=](Assembler& a) { a.or_(r(n), c); });
      is("tst " + of + ", " + hexed, [=](Assembler& a) { a.test_bits(r(n), static_cast<Word>(c)); });
      is("sub x16, " + of + ", #3; tst x16, " + hexed, [=](Assembler& a) { a.test_difference(r(n), 3, c); });
    }
    for (const SWord c : kNoMasks) {
      is(made("x17", c) + "and " + twice + ", x17", [=](Assembler& a) { a.and_(r(n), c); });
      is(made("x17", c) + "orr " + twice + ", x17", [=](Assembler& a) { a.or_(r(n), c); });
      is(made("x17", c) + "tst " + of + ", x17",
         [=](Assembler& a) { a.test_bits(r(n), static_cast<Word>(c)); });
    }
    is("subs " + twice + ", #1", [=](Assembler& a) { a.subtract_one(r(n)); });
    is("cmp " + of + ", #0", [=](Assembler& a) { a.test_zero(r(n)); });
    for (unsigned bits = 1; bits < 64; ++bits) {
      is("lsl " + twice + ", " + number(bits), [=](Assembler& a) { a.shift_left(r(n), bits); });
      is("asr " + twice + ", " + number(bits), [=](Assembler& a) { a.shift_right(r(n), bits); });
      is("lsr " + twice + ", " + number(bits), [=](Assembler& a) { a.shift_right_unsigned(r(n), bits); });
    }
    is("lsl " + twice + ", x14", [=](Assembler& a) { a.shift_left(r(n)); });
    is("asr " + twice + ", x14", [=](Assembler& a) { a.shift_right(r(n)); });
  }
  each_place([](Register base, SWord d) {
    for (const SWord c : kConstants) {
      if (c < kLeast32 || c > kMost32) continue;
      const auto i = static_cast<std::int32_t>(c);
      is(load("w16", name(base), d) + "; " + compared_32("w16", i),
         [=](Assembler& a) { a.compare_memory_32(base, d, i); });
      is(load("x16", name(base), d) + "; " + by_constant("cmp", "cmn", "x16", i, "x17"),
         [=](Assembler& a) { a.compare_memory_64(base, d, i); });
    }
    is(load("w16", name(base), d) + "; tst x16, #0xf0", [=](Assembler& a) { a.test_bits(base, d, 0xF0); });
    is(load("w17", name(base), d) + "; subs w17, w17, #1; " + store("w17", name(base), d),
       [=](Assembler& a) { a.count_down(base, d); });
    is(load("w17", name(base), d) + "; sub w17, w17, w7; " + store("w17", name(base), d),
       [=](Assembler& a) { a.subtract_32(base, d, r(7)); });
    is(load("x16", name(base), d) + "; br x16", [=](Assembler& a) { a.jump_through(base, d); });
  });
  for (const SWord d : kDisplacements) {
    const std::string loaded = "add x16, x3, x4, lsl #3; " + access("ldr", "x16", "x16", d, 8, "x17");
    is(loaded + "; cmp x16, x5", [=](Assembler& a) { a.compare_memory_64(r(3), r(4), d, r(5)); });
    is(loaded + "; cmn x16, #1", [=](Assembler& a) { a.compare_memory_64(r(3), r(4), d, -1); });
  }
}

TEST_CASE("Bytes in memory, and their order") {
  const std::pair<unsigned, const char*> sizes[] = {{1, "b"}, {2, "h"}, {4, ""}, {8, ""}};
  for (const auto& [bytes, suffix] : sizes)
    each_place([&, bytes = bytes, suffix = std::string(suffix)](Register base, SWord d) {
      for (unsigned n = 0; n < kFrame.number; ++n) {
        const std::string of = bytes == 8 ? name(r(n)) : half(r(n));
        is(access("ldr" + suffix, of, name(base), d, bytes),
           [=](Assembler& a) { a.load_bytes(r(n), base, d, bytes); });
        is(access("str" + suffix, of, name(base), d, bytes),
           [=](Assembler& a) { a.store_bytes(base, d, r(n), bytes); });
      }
      const Word c = 0x8182838485868788, kept = c << (64 - 8 * bytes) >> (64 - 8 * bytes);
      const std::string stored = access("str" + suffix, bytes == 8 ? "x17" : "w17", name(base), d, bytes);
      const std::size_t at = stored.starts_with("x16 =") ? stored.find("; ") + 2 : 0;
      is(stored.substr(0, at) + made("x17", static_cast<SWord>(kept)) + stored.substr(at),
         [=](Assembler& a) { a.store_bytes(base, d, c, bytes); });
    });
  for (unsigned n = 0; n < kFrame.number; ++n) {
    is("rev " + name(r(n)) + ", " + name(r(n)), [=](Assembler& a) { a.swap_bytes(r(n), 8); });
    is("rev " + half(r(n)) + ", " + half(r(n)), [=](Assembler& a) { a.swap_bytes(r(n), 4); });
    is("rev16 " + half(r(n)) + ", " + half(r(n)), [=](Assembler& a) { a.swap_bytes(r(n), 2); });
  }
}

TEST_CASE("Floats are moved, loaded, stored and computed") {
  using Op = Assembler::FloatOperation;
  const std::pair<Op, const char*> operations[] = {
      {Op::kAdd, "fadd"}, {Op::kSubtract, "fsub"}, {Op::kMultiply, "fmul"}, {Op::kDivide, "fdiv"}};
  for (unsigned n = 0; n < kFloatRegisters; ++n) {
    const std::string of = name(f(n));
    for (unsigned m = 0; m < kFloatRegisters; ++m) {
      is(n == m ? "" : "fmov " + of + ", " + name(f(m)), [=](Assembler& a) { a.move(f(n), f(m)); });
      is("fcmp " + of + ", " + name(f(m)), [=](Assembler& a) { a.compare(f(n), f(m)); });
      for (const auto& [op, mnemonic] : operations)
        is(std::string(mnemonic) + " " + of + ", " + name(f(m)) + ", " + of,
           [=, op = op](Assembler& a) { a.operate(op, f(n), f(m), f(n)); });
    }
    for (unsigned m = 0; m < kFrame.number; ++m)
      is("scvtf " + of + ", " + name(r(m)), [=](Assembler& a) { a.to_float(f(n), r(m)); });
    each_place([=](Register base, SWord d) {
      is(load(of, name(base), d), [=](Assembler& a) { a.load(f(n), base, d); });
      is(store(of, name(base), d), [=](Assembler& a) { a.store(base, d, f(n)); });
    });
    is("fmov " + of + ", xzr", [=](Assembler& a) { a.constant(f(n), 0); });
    is("x16 = 0x8000000000000000; fmov " + of + ", x16",
       [=](Assembler& a) { a.constant(f(n), Word{1} << 63); });
    Assembler a;
    const Label there = a.label();
    a.jump_if_not_finite(f(n), there);
    a.bind(there);
    CHECK(taken_apart(a.finish()) == "fsub d30, " + of + ", " + of + "; fcmp d30, d30; b.vs #0xc");
  }
}

TEST_CASE("Jumps go where their labels are, or say that they cannot") {
  const std::string conditions[] = {"eq", "ne", "lt", "ge", "hi", "ls", "vs", "lo", "hs", "le", "vc"};
  const auto goes = [](const std::string& mnemonic, const std::function<void(Assembler&, Label)>& jump) {
    Assembler a;
    const Label ahead = a.label(), behind = a.label();
    a.bind(behind);
    jump(a, ahead);
    jump(a, behind);
    a.bind(ahead);
    CHECK(taken_apart(a.finish()) == mnemonic + " #8; " + mnemonic + " #0");
  };
  goes("b", [](Assembler& a, Label to) { a.jump(to); });
  goes("b.le", [](Assembler& a, Label to) { a.jump_if_not_positive(to); });
  for (unsigned c = 0; c < std::size(conditions); ++c)
    goes("b." + conditions[c], [=](Assembler& a, Label to) { a.jump_if(static_cast<Comparison>(c), to); });
  for (const unsigned between : {0xFFFF8u, 0x100000u})
    for (const bool is_forward : {true, false}) {
      const Bytes nothing(between);
      Assembler a;
      const Label there = a.label();
      if (!is_forward) a.bind(there);
      if (is_forward) a.jump_if(Comparison::kEqual, there);
      a.data(nothing.data(), between);
      if (is_forward) a.bind(there);
      if (!is_forward) a.jump_if(Comparison::kEqual, there);
      CHECK(a.finish().empty() == (between == 0x100000u && is_forward));
    }
}

TEST_CASE("Jumps out of the code are led to where they go") {
  constexpr std::uint8_t place[4096] = {};
  for (const SWord distance :
       {SWord{0x1000}, SWord{-0x1000}, (SWord{1} << 27) - 64, -(SWord{1} << 27) + 64}) {
    const auto leads = [&](const std::string& before, const std::string& mnemonic, const Emit& emit) {
      Assembler a;
      emit(a);
      HotFunction made;
      made.fixups = a.outward();
      made.code = a.finish();
      REQUIRE(made.fixups.size() == 1);
      lead_outward(&made, place);
      CHECK(taken_apart(made.code) == before + mnemonic + " #" + hex(static_cast<Word>(distance)));
    };
    const auto* const target = reinterpret_cast<const void*>(reinterpret_cast<SWord>(place) + distance);
    leads("", "b", [=](Assembler& a) { a.jump_outward(target); });
    leads("", "bl", [=](Assembler& a) { a.call_outward(target); });
    leads("b.ne #8; ", "b", [=](Assembler& a) { a.jump_if_outward(Comparison::kEqual, target); });
    leads("b.ls #8; ", "b", [=](Assembler& a) { a.jump_if_outward(Comparison::kAbove, target); });
  }
}

TEST_CASE("What is aligned begins where data of that size ends") {
  for (unsigned before = 0; before < 20; before += 4) {
    Assembler a;
    const Bytes bytes(20);
    a.data(bytes.data(), before);
    a.align_behind(8);
    CHECK((a.here() + 8) % 16 == 0);
    CHECK(a.here() - before < 16);
    for (const std::uint8_t b : a.finish()) CHECK(b == 0);  // undefined
  }
}

TEST_CASE("Code that is entered and left keeps what its caller has") {
  const std::string pairs[] = {"x19, x20, [sp, #0x10]", "x21, x22, [sp, #0x20]", "x23, x24, [sp, #0x30]",
                               "x25, x26, [sp, #0x40]", "x27, x28, [sp, #0x50]"};
  std::string saves, restores;
  for (const std::string& pair : pairs) saves += "stp " + pair + "; ", restores += "ldp " + pair + "; ";
  static_assert(kFloatsSlot * sizeof(Word) == 0x200 && kFrameWords * sizeof(Word) <= 0x370);
  is("stp x29, x30, [sp, #-0x60]!; " + saves +
         "sub sp, sp, #0x370; mov x21, x0; sub x29, x1, #0x10; str x30, [x29, #8]; str x2, [sp, #0x200]; mov "
         "x15, x3",
     [](Assembler& a) { CHECK(a.enter_code() == kAddress); });
  for (unsigned n = 1; n < kFrame.number; ++n) {
    is("mov x0, " + name(r(n)) + "; x1 = 5; add sp, sp, #0x370; " + restores +
           "ldp x29, x30, [sp], #0x60; ret",
       [=](Assembler& a) { a.leave_code(r(n), 5); });
    is("br " + name(r(n)), [=](Assembler& a) { a.jump_to(r(n)); });
  }
}

TEST_CASE("Functions of C++ are called with a frame record") {
  is("str x20, [x21, #0x10]; str x19, [x21, #0x18]; mov x0, x21; add x1, x29, #0x10; stp x29, x30, [sp, "
     "#-0x10]!; "
     "mov x29, sp; blr x15; ldp x29, x30, [sp], #0x10; ldr x20, [x21, #0x10]; ldr x19, [x21, #0x18]; cmp x0, "
     "#0; ret",
     [](Assembler& a) { a.call_of_process(0x10, 0x18); });
}
