// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/support.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/long_compare.hpp"

/// The operators as functions (erlang:'+'/2 and the rest), and the functions of numbers that guards
/// may use.
namespace vmrun {
namespace {

Term operate(Process& p, ArithOp op, Term a, Term b) {
  const Term t = arith(op, p.heap, a, b);
  return t ? t : raise_error(p, arith_failure(op, a, b));
}

/// Operations that may take long. The interpreter checks this before it comes here, but not when
/// the function is applied.
Term operate_or_leave(Process& p, ArithOp op, const Term* a, BifFn self) {
  const bool leaves = dirty_thread_kind() == DirtyKind::kNone && arith_takes_long(op, a[0], a[1]);
  return leaves ? run_on_dirty(p, self, a, 2) : operate(p, op, a[0], a[1]);
}

Term or_badarg(Process& p, Term t) { return t ? t : raise_badarg(p); }

bool is_boolean(Term t) { return t == atoms::true_ || t == atoms::false_; }

}  // namespace

Term bif_erlang_plus_2(Process& p, const Term* a) { return operate(p, ArithOp::kAdd, a[0], a[1]); }
Term bif_erlang_minus_2(Process& p, const Term* a) { return operate(p, ArithOp::kSubtract, a[0], a[1]); }
Term bif_erlang_times_2(Process& p, const Term* a) {
  return operate_or_leave(p, ArithOp::kMultiply, a, bif_erlang_times_2);
}
Term bif_erlang_divide_2(Process& p, const Term* a) { return operate(p, ArithOp::kDivide, a[0], a[1]); }
Term bif_erlang_div_2(Process& p, const Term* a) {
  return operate_or_leave(p, ArithOp::kDiv, a, bif_erlang_div_2);
}
Term bif_erlang_rem_2(Process& p, const Term* a) {
  return operate_or_leave(p, ArithOp::kRem, a, bif_erlang_rem_2);
}
Term bif_erlang_band_2(Process& p, const Term* a) { return operate(p, ArithOp::kBand, a[0], a[1]); }
Term bif_erlang_bor_2(Process& p, const Term* a) { return operate(p, ArithOp::kBor, a[0], a[1]); }
Term bif_erlang_bxor_2(Process& p, const Term* a) { return operate(p, ArithOp::kBxor, a[0], a[1]); }
Term bif_erlang_bsl_2(Process& p, const Term* a) { return operate(p, ArithOp::kBsl, a[0], a[1]); }
Term bif_erlang_bsr_2(Process& p, const Term* a) { return operate(p, ArithOp::kBsr, a[0], a[1]); }
Term bif_erlang_plus_1(Process& p, const Term* a) {
  if (a[0].is_float()) return a[0];  // as OTP's function, unlike its instruction
  return operate(p, ArithOp::kPlus, a[0], kNonValue);
}
Term bif_erlang_minus_1(Process& p, const Term* a) { return operate(p, ArithOp::kNegate, a[0], kNonValue); }
Term bif_erlang_bnot_1(Process& p, const Term* a) { return operate(p, ArithOp::kBnot, a[0], kNonValue); }

Term bif_erlang_equal_2(Process&, const Term* a) { return bool_term(equal_of_any_size(a[0], a[1])); }
Term bif_erlang_not_equal_2(Process&, const Term* a) { return bool_term(!equal_of_any_size(a[0], a[1])); }
Term bif_erlang_exact_equal_2(Process&, const Term* a) {
  return bool_term(equal_exact_of_any_size(a[0], a[1]));
}
Term bif_erlang_exact_not_equal_2(Process&, const Term* a) {
  return bool_term(!equal_exact_of_any_size(a[0], a[1]));
}
Term bif_erlang_less_2(Process&, const Term* a) { return bool_term(compare_of_any_size(a[0], a[1]) < 0); }
Term bif_erlang_less_equal_2(Process&, const Term* a) {
  return bool_term(compare_of_any_size(a[0], a[1]) <= 0);
}
Term bif_erlang_greater_2(Process&, const Term* a) { return bool_term(compare_of_any_size(a[0], a[1]) > 0); }
Term bif_erlang_greater_equal_2(Process&, const Term* a) {
  return bool_term(compare_of_any_size(a[0], a[1]) >= 0);
}
Term bif_erlang_max_2(Process&, const Term* a) { return compare_of_any_size(a[0], a[1]) < 0 ? a[1] : a[0]; }
Term bif_erlang_min_2(Process&, const Term* a) { return compare_of_any_size(a[0], a[1]) > 0 ? a[1] : a[0]; }

Term bif_erlang_not_1(Process& p, const Term* a) {
  return is_boolean(a[0]) ? bool_term(a[0] == atoms::false_) : raise_badarg(p);
}
Term bif_erlang_and_2(Process& p, const Term* a) {
  return is_boolean(a[0]) && is_boolean(a[1]) ? bool_term(a[0] == atoms::true_ && a[1] == atoms::true_)
                                              : raise_badarg(p);
}
Term bif_erlang_or_2(Process& p, const Term* a) {
  return is_boolean(a[0]) && is_boolean(a[1]) ? bool_term(a[0] == atoms::true_ || a[1] == atoms::true_)
                                              : raise_badarg(p);
}
Term bif_erlang_xor_2(Process& p, const Term* a) {
  return is_boolean(a[0]) && is_boolean(a[1]) ? bool_term(a[0] != a[1]) : raise_badarg(p);
}

Term bif_erlang_abs_1(Process& p, const Term* a) { return or_badarg(p, arith_abs(p.heap, a[0])); }
Term bif_erlang_ceil_1(Process& p, const Term* a) { return or_badarg(p, arith_ceil(p.heap, a[0])); }
Term bif_erlang_floor_1(Process& p, const Term* a) { return or_badarg(p, arith_floor(p.heap, a[0])); }
Term bif_erlang_round_1(Process& p, const Term* a) { return or_badarg(p, arith_round(p.heap, a[0])); }
Term bif_erlang_trunc_1(Process& p, const Term* a) { return or_badarg(p, arith_trunc(p.heap, a[0])); }
Term bif_erlang_float_1(Process& p, const Term* a) { return or_badarg(p, arith_float(p.heap, a[0])); }

}  // namespace vmrun
