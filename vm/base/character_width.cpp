// SPDX-License-Identifier: Apache-2.0
#include "vm/base/character_width.hpp"

#include <algorithm>
#include <iterator>

namespace vmrun {
namespace {

struct Range {
  char32_t first, last;
  unsigned width;
};

constexpr Range kRanges[] = {
#include "character_widths.inc"
};

}  // namespace

unsigned character_width(char32_t c) {
  if (c < kRanges[0].first) return 1;
  const Range* const behind = std::upper_bound(std::begin(kRanges), std::end(kRanges), c,
                                               [](char32_t x, const Range& r) { return x < r.first; });
  const Range& range = behind[-1];
  return c <= range.last ? range.width : 1;
}

}  // namespace vmrun
