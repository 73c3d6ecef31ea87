#pragma once

#include <vector>

#include "vm/term/map.hpp"

/// Walking a map in batches, with a position that stays good for the same map across collections:
/// the iterator of module maps.
namespace vmrun {

/// Positions are prefixes of three levels of the trie; a flat map is one batch at position 0.
inline constexpr unsigned kMapWalkEnd = 16 * 16 * 16;

/// Appends at least `least` pairs (key, value, …) from position `from` on, fewer at the end.
/// Returns the position after them, kMapWalkEnd when there is nothing more.
unsigned walk_map(Term map, unsigned from, Word least, std::vector<Term>* pairs);

}  // namespace vmrun
