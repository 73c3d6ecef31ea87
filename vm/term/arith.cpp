// SPDX-License-Identifier: Apache-2.0
#include "vm/term/arith.hpp"

#include <cmath>

#include "vm/base/release.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"

namespace vmrun {
namespace {

bool both_small(Term a, Term b) { return (a.raw() & b.raw() & 0xF) == Term::kSmallTag; }
bool both_integers(Term a, Term b) { return a.is_integer() && b.is_integer(); }

template <class F>
Term on_doubles(TermSpace& heap, Term a, Term b, F f) {
  double x, y;
  if (!number_to_double(a, &x) || !number_to_double(b, &y)) return kNonValue;
  return make_float_checked(heap, f(x, y));
}

/// Shifts by any integer. A positive `by` with `left` moves bits upwards.
Term shift(TermSpace& heap, Term a, Term by, bool left) {
  if (!both_integers(a, by)) return kNonValue;
  if (a == Term::small(0)) return a;
  IntView view(by);
  if (view.negative()) left = !left;
  const Word bits = view.zero() ? 0 : view.count() == 1 ? view.limbs()[0] : ~Word{0};
  if (a.is_small()) {
    const SWord v = a.small_value();
    if (!left) return Term::small(bits > 63 ? (v < 0 ? -1 : 0) : v >> bits);
    if (bits < 60) {
      const SWord shifted = static_cast<SWord>(static_cast<Word>(v) << bits);
      if (shifted >> bits == v && Term::fits_small(shifted)) return Term::small(shifted);
    }
  }
  return left ? big_shift_left(heap, a, bits) : big_shift_right(heap, a, bits);
}

template <class F>
Term rounded(TermSpace& heap, Term a, F f) {
  if (a.is_float()) return integer_from_double(heap, f(float_of(a)->value));
  return a.is_integer() ? a : kNonValue;
}

}  // namespace

bool arith_takes_long(ArithOp op, Term a, Term b) {
  constexpr Word kFew = 256, kMany = 4096;  // words: of the one that makes it linear; of both
  if (!a.is_big() || !b.is_big()) return false;
  const Word x = a.boxed_ptr()->header_arity(), y = b.boxed_ptr()->header_arity();
  if (x + y < kMany || y < kFew) return false;
  if (op == ArithOp::kMultiply) return x >= kFew;
  return (op == ArithOp::kDiv || op == ArithOp::kRem) && x >= y + kFew;
}

bool number_to_double(Term t, double* out) {
  if (t.is_small()) {
    *out = static_cast<double>(t.small_value());
    return true;
  }
  if (t.is_float()) {
    *out = float_of(t)->value;
    return true;
  }
  return t.is_big() && integer_to_double(t, out);
}

Term make_float_checked(TermSpace& heap, double d) {
  if (!std::isfinite(d)) return kNonValue;
  Term* hp = heap.alloc(2);
  return make_float(hp, d);
}

Term arith_add(TermSpace& heap, Term a, Term b) {
  if (both_small(a, b)) return make_integer(heap, a.small_value() + b.small_value());
  if (both_integers(a, b)) return big_add(heap, a, b);
  return on_doubles(heap, a, b, [](double x, double y) { return x + y; });
}

Term arith_subtract(TermSpace& heap, Term a, Term b) {
  if (both_small(a, b)) return make_integer(heap, a.small_value() - b.small_value());
  if (both_integers(a, b)) return big_subtract(heap, a, b);
  return on_doubles(heap, a, b, [](double x, double y) { return x - y; });
}

Term arith_multiply(TermSpace& heap, Term a, Term b) {
  if (both_small(a, b)) {
    SWord product;
    if (!__builtin_mul_overflow(a.small_value(), b.small_value(), &product))
      return make_integer(heap, product);
  }
  if (both_integers(a, b)) return big_multiply(heap, a, b);
  return on_doubles(heap, a, b, [](double x, double y) { return x * y; });
}

Term arith_divide(TermSpace& heap, Term a, Term b) {
  double x, y;
  if (!number_to_double(a, &x) || !number_to_double(b, &y) || y == 0) return kNonValue;
  return make_float_checked(heap, x / y);
}

Term arith_div(TermSpace& heap, Term a, Term b) {
  if (b == Term::small(0) || !both_integers(a, b)) return kNonValue;
  if (both_small(a, b)) return make_integer(heap, a.small_value() / b.small_value());
  Term quotient;
  big_divide(heap, a, b, &quotient, nullptr);
  return quotient;
}

Term arith_rem(TermSpace& heap, Term a, Term b) {
  if (b == Term::small(0) || !both_integers(a, b)) return kNonValue;
  if (both_small(a, b)) return Term::small(a.small_value() % b.small_value());
  Term remainder;
  big_divide(heap, a, b, nullptr, &remainder);
  return remainder;
}

Term arith_band(TermSpace& heap, Term a, Term b) {
  if (both_small(a, b)) return Term::from_raw(a.raw() & b.raw());
  return both_integers(a, b) ? big_bitwise(heap, BitOp::kAnd, a, b) : kNonValue;
}

Term arith_bor(TermSpace& heap, Term a, Term b) {
  if (both_small(a, b)) return Term::from_raw(a.raw() | b.raw());
  return both_integers(a, b) ? big_bitwise(heap, BitOp::kOr, a, b) : kNonValue;
}

Term arith_bxor(TermSpace& heap, Term a, Term b) {
  if (both_small(a, b)) return Term::from_raw((a.raw() ^ b.raw()) | Term::kSmallTag);
  return both_integers(a, b) ? big_bitwise(heap, BitOp::kXor, a, b) : kNonValue;
}

Term arith_bsl(TermSpace& heap, Term a, Term b) { return shift(heap, a, b, true); }
Term arith_bsr(TermSpace& heap, Term a, Term b) { return shift(heap, a, b, false); }

Term arith_negate(TermSpace& heap, Term a) {
  if (a.is_small()) return make_integer(heap, -a.small_value());
  if (a.is_big()) return big_negate(heap, a);
  return a.is_float() ? make_float_checked(heap, -float_of(a)->value) : kNonValue;
}

Term arith_plus(TermSpace& heap, Term a) {
  if (a.is_float())
    return std::signbit(float_of(a)->value) && float_of(a)->value == 0 ? make_float_checked(heap, 0) : a;
  return a.is_number() ? a : kNonValue;
}

Term arith_bnot(TermSpace& heap, Term a) {
  if (a.is_small()) return Term::small(~a.small_value());
  return a.is_big() ? big_not(heap, a) : kNonValue;
}

Term arith(ArithOp op, TermSpace& heap, Term a, Term b) {
  switch (op) {
    case ArithOp::kAdd: return arith_add(heap, a, b);
    case ArithOp::kSubtract: return arith_subtract(heap, a, b);
    case ArithOp::kMultiply: return arith_multiply(heap, a, b);
    case ArithOp::kDivide: return arith_divide(heap, a, b);
    case ArithOp::kDiv: return arith_div(heap, a, b);
    case ArithOp::kRem: return arith_rem(heap, a, b);
    case ArithOp::kBand: return arith_band(heap, a, b);
    case ArithOp::kBor: return arith_bor(heap, a, b);
    case ArithOp::kBxor: return arith_bxor(heap, a, b);
    case ArithOp::kBsl: return arith_bsl(heap, a, b);
    case ArithOp::kBsr: return arith_bsr(heap, a, b);
    case ArithOp::kNegate: return arith_negate(heap, a);
    case ArithOp::kPlus: return arith_plus(heap, a);
    case ArithOp::kBnot: return arith_bnot(heap, a);
  }
  return kNonValue;
}

Term arith_failure(ArithOp op, Term a, Term b) {
  switch (op) {
    case ArithOp::kBnot: return a.is_integer() ? atoms::system_limit : atoms::badarith;
    case ArithOp::kAdd:
    case ArithOp::kSubtract:
    case ArithOp::kMultiply:
    case ArithOp::kBsl:
    case ArithOp::kBsr:
    case ArithOp::kBand:
    case ArithOp::kBor:
    case ArithOp::kBxor:
      return both_integers(a, b) ? atoms::system_limit
                                 : atoms::badarith;  // two integers fail for one reason only
    default: return atoms::badarith;
  }
}

Term arith_abs(TermSpace& heap, Term a) {
  if (a.is_small()) return a.small_value() < 0 ? arith_negate(heap, a) : a;
  if (a.is_big()) return IntView(a).negative() ? big_negate(heap, a) : a;
  if (!a.is_float()) return kNonValue;
  const double d = float_of(a)->value;
  return d < 0 || (std::signbit(d) && release_has(Trait::kSignedZero)) ? make_float_checked(heap, -d) : a;
}

Term arith_float(TermSpace& heap, Term a) {
  double d;
  if (a.is_float()) return a;
  return number_to_double(a, &d) ? make_float_checked(heap, d) : kNonValue;
}

Term arith_trunc(TermSpace& heap, Term a) {
  return rounded(heap, a, [](double d) { return std::trunc(d); });
}
Term arith_round(TermSpace& heap, Term a) {
  return rounded(heap, a, [](double d) { return std::round(d); });
}
Term arith_floor(TermSpace& heap, Term a) {
  return rounded(heap, a, [](double d) { return std::floor(d); });
}
Term arith_ceil(TermSpace& heap, Term a) {
  return rounded(heap, a, [](double d) { return std::ceil(d); });
}

}  // namespace vmrun
