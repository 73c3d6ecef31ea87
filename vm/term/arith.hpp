// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/term_space.hpp"

/// Erlang's arithmetic operators on any terms: smalls, bigs, floats, mixed. The interpreter inlines
/// what stays within smalls or floats, but these functions handle those too. Results are built in
/// `heap`. kNonValue means failure; arith_failure returns the reason.
namespace vmrun {

// The operator table: enumerator, Erlang spelling. Binary ones first.
enum class ArithOp : unsigned char {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kDiv,
  kRem,
  kBand,
  kBor,
  kBxor,
  kBsl,
  kBsr,
  kNegate,
  kPlus,
  kBnot,
};

Term arith_add(TermSpace& heap, Term a, Term b);
Term arith_subtract(TermSpace& heap, Term a, Term b);
Term arith_multiply(TermSpace& heap, Term a, Term b);
Term arith_divide(TermSpace& heap, Term a, Term b);  // '/': always a float
Term arith_div(TermSpace& heap, Term a, Term b);
Term arith_rem(TermSpace& heap, Term a, Term b);
Term arith_band(TermSpace& heap, Term a, Term b);
Term arith_bor(TermSpace& heap, Term a, Term b);
Term arith_bxor(TermSpace& heap, Term a, Term b);
Term arith_bsl(TermSpace& heap, Term a, Term b);
Term arith_bsr(TermSpace& heap, Term a, Term b);
Term arith_negate(TermSpace& heap, Term a);
Term arith_plus(TermSpace& heap, Term a);  // the instruction +: +(-0.0) is 0.0
Term arith_bnot(TermSpace& heap, Term a);

/// As above, by operator. The unary ones ignore `b`.
Term arith(ArithOp op, TermSpace& heap, Term a, Term b);

/// Whether the operation takes more than a millisecond or so, as products and quotients of integers
/// of a hundred thousand bits do.
bool arith_takes_long(ArithOp op, Term a, Term b);

/// Returns why the operation failed: badarith, or system_limit (two integers whose result is too
/// large).
Term arith_failure(ArithOp op, Term a, Term b);

// Functions of one number. kNonValue means badarg: not a number, or a big beyond the range of
// floats.
Term arith_abs(TermSpace& heap, Term a);
Term arith_float(TermSpace& heap, Term a);
Term arith_trunc(TermSpace& heap, Term a);
Term arith_round(TermSpace& heap, Term a);  // halves away from zero
Term arith_floor(TermSpace& heap, Term a);
Term arith_ceil(TermSpace& heap, Term a);

/// Converts a float or an integer to a double. Returns false for other terms and for integers that
/// are too large.
[[nodiscard]] bool number_to_double(Term t, double* out);
/// Returns a float term; kNonValue for infinities and NaN, which programs never see.
Term make_float_checked(TermSpace& heap, double d);

}  // namespace vmrun
