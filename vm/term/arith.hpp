#pragma once

#include "vm/term/term_space.hpp"

/// Erlang's arithmetic operators on any terms: smalls, bigs, floats, mixed. The interpreter inlines
/// what stays within smalls or floats; these are complete all the same. Results are built in
/// `heap`. kNonValue means failure: ask arith_failure for the reason.
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
Term arith_plus(TermSpace& heap, Term a);  // unary +
Term arith_bnot(TermSpace& heap, Term a);

/// The same by operator; `b` is ignored by the unary ones.
Term arith(ArithOp op, TermSpace& heap, Term a, Term b);

/// Whether it takes more than a millisecond or so: products and quotients of integers of a hundred
/// thousand bits.
bool arith_takes_long(ArithOp op, Term a, Term b);

/// Why that failed: badarith, or system_limit (two integers whose result is too large).
Term arith_failure(ArithOp op, Term a, Term b);

// Functions of one number. kNonValue: badarg (not a number; a big beyond the floats).
Term arith_abs(TermSpace& heap, Term a);
Term arith_float(TermSpace& heap, Term a);
Term arith_trunc(TermSpace& heap, Term a);
Term arith_round(TermSpace& heap, Term a);  // halves away from zero
Term arith_floor(TermSpace& heap, Term a);
Term arith_ceil(TermSpace& heap, Term a);

/// A float's or integer's value as double; false: no number, or too large.
[[nodiscard]] bool number_to_double(Term t, double* out);
/// A float term; kNonValue for infinities and NaN, which no program ever sees.
Term make_float_checked(TermSpace& heap, double d);

}  // namespace vmrun
