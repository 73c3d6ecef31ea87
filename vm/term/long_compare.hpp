// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/compare.hpp"

/// Comparisons of terms of any size that keep nobody waiting: after every so many elements they let
/// something else run on the calling thread (let_others_run in term_upcalls.hpp). For instructions
/// and built-in functions of programs, which hold no lock and look at nothing but terms of their
/// process.
namespace vmrun {

namespace detail {
bool long_equal_exact(Term a, Term b);
bool long_equal(Term a, Term b);
int long_compare(Term a, Term b);
int long_compare_keys(Term a, Term b);
}  // namespace detail

/// As equal_exact, equal, compare and compare_keys in compare.hpp.
inline bool equal_exact_of_any_size(Term a, Term b) {
  if (a == b) return true;
  if (a.is_immed() || b.is_immed()) return false;
  return detail::long_equal_exact(a, b);
}
inline bool equal_of_any_size(Term a, Term b) {
  if (a == b) return true;
  if (a.is_immed() && b.is_immed()) return false;
  return detail::long_equal(a, b);
}
inline int compare_of_any_size(Term a, Term b) {
  if (a == b) return 0;
  if (a.is_small() && b.is_small()) return static_cast<SWord>(a.raw()) < static_cast<SWord>(b.raw()) ? -1 : 1;
  return detail::long_compare(a, b);
}
inline int compare_keys_of_any_size(Term a, Term b) { return a == b ? 0 : detail::long_compare_keys(a, b); }

}  // namespace vmrun
