// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/term.hpp"

/// Equality and order of terms. The functions depend only on their terms, whose heaps must not
/// change meanwhile. Any thread, any depth (no C++ recursion along terms). Order: number < atom <
/// reference < fun < port < pid < tuple < map < nil < list < bit string. Integers and floats
/// compare by their exact values.
namespace vmrun {

namespace detail {
bool equal_exact_slow(Term a, Term b);
bool equal_slow(Term a, Term b);
int compare_slow(Term a, Term b);
}  // namespace detail

/// a =:= b
inline bool equal_exact(Term a, Term b) {
  if (a == b) return true;
  if (a.is_immed() || b.is_immed()) return false;
  return detail::equal_exact_slow(a, b);
}

/// a == b: as =:=, but 1 == 1.0, also inside. (Keys of maps must match exactly.)
inline bool equal(Term a, Term b) {
  if (a == b) return true;
  if (a.is_immed() && b.is_immed()) return false;
  return detail::equal_slow(a, b);
}

/// Returns <0, 0 or >0 for a < b, a == b, a > b.
inline int compare(Term a, Term b) {
  if (a == b) return 0;
  if (a.is_small() && b.is_small()) return static_cast<SWord>(a.raw()) < static_cast<SWord>(b.raw()) ? -1 : 1;
  return detail::compare_slow(a, b);
}

/// The order in which maps compare by their keys: 0 only for keys that are =:=, and every integer
/// comes before every float.
int compare_keys(Term a, Term b);
/// The order in which flat maps keep their keys: as above, but for atoms since OTP 26, which are in
/// the order of their numbers.
int compare_flat_keys(Term a, Term b);

/// Compares two different atoms by the code points of their texts.
int compare_atoms(Term a, Term b);

}  // namespace vmrun
