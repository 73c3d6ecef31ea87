#pragma once

#include "vm/heap/heap.hpp"

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

Term arith_add(Heap& heap, Term a, Term b);
Term arith_subtract(Heap& heap, Term a, Term b);
Term arith_multiply(Heap& heap, Term a, Term b);
Term arith_divide(Heap& heap, Term a, Term b);  // '/': always a float
Term arith_div(Heap& heap, Term a, Term b);
Term arith_rem(Heap& heap, Term a, Term b);
Term arith_band(Heap& heap, Term a, Term b);
Term arith_bor(Heap& heap, Term a, Term b);
Term arith_bxor(Heap& heap, Term a, Term b);
Term arith_bsl(Heap& heap, Term a, Term b);
Term arith_bsr(Heap& heap, Term a, Term b);
Term arith_negate(Heap& heap, Term a);
Term arith_plus(Heap& heap, Term a);  // unary +
Term arith_bnot(Heap& heap, Term a);

/// The same by operator; `b` is ignored by the unary ones.
Term arith(ArithOp op, Heap& heap, Term a, Term b);

/// Why that failed: badarith, or system_limit (two integers whose result is too large).
Term arith_failure(ArithOp op, Term a, Term b);

// Functions of one number. kNonValue: badarg (not a number; a big beyond the floats).
Term arith_abs(Heap& heap, Term a);
Term arith_float(Heap& heap, Term a);
Term arith_trunc(Heap& heap, Term a);
Term arith_round(Heap& heap, Term a);  // halves away from zero
Term arith_floor(Heap& heap, Term a);
Term arith_ceil(Heap& heap, Term a);

/// A float's or integer's value as double; false: no number, or too large.
[[nodiscard]] bool number_to_double(Term t, double* out);
/// A float term; kNonValue for infinities and NaN, which no program ever sees.
Term make_float_checked(Heap& heap, double d);

}  // namespace vmrun
