// SPDX-License-Identifier: Apache-2.0
#include "vm/term/map_walk.hpp"

#include "vm/term/map_internal.hpp"

namespace vmrun {
namespace {

constexpr unsigned kLevels = 3;

void add_all(Term entry, std::vector<Term>* pairs) {
  if (entry.is_list()) {
    pairs->push_back(entry.head());
    pairs->push_back(entry.tail());
    return;
  }
  const NodeView v(entry);
  for (Word i = 0; i < v.count; ++i) add_all(v.entries[i], pairs);  // as deep as the trie
}

struct Walk {
  unsigned from;
  Word enough;  // terms in *pairs
  std::vector<Term>* pairs;

  /// Visits the entries of a node whose own prefix is `prefix`, at `level`. Returns the position to
  /// go on from once there is enough, else the end of the node.
  unsigned node(Term node_term, unsigned prefix, unsigned level) {
    const NodeView v(node_term);
    const unsigned span = 1u << kLevelBits * (kLevels - 1 - level);  // positions of one slot
    for (unsigned slot = 0; slot < 16; ++slot) {
      const unsigned start = prefix + slot * span;
      if (!v.has(slot) || start + span <= from) continue;
      if (pairs->size() >= enough) return start > from ? start : from;
      const Term entry = v.entries[v.index(slot)];
      if (entry.is_list() || level == kLevels - 1) {
        if (start >= from) add_all(entry, pairs);
      } else {
        const unsigned next = this->node(entry, start, level + 1);
        if (next < start + span) return next;
      }
    }
    return prefix + 16 * span;
  }
};

}  // namespace

unsigned walk_map(Term map, unsigned from, Word least, std::vector<Term>* pairs) {
  if (!is_flat_map(map)) return Walk{from, pairs->size() + 2 * least, pairs}.node(map, 0, 0);
  Term key, value;
  for (MapIterator it(map); it.next(&key, &value);) {
    pairs->push_back(key);
    pairs->push_back(value);
  }
  return kMapWalkEnd;
}

}  // namespace vmrun
