// SPDX-License-Identifier: Apache-2.0
// What the compiler's assembler writes does what its header says, when this processor executes it.
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "vm/hot/area.hpp"
#include "vm/jit/allocation.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/native_frame.hpp"

using namespace vmrun;
using namespace vmrun::jit;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr unsigned kComparisons = 10;
constexpr SWord kLeast32 = std::numeric_limits<std::int32_t>::min();
constexpr SWord kMost32 = std::numeric_limits<std::int32_t>::max();
/// Those that instructions of few processors have room for.
const SWord kConstants64[] = {kMost32 + 1,
                              kLeast32 - 1,
                              0xFFFFFFFF,
                              SWord{1} << 32,
                              std::numeric_limits<SWord>::max(),
                              std::numeric_limits<SWord>::min()};

Register r(unsigned n) { return {static_cast<std::uint8_t>(n)}; }
FloatRegister f(unsigned n) { return {static_cast<std::uint8_t>(n)}; }

/// The registers that code may use, without those that point to these.
constexpr unsigned kUsable = kXRegisters.number, kFloatRegisters = kFloatScratch2.number + 1;
struct State {
  FrameRecord record;
  Word general[kUsable];
  double floats[kFloatRegisters];
};

/// Executes code with all registers set, and tells whether it went to the label.
class Processor {
 public:
  Processor() : area_(reinterpret_cast<const void*>(&r), 1 << 16), at_(area_.allocate(kBytes)) {}

  bool execute(State* state, const std::function<void(Assembler&, Label)>& emit) {
    Assembler a;
    a.enter_code();
    for (unsigned n = 0; n < kFloatRegisters; ++n) a.load(f(n), kXRegisters, float_at(n));
    for (unsigned n = 0; n < kUsable; ++n) a.load(r(n), kXRegisters, general_at(n));
    const Label there = a.label();
    emit(a, there);
    leave(a, 0);
    a.bind(there);
    leave(a, 1);
    const Bytes code = a.finish();
    REQUIRE(code.size() <= kBytes);
    REQUIRE(area_.install(at_, code.data(), code.size()));
    using Enter = Left (*)(void*, Word*, double*, const void*);
    const Left left = reinterpret_cast<Enter>(reinterpret_cast<std::uintptr_t>(at_))(nullptr, state->general,
                                                                                     nullptr, nullptr);
    CHECK(reinterpret_cast<Word>(left.at) == state->general[3]);
    CHECK(state->record.return_address);
    return static_cast<Word>(left.how) == 1;
  }

 private:
  static constexpr unsigned kBytes = 2048;
  static SWord general_at(unsigned n) { return x_at(n); }
  static SWord float_at(unsigned n) { return general_at(kUsable + n); }
  static void leave(Assembler& a, Word how) {
    for (unsigned n = 0; n < kUsable; ++n) a.store(kXRegisters, general_at(n), r(n));
    for (unsigned n = 0; n < kFloatRegisters; ++n) a.store(kXRegisters, float_at(n), f(n));
    a.leave_code(r(3), how);
  }

  Area area_;
  const std::uint8_t* at_;
};

State some_state() {
  static std::mt19937_64 random(36);
  State s;
  for (Word& w : s.general) w = random() >> random() % 64;
  for (double& d : s.floats) d = static_cast<double>(random() % 1000) / 8 + 1;
  return s;
}
/// Whether nothing has changed but registers of these numbers.
bool same_but(const State& before, const State& now, unsigned general, unsigned floats) {
  for (unsigned n = 0; n < kUsable; ++n)
    if (!(general >> n & 1) && before.general[n] != now.general[n]) return false;
  for (unsigned n = 0; n < kFloatRegisters; ++n)
    if (!(floats >> n & 1) && std::memcmp(&before.floats[n], &now.floats[n], sizeof(double)) != 0)
      return false;
  return true;
}
constexpr unsigned kNothing = 0;
unsigned only(Register of) { return 1u << of.number; }
unsigned only(FloatRegister of) { return 1u << of.number; }

}  // namespace
TEST_CASE("Quotient and remainder of any two registers") {
  Processor processor;
  const SWord numbers[] = {0, 1, -1, 7, -7, 1000, std::numeric_limits<SWord>::max(), -(SWord{1} << 59)};
  const SWord divisors[] = {1, 2, -2, 3, 10, -1000, SWord{1} << 58};
  for (unsigned by = 0; by <= kScratch2.number; ++by)
    for (unsigned of = 0; of <= kScratch2.number; ++of) {
      const bool uses_scratch = r(by) == kQuotient || r(by) == kRemainder;
      if (uses_scratch && r(of) == kScratch2) continue;
      for (const SWord x : numbers)
        for (const SWord y : divisors) {
          State s = some_state();
          s.general[of] = static_cast<Word>(x);
          s.general[by] = static_cast<Word>(y);
          const State before = s;
          const auto n = static_cast<SWord>(before.general[of]);
          processor.execute(&s, [=](Assembler& a, Label) {
            a.divide(r(of), r(by));
            a.move(r(1), kQuotient);
            a.move(r(2), kRemainder);
          });
          CHECK(static_cast<SWord>(s.general[1]) == n / y);
          CHECK(static_cast<SWord>(s.general[2]) == n % y);
          CHECK(same_but(before, s,
                         only(r(1)) | only(r(2)) | kDivisionChanges | (uses_scratch ? only(kScratch2) : 0),
                         kNothing));
        }
    }
}

TEST_CASE("Results that do not fit are told from others") {
  Processor processor;
  const SWord numbers[] = {0,
                           1,
                           -1,
                           16,
                           -16,
                           0x7FFFFFFF,
                           SWord{1} << 31,
                           SWord{1} << 32,
                           -(SWord{1} << 32),
                           SWord{1} << 62,
                           std::numeric_limits<SWord>::max(),
                           std::numeric_limits<SWord>::min()};
  using OfTwo = void (Assembler::*)(Register, Register);
  const std::pair<OfTwo, bool (*)(SWord, SWord, SWord*)> operations[] = {
      {&Assembler::add, [](SWord x, SWord y, SWord* z) { return __builtin_add_overflow(x, y, z); }},
      {&Assembler::subtract, [](SWord x, SWord y, SWord* z) { return __builtin_sub_overflow(x, y, z); }},
      {&Assembler::multiply, [](SWord x, SWord y, SWord* z) { return __builtin_mul_overflow(x, y, z); }}};
  for (const auto& [method, compute] : operations)
    for (const SWord x : numbers)
      for (const SWord y : numbers)
        for (const Comparison c : {Comparison::kOverflow, Comparison::kNotOverflow}) {
          State s = some_state();
          s.general[4] = static_cast<Word>(x);
          s.general[6] = static_cast<Word>(y);
          const State before = s;
          SWord result;
          const bool overflows = compute(x, y, &result);
          // What is done between an operation and the jump: no flag is changed.
          CHECK(processor.execute(&s, [=, method = method](Assembler& a, Label there) {
            (a.*method)(r(4), r(6));
            a.address(r(5), r(4), 15);
            a.address(r(7), r(4), 1 << 20 | 1);
            a.store(kFrame, 0, r(4));
            a.jump_if(c, there);
          }) == (overflows == (c == Comparison::kOverflow)));
          CHECK(static_cast<SWord>(s.general[4]) == result);
          CHECK(same_but(before, s, only(r(4)) | only(r(5)) | only(r(7)), kNothing));
        }
  for (const SWord x : numbers)
    for (const SWord y :
         {SWord{16}, SWord{-16}, SWord{4096}, SWord{-4096}, SWord{70000}, SWord{-70000}, kMost32, kLeast32}) {
      State s = some_state();
      s.general[8] = static_cast<Word>(x);
      SWord result;
      const bool overflows = __builtin_add_overflow(x, y, &result);
      CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
        a.add(r(8), y);
        a.jump_if(Comparison::kOverflow, there);
      }) == overflows);
      CHECK(static_cast<SWord>(s.general[8]) == result);
    }
  for (const Word x : {0, 1, 2}) {
    State s = some_state();
    s.general[8] = x;
    CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
      a.subtract_one(r(8));
      a.jump_if(Comparison::kBelow, there);
    }) == (x == 0));
    CHECK(s.general[8] == x - 1);
  }
}

TEST_CASE("Memory is read, written, compared and counted in") {
  Processor processor;
  Word memory[40];
  const auto fill = [&] {
    for (Word& w : memory) w = some_state().general[0];
  };
  const auto base = reinterpret_cast<Word>(memory);
  for (const SWord d : {0, 8, 1, 63, 255, 256, 257}) {
    const char* const at = reinterpret_cast<const char*>(memory) + d;
    const auto there_is = [&](unsigned bytes) {
      Word w = 0;
      std::memcpy(&w, at, bytes);
      return w;
    };
    for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
      fill();
      State s = some_state();
      s.general[4] = base;
      processor.execute(&s, [=](Assembler& a, Label) { a.load_bytes(r(5), r(4), d, bytes); });
      CHECK(s.general[5] == there_is(bytes));
      processor.execute(&s, [=](Assembler& a, Label) {
        a.store_bytes(r(4), d, r(6), bytes);
        a.load_bytes(r(5), r(4), d, bytes);
        a.store_bytes(r(4), d, 0x8182838485868788, bytes);
      });
      const unsigned unused = 64 - 8 * bytes;
      CHECK(s.general[5] == s.general[6] << unused >> unused);
      CHECK(there_is(bytes) == 0x8182838485868788 << unused >> unused);
      if (bytes == 1) continue;
      const Word turned = __builtin_bswap64(there_is(bytes)) >> unused;
      processor.execute(&s, [=](Assembler& a, Label) {
        a.load_bytes(r(5), r(4), d, bytes);
        a.swap_bytes(r(5), bytes);
      });
      CHECK(s.general[5] == turned);
    }
    fill();
    State s = some_state();
    s.general[4] = base, s.general[6] = 2;
    for (const Word more : {0, 1}) {
      s.general[5] = there_is(8) + more;
      CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
        a.address(r(7), r(4), -16);
        a.compare_memory_64(r(7), r(6), d, r(5));
        a.jump_if(Comparison::kEqual, there);
      }) == (more == 0));
    }
    processor.execute(&s, [=](Assembler& a, Label) {
      a.load_indexed(r(5), r(4), r(6), d - 16);
      a.load(r(8), r(4), r(6), d - 2);
      a.copy_two(r(4), 280, r(4), d);
    });
    CHECK(s.general[5] == there_is(8));
    CHECK(s.general[8] == there_is(8));
    CHECK(std::memcmp(memory + 35, at, std::min<std::size_t>(16, static_cast<std::size_t>(280 - d))) == 0);
    for (const std::int32_t c : {1, -1, 5000, -5000, std::int32_t{kMost32}}) {
      processor.execute(&s, [=](Assembler& a, Label) {
        a.store(r(4), d, static_cast<Word>(c));
        a.store(r(4), d + 8, Word{0});
      });
      CHECK(there_is(8) == static_cast<Word>(c));
      for (const std::int32_t with : {c, c - 1}) {
        CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
          a.compare_memory_64(r(4), d, with);
          a.jump_if(Comparison::kEqual, there);
        }) == (with == c));
        CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
          a.compare_memory_32(r(4), d, with);
          a.jump_if(Comparison::kNotGreater, there);
        }) == (c <= with));
        CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
          a.test_bits(r(4), d, static_cast<std::uint32_t>(with));
          a.jump_if(Comparison::kEqual, there);
        }) == ((c & with) == 0));
      }
      processor.execute(&s, [=](Assembler& a, Label) { a.subtract_32(r(4), d, r(6)); });
      CHECK(there_is(4) == static_cast<std::uint32_t>(c - 2));
      CHECK(there_is(8) >> 32 == static_cast<Word>(c) >> 32);
    }
  }
}

TEST_CASE("Bits are tested, and shifted by a register") {
  Processor processor;
  for (unsigned bit = 0; bit < 64; ++bit) {
    State s = some_state();
    s.general[4] = Word{1} << bit | Word{1} << 40;
    s.general[5] = bit, s.general[kScratch.number] = bit;
    CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
      a.test_bits(r(4), Word{1} << bit);
      a.jump_if(Comparison::kNotEqual, there);
    }));
    s.general[kScratch.number] = bit;
    if (bit < 32) {
      for (const Word of : {s.general[4], ~s.general[4]}) {
        s.general[6] = of;
        CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
          a.test_bit(r(6), r(5));
          a.jump_if(Comparison::kBelow, there);
        }) == (of >> bit & 1));
      }
    }
    const State before = s;
    processor.execute(&s, [=](Assembler& a, Label) { a.shift_left(r(4)); });
    CHECK(s.general[4] == before.general[4] << bit);
    s = before;
    s.general[4] = ~Word{0} << 63 | before.general[4];
    const auto number = static_cast<SWord>(s.general[4]);
    processor.execute(&s, [=](Assembler& a, Label) { a.shift_right(r(4)); });
    CHECK(static_cast<SWord>(s.general[4]) == number >> bit);
  }
}

TEST_CASE("Large constants are compared by way of a scratch register, and stored so") {
  Processor processor;
  for (unsigned n = 0; n < kUsable; ++n)
    for (const SWord c : kConstants64)
      for (const SWord more : {0, 1, -1}) {
        State s = some_state();
        const auto w = static_cast<Word>(c);
        s.general[n] = w + static_cast<Word>(more);
        const State before = s;
        const bool equal = processor.execute(&s, [=](Assembler& a, Label there) {
          a.compare(r(n), w);
          a.jump_if(Comparison::kEqual, there);
        });
        CHECK(equal == (more == 0));
        CHECK(same_but(before, s, only(r(n) == kScratch ? kScratch2 : kScratch), kNothing));
      }
}

TEST_CASE("Comparisons and jumps of every kind hold when they should") {
  Processor processor;
  const Word values[] = {0, 1, 2, ~Word{0}, Word{1} << 63, ~Word{0} >> 1, 0x80000000};
  for (const Word x : values)
    for (const Word y : values) {
      const auto sx = static_cast<SWord>(x), sy = static_cast<SWord>(y);
      SWord difference;
      const bool holds[] = {
          x == y, x != y,  sx<sy, sx >= sy, x> y, x <= y, __builtin_sub_overflow(sx, sy, &difference), x < y,
          x >= y, sx <= sy};
      for (unsigned c = 0; c < kComparisons; ++c) {
        State s = some_state();
        s.general[5] = x, s.general[8] = y;
        const State before = s;
        CHECK(processor.execute(&s, [=](Assembler& a, Label there) {
          a.compare(r(5), r(8));
          a.jump_if(static_cast<Comparison>(c), there);
        }) == holds[c]);
        CHECK(same_but(before, s, kNothing, kNothing));
      }
    }
}

TEST_CASE("A tag is tested by the difference to it") {
  Processor processor;
  for (unsigned n = 0; n < kUsable; ++n)
    for (const SWord mask : {3, 15, 0x3F})
      for (Word tag = 0; tag <= static_cast<Word>(mask); ++tag)
        for (const Word value : {tag, tag + 1, ~Word{0} << 6 | tag, (~Word{0} << 6 | tag) - 1}) {
          State s = some_state();
          s.general[n] = value;
          const State before = s;
          const bool equal = processor.execute(&s, [=](Assembler& a, Label there) {
            a.test_difference(r(n), tag, mask);
            a.jump_if(Comparison::kEqual, there);
          });
          CHECK(equal == ((value & static_cast<Word>(mask)) == tag));
          CHECK(same_but(before, s, only(kScratch), kNothing));
        }
}

TEST_CASE("Floats of any three registers are computed") {
  Processor processor;
  using Op = Assembler::FloatOperation;
  const std::pair<Op, double (*)(double, double)> operations[] = {
      {Op::kAdd, [](double x, double y) { return x + y; }},
      {Op::kSubtract, [](double x, double y) { return x - y; }},
      {Op::kMultiply, [](double x, double y) { return x * y; }},
      {Op::kDivide, [](double x, double y) { return x / y; }}};
  for (const auto& [op, compute] : operations)
    for (unsigned to = 0; to < kFloatRegisters; ++to)
      for (unsigned x = 0; x < kFloatRegisters; ++x)
        for (unsigned y = 0; y < kFloatRegisters; ++y) {
          const bool uses_scratch = to == y && to != x;
          if (uses_scratch && (f(x) == kFloatScratch || f(to) == kFloatScratch)) continue;
          State s = some_state();
          const State before = s;
          processor.execute(&s, [=, op = op](Assembler& a, Label) { a.operate(op, f(to), f(x), f(y)); });
          CHECK(s.floats[to] == compute(before.floats[x], before.floats[y]));
          CHECK(same_but(before, s, kNothing, only(f(to)) | (uses_scratch ? only(kFloatScratch) : 0)));
        }
}

TEST_CASE("Numbers that are infinite or none are told from others") {
  Processor processor;
  using Limits = std::numeric_limits<double>;
  for (unsigned n = 0; n < kFloatRegisters; ++n)
    for (const double d : {0.0, -0.0, 1.0, Limits::max(), -Limits::max(), Limits::denorm_min(),
                           Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
      State s = some_state();
      s.floats[n] = d;
      const State before = s;
      CHECK(processor.execute(&s, [=](Assembler& a, Label there) { a.jump_if_not_finite(f(n), there); }) ==
            !std::isfinite(d));
      CHECK(same_but(before, s, only(kScratch), only(kFloatScratch)));
    }
}

TEST_CASE("Constants and integers become floats") {
  Processor processor;
  for (unsigned n = 0; n < kFloatRegisters; ++n)
    for (const double d : {0.0, -0.0, 1.5, -1e300, 5e-324}) {
      State s = some_state();
      const State before = s;
      processor.execute(&s, [=](Assembler& a, Label) { a.constant(f(n), std::bit_cast<Word>(d)); });
      CHECK(std::bit_cast<Word>(s.floats[n]) == std::bit_cast<Word>(d));
      CHECK(same_but(before, s, only(kScratch), only(f(n))));
    }
  for (unsigned n = 0; n < kUsable; ++n)
    for (const SWord i : {SWord{0}, SWord{-1}, (SWord{1} << 53) + 1, -(SWord{1} << 59)}) {
      State s = some_state();
      s.general[n] = static_cast<Word>(i);
      const State before = s;
      const FloatRegister to = f(n % kFloatRegisters);
      processor.execute(&s, [=](Assembler& a, Label) { a.to_float(to, r(n)); });
      CHECK(s.floats[to.number] == static_cast<double>(i));
      CHECK(same_but(before, s, kNothing, only(to)));
    }
}

TEST_CASE("Floats are compared as numbers without a sign are") {
  Processor processor;
  for (const double x : {0.0, -0.0, 1.0, -1.0, 1e300})
    for (const double y : {0.0, 1.0, -1.0, 1e300}) {
      const std::pair<Comparison, bool> holds[] = {
          {Comparison::kAbove, x > y}, {Comparison::kNotAbove, x <= y}, {Comparison::kEqual, x == y}};
      for (const auto& [c, expected] : holds) {
        State s = some_state();
        s.floats[2] = x, s.floats[9] = y;
        CHECK(processor.execute(&s, [=, c = c](Assembler& a, Label there) {
          a.compare(f(2), f(9));
          a.jump_if(c, there);
        }) == expected);
      }
    }
}

TEST_CASE("A count ends at zero") {
  Processor processor;
  for (const std::int32_t count : {2, 1, 0, -1}) {
    State s = some_state();
    Word memory = 0xABCDEF0000000000 | static_cast<std::uint32_t>(count);
    s.general[7] = reinterpret_cast<Word>(&memory);
    CHECK(processor.execute(&s, [](Assembler& a, Label there) {
      a.count_down(r(7), 0);
      a.jump_if_not_positive(there);
    }) == (count <= 1));
    CHECK(memory == ((0xABCDEF0000000000 & ~Word{0xFFFFFFFF}) | static_cast<std::uint32_t>(count - 1)));
  }
}
