// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "runtime/bif/support.hpp"
#include "vm/term/arith.hpp"

/// Module math: the C library's functions. A result that is not a finite number is badarith.
namespace vmrun {
namespace {

/// A number too large for a double is an arithmetic error, anything else a bad argument.
bool argument(Process& p, Term t, double* out) {
  if (number_to_double(t, out)) return true;
  t.is_number() ? raise_badarith(p) : raise_badarg(p);
  return false;
}

inline bool number(Process& p, Term t, double* out) {
  if (!t.is_float()) [[unlikely]]
    return argument(p, t, out);
  *out = float_of(t)->value;
  return true;
}

inline Term finite(Process& p, double r) {
  if (!std::isfinite(r)) [[unlikely]]
    return raise_badarith(p);
  Term* hp = p.heap.alloc(2);
  return make_float(hp, r);
}

[[gnu::always_inline]] inline Term unary(Process& p, Term t, double (*f)(double)) {
  double x;
  return number(p, t, &x) ? finite(p, f(x)) : kNonValue;
}

[[gnu::always_inline]] inline Term binary(Process& p, const Term* a, double (*f)(double, double)) {
  double x, y;
  return number(p, a[0], &x) && number(p, a[1], &y) ? finite(p, f(x, y)) : kNonValue;
}

}  // namespace

Term bif_math_acos_1(Process& p, const Term* a) { return unary(p, a[0], std::acos); }
Term bif_math_acosh_1(Process& p, const Term* a) { return unary(p, a[0], std::acosh); }
Term bif_math_asin_1(Process& p, const Term* a) { return unary(p, a[0], std::asin); }
Term bif_math_asinh_1(Process& p, const Term* a) { return unary(p, a[0], std::asinh); }
Term bif_math_atan_1(Process& p, const Term* a) { return unary(p, a[0], std::atan); }
Term bif_math_atanh_1(Process& p, const Term* a) { return unary(p, a[0], std::atanh); }
Term bif_math_ceil_1(Process& p, const Term* a) { return unary(p, a[0], std::ceil); }
Term bif_math_cos_1(Process& p, const Term* a) { return unary(p, a[0], std::cos); }
Term bif_math_cosh_1(Process& p, const Term* a) { return unary(p, a[0], std::cosh); }
Term bif_math_erf_1(Process& p, const Term* a) { return unary(p, a[0], std::erf); }
Term bif_math_erfc_1(Process& p, const Term* a) { return unary(p, a[0], std::erfc); }
Term bif_math_exp_1(Process& p, const Term* a) { return unary(p, a[0], std::exp); }
Term bif_math_floor_1(Process& p, const Term* a) { return unary(p, a[0], std::floor); }
Term bif_math_log_1(Process& p, const Term* a) { return unary(p, a[0], std::log); }
Term bif_math_log10_1(Process& p, const Term* a) { return unary(p, a[0], std::log10); }
Term bif_math_log2_1(Process& p, const Term* a) { return unary(p, a[0], std::log2); }
Term bif_math_sin_1(Process& p, const Term* a) { return unary(p, a[0], std::sin); }
Term bif_math_sinh_1(Process& p, const Term* a) { return unary(p, a[0], std::sinh); }
Term bif_math_sqrt_1(Process& p, const Term* a) { return unary(p, a[0], std::sqrt); }
Term bif_math_tan_1(Process& p, const Term* a) { return unary(p, a[0], std::tan); }
Term bif_math_tanh_1(Process& p, const Term* a) { return unary(p, a[0], std::tanh); }
Term bif_math_atan2_2(Process& p, const Term* a) { return binary(p, a, std::atan2); }
Term bif_math_fmod_2(Process& p, const Term* a) { return binary(p, a, std::fmod); }
Term bif_math_pow_2(Process& p, const Term* a) { return binary(p, a, std::pow); }
Term bif_math_pi_0(Process& p, const Term*) { return make_float_checked(p.heap, M_PI); }
Term bif_math_tau_0(Process& p, const Term*) { return make_float_checked(p.heap, 2 * M_PI); }

}  // namespace vmrun
