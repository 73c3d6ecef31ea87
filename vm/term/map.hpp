// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/term/hash.hpp"
#include "vm/term/term_space.hpp"

/// Maps. A map of up to kFlatMapMax keys is a tuple of sorted keys, shared between maps with the
/// same keys, and the values; a lookup scans words. A larger map is a hash array mapped trie
/// (Bagwell, "Ideal Hash Trees") with 16 ways a level and 4 hash bits each. When the bits of the
/// hash are used up, the key is hashed again with another salt. The root and the inner nodes hold
/// cells [Key|Value] as leaves. A map that shrinks to kFlatMapMax keys becomes flat again, and the
/// rehash separates all keys, so equal maps have equal representations. Keys compare by =:=. Never
/// collects. Called by the owner of the heap only.
namespace vmrun {

/// Returns the hash of a key, as map_get takes it. The hash of a constant key can be kept.
inline std::uint64_t map_hash(Term key) { return hash_term(key); }

inline Word map_size(Term map) { return reinterpret_cast<const MapObject*>(map.boxed_ptr())->size; }
inline bool is_flat_map(Term map) { return map_kind(*map.boxed_ptr()) == MapKind::kFlat; }
inline Term map_from_flat(FlatMap* m) { return Term::boxed(&m->header); }

Term map_get_large(Term map, Term key, std::uint64_t hash);
Term map_get_flat_slow(Term map, Term key);

/// Returns the value, or the non-value.
inline Term map_get(Term map, Term key, std::uint64_t hash) {
  if (!is_flat_map(map)) return map_get_large(map, key, hash);
  if (!key.is_immed()) return map_get_flat_slow(map, key);
  const FlatMap* m = flatmap_of(map);
  const Term* keys = m->keys.boxed_ptr() + 1;
  for (Word i = 0, n = m->size; i < n; ++i) {
    if (keys[i] == key) return m->values()[i];
  }
  return kNonValue;
}
inline Term map_get(Term map, Term key) { return map_get(map, key, is_flat_map(map) ? 0 : map_hash(key)); }

Term empty_map(TermSpace& heap);
/// Returns the map with key => value.
Term map_put(TermSpace& heap, Term map, Term key, Term value);
/// As above, for a key that must exist (:=). Returns the non-value when it does not.
Term map_update(TermSpace& heap, Term map, Term key, Term value);
/// Returns the map without the key. *value is the value that the key had, or the non-value.
Term map_remove(TermSpace& heap, Term map, Term key, Term* value = nullptr);
/// Merges two maps. Keys of `second` win.
Term map_merge(TermSpace& heap, Term first, Term second);

/// Makes a map from n pairs key, value, key, value…, which get reordered. The last of equal keys
/// wins. *duplicates (may be null) tells whether there were any.
Term map_from_pairs(TermSpace& heap, Term* pairs, Word n, bool* duplicates = nullptr);
/// Make several assignments at once (put_map_assoc and put_map_exact), with pairs as above.
/// map_update_many returns the non-value, and sets *missing, when a key does not exist.
Term map_put_many(TermSpace& heap, Term map, const Term* pairs, Word n);
Term map_update_many(TermSpace& heap, Term map, const Term* pairs, Word n, Term* missing);
/// Makes a flat map with these keys (a tuple in key order without duplicates, at most kFlatMapMax)
/// and as many values.
Term map_with_keys(TermSpace& heap, Term keys, const Term* values);
/// Orders pairs by key (compare_keys).
void sort_pairs(Term* pairs, Word n);

/// Walks all pairs, those of flat maps in key order. The map must not move meanwhile.
class MapIterator {
 public:
  explicit MapIterator(Term map);
  bool next(Term* key, Term* value);

 private:
  struct Level {
    const Term* next;
    const Term* end;
  };
  static constexpr unsigned kMaxDepth = 64;
  const Term* flat_keys_ = nullptr;
  const Term* flat_values_ = nullptr;
  Word flat_left_ = 0;
  unsigned depth_ = 0;
  Level levels_[kMaxDepth];
};

}  // namespace vmrun
