// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/term/map.hpp"

/// Walks a map in batches, with a position that stays valid for the same map across collections.
/// The iterator of module maps uses it.
namespace vmrun {

/// Positions are prefixes of three levels of the trie; a flat map is one batch at position 0.
inline constexpr unsigned kMapWalkEnd = 16 * 16 * 16;

/// Appends at least `least` pairs (key, value, …) from position `from` on; fewer at the end.
/// Returns the position after them, and kMapWalkEnd when there are no more.
unsigned walk_map(Term map, unsigned from, Word least, std::vector<Term>* pairs);

}  // namespace vmrun
