// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

namespace vmrun {

/// Whether a process of low priority runs next, where so many of low and of normal priority wait
/// and there is one of low priority. Each of those gets one turn while each of normal priority gets
/// eight, however many there are of either. credit: what the low ones have earned by waiting; it
/// begins at 0.
inline bool takes_low_turn(Word& credit, Word low, Word normal) {
  constexpr Word kLowEvery = 8;
  if (!normal) return true;
  const Word all = kLowEvery * normal + low;  // in so many picks the low ones have `low`
  credit += low;
  if (credit < all) return false;
  credit %= all;
  return true;
}

}  // namespace vmrun
