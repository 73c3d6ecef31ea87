// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "vm/heap/heap.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/number_text.hpp"

using namespace vmrun;

namespace {

Term parse(Heap& h, const char* digits) { return integer_from_text(h, digits, 10); }
std::string text(Term t) { return integer_to_text(t, 10); }

}  // namespace

TEST_CASE("integers change between small and big exactly at 60 bits") {
  Arena h;
  const Term max = Term::small(Term::kSmallMax), min = Term::small(Term::kSmallMin);
  const Term above = arith_add(h, max, Term::small(1)), below = arith_subtract(h, min, Term::small(1));
  CHECK(above.is_big());
  CHECK(text(above) == "576460752303423488");
  CHECK(below.is_big());
  CHECK(text(below) == "-576460752303423489");
  CHECK(arith_subtract(h, above, Term::small(1)) == max);
  CHECK(arith_add(h, below, Term::small(1)) == min);
  CHECK(arith_negate(h, min).is_big());
  CHECK(arith_negate(h, arith_negate(h, min)) == min);
  CHECK(arith_div(h, min, Term::small(-1)).is_big());
}

TEST_CASE("64-bit conversions hold at their limits") {
  Arena h;
  std::int64_t s;
  std::uint64_t u;
  for (const std::int64_t v : {std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}, std::int64_t{0}}) {
    REQUIRE(integer_to_int64(make_integer(h, v), &s));
    CHECK(s == v);
  }
  REQUIRE(integer_to_uint64(make_unsigned(h, ~std::uint64_t{0}), &u));
  CHECK(u == ~std::uint64_t{0});
  CHECK_FALSE(integer_to_int64(make_unsigned(h, std::uint64_t{1} << 63), &s));
  CHECK_FALSE(integer_to_uint64(Term::small(-1), &u));
  CHECK_FALSE(integer_to_uint64(parse(h, "18446744073709551616"), &u));
}

TEST_CASE("integers and doubles compare as the numbers they are") {
  Arena h;
  const Term odd = parse(h, "9007199254740993");  // 2^53 + 1, which no double is
  CHECK(compare_integer_to_double(odd, 9007199254740992.0) > 0);
  CHECK(compare_integer_to_double(odd, 9007199254740994.0) < 0);
  CHECK(compare_integer_to_double(Term::small(1), 1.5) < 0);
  CHECK(compare_integer_to_double(Term::small(-1), -1.5) > 0);
  CHECK(compare_integer_to_double(Term::small(0), -0.0) == 0);
  CHECK(compare_integer_to_double(Term::small(0), 1e-300) < 0);
  const Term huge = big_shift_left(h, Term::small(1), 5000);
  CHECK(compare_integer_to_double(huge, 1e308) > 0);
  CHECK(compare_integer_to_double(big_negate(h, huge), -1e308) < 0);
  double d;
  CHECK_FALSE(integer_to_double(huge, &d));
  REQUIRE(integer_to_double(odd, &d));
  CHECK(d == 9007199254740992.0);  // ties to even
  // By digits of 64 bits, each of them rounded, as in OTP; the nearest double is
  // 9.223372036559164e19.
  REQUIRE(integer_to_double(parse(h, "92233720365591633975"), &d));
  CHECK(d == 9.223372036559163e19);
}

TEST_CASE("doubles turn into integers exactly") {
  Arena h;
  CHECK(text(integer_from_double(h, 1e23)) == "99999999999999991611392");
  CHECK(text(integer_from_double(h, -0x1p59)) == "-576460752303423488");
  CHECK(integer_from_double(h, -0x1p59).is_small());
  CHECK(integer_from_double(h, 0x1p59).is_big());
  CHECK(text(integer_from_double(h, std::numeric_limits<double>::max())).size() == 309);
}

TEST_CASE("what cannot be says why") {
  Arena h;
  const Term one = Term::small(1), atom = atoms::ok;
  CHECK_FALSE(arith_bsl(h, one, Term::small(1 << 26)));
  CHECK(arith_failure(ArithOp::kBsl, one, Term::small(1 << 26)) == atoms::system_limit);
  CHECK_FALSE(arith_add(h, one, atom));
  CHECK(arith_failure(ArithOp::kAdd, one, atom) == atoms::badarith);
  CHECK_FALSE(arith_div(h, one, Term::small(0)));
  CHECK(arith_failure(ArithOp::kDiv, one, Term::small(0)) == atoms::badarith);
  const Term widest = big_shift_left(h, one, max_limbs() * 64 - 1);
  REQUIRE(widest);
  CHECK_FALSE(big_add(h, widest, widest));
  CHECK_FALSE(big_multiply(h, widest, Term::small(4)));
}

TEST_CASE("long integers survive text in every base") {
  Arena h;
  Term n = Term::small(1);
  for (int i = 1; i <= 500; ++i) n = arith_multiply(h, n, Term::small(i));
  for (unsigned base = 2; base <= 36; ++base) {
    const std::string s = integer_to_text(n, base);
    CHECK(compare_integers(integer_from_text(h, s, base), n) == 0);
    CHECK(compare_integers(integer_from_text(h, "-" + s, base), big_negate(h, n)) == 0);
  }
  CHECK_FALSE(integer_from_text(h, "12a", 10));
  bool too_big;
  CHECK_FALSE(integer_from_text(h, std::string(20000000, '9'), 10, &too_big));
  CHECK(too_big);
}

TEST_CASE("floats' texts") {
  CHECK(float_text_short(0.1) == "0.1");
  CHECK(float_text_short(-0.0) == "-0.0");
  CHECK(float_text_short(1e22) == "1.0e22");
  CHECK(float_text_short(5e-324) == "5.0e-324");
  CHECK(float_text_decimals(0.5, 0, false) == "1");
  CHECK(float_text_decimals(1.25, 3, true) == "1.25");
  CHECK(float_text_scientific(1.5, 20) == "1.50000000000000000000e+00");
  double d;
  CHECK(parse_float("-1.5E+2", &d));
  CHECK(d == -150);
  for (const char* bad : {"1", "1.", ".5", "1.0e", " 1.0", "1.0e400", "nan", "inf", "0x1.0p3", ""})
    CHECK_FALSE(parse_float(bad, &d));
}
