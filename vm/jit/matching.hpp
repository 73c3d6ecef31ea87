// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/jit/graph.hpp"

/// What is known of the match context that is being matched: of one at a time. Positions are bits,
/// counted from base, and lie ahead of a value that is at hand, so that fields at known distances
/// need no sums.
namespace vmrun::jit {

struct Place {
  ValueId from = kNone;  // kNone: the context has it
  Word ahead = 0;
  bool is_aligned = false;  // `from` is: a multiple of 8
  Word there = 0;           // so many bits are there at least
  ValueId bytes = kNone;    // the address of `from`, if that is aligned and it has been needed
  bool lies_at(const Place& o) const { return from == o.from && ahead == o.ahead; }
};

struct Matching {
  ValueId context = kNone;
  ValueId base = kNone, size = kNone;
  bool is_of_bytes = false;  // the size is a multiple of 8
  Place now;
  Place stored;                           // what the context has as its position
  ValueId sum_from = kNone, sum = kNone;  // the sum that was computed last, of it and sum_ahead
  Word sum_ahead = 0;
  /// Positions that are terms as well.
  std::vector<std::pair<ValueId, Place>> marks;
};

/// What is known on both of two edges.
Matching common(const Matching& a, const Matching& b);

}  // namespace vmrun::jit
