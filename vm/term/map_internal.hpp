// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/map.hpp"

/// Nodes of the trie, for the files of the map code only. map.hpp explains the structure.
namespace vmrun {

inline constexpr unsigned kLevelBits = 4, kLevelsPerHash = 16;

/// Returns the hash that is used from level kLevelsPerHash × round on.
inline std::uint64_t map_rehash(Term key, unsigned round) { return hash_term(key, round); }

/// Counts the bits set in a 16-bit mask, in parallel fields (for std::popcount the compiler would
/// call a library function unless a flag allows the instruction).
inline unsigned mask_count(Word mask) {
  auto m = static_cast<unsigned>(mask);
  m -= m >> 1 & 0x5555;
  m = (m & 0x3333) + (m >> 2 & 0x3333);
  m = (m + (m >> 4)) & 0x0F0F;
  return (m + (m >> 8)) & 0x1F;
}

/// A read-only view of a root or inner node.
struct NodeView {
  explicit NodeView(Term node) {
    const Term* o = node.boxed_ptr();
    mask = map_mask(*o);
    count = mask_count(mask);
    entries = o + (map_kind(*o) == MapKind::kHashRoot ? 2 : 1);
  }
  Word mask;
  Word count;
  const Term* entries;
  bool has(unsigned slot) const { return mask >> slot & 1; }
  unsigned index(unsigned slot) const { return mask_count(mask & ((Word{1} << slot) - 1)); }
};

/// The hash bits of a key, level by level.
class HashPath {
 public:
  HashPath(Term key, std::uint64_t hash) : key_(key), hash_(hash) {}
  static HashPath at(Term key, unsigned level) {
    HashPath p(key, map_rehash(key, level / kLevelsPerHash));
    p.level_ = level;
    p.hash_ >>= kLevelBits * (level % kLevelsPerHash);
    return p;
  }
  unsigned slot() const { return hash_ & 15; }
  unsigned level() const { return level_; }
  void descend() {
    hash_ >>= kLevelBits;
    if (++level_ % kLevelsPerHash == 0) hash_ = map_rehash(key_, level_ / kLevelsPerHash);
  }

 private:
  Term key_;
  std::uint64_t hash_ = 0;
  unsigned level_ = 0;
};

/// Trie operations on maps that are large before (put, remove) or afterwards (build).
Term trie_put(TermSpace& heap, Term root, Term key, Term value, std::uint64_t hash, bool must_exist);
/// Returns the remaining map, still large; the non-value if the key is not there. *value gets its
/// value.
Term trie_remove(TermSpace& heap, Term root, Term key, std::uint64_t hash, Term* value);
Term trie_merge(TermSpace& heap, Term first, Term second);
/// Builds a trie from n > 0 cells [Key|Value] with different keys.
Term trie_build(TermSpace& heap, Term* cells, Word n);

}  // namespace vmrun
