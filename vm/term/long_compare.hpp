#pragma once

#include "vm/term/compare.hpp"

/// Comparisons of terms of any size that do not block other processes: after every so many elements
/// they let something else run on the calling thread (see let_others_run). Instructions and
/// built-in functions of programs use them; these hold no lock and read only terms of their
/// process.
namespace vmrun {

/// Runs queued work for a slice, in the middle of what the calling thread does. Does nothing on
/// threads that are not schedulers. vm/sched sets it before main begins.
using LetOthersRun = void (*)();
extern constinit LetOthersRun let_others_run;

namespace detail {
bool long_equal_exact(Term a, Term b);
bool long_equal(Term a, Term b);
int long_compare(Term a, Term b);
}  // namespace detail

/// As equal_exact, equal and compare in compare.hpp.
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

}  // namespace vmrun
