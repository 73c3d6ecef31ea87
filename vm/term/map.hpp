#pragma once

#include <cstdint>

#include "vm/term/hash.hpp"
#include "vm/term/term_space.hpp"

/// Maps. Up to kFlatMapMax keys: a tuple of sorted keys, shared between maps with the same keys,
/// and the values; lookup scans words. Above: a hash array mapped trie (Bagwell, "Ideal Hash
/// Trees"), 16 ways a level, 4 hash bits each; when the hash's bits are used up, the key is hashed
/// again with another salt. Its root and inner nodes hold cells [Key|Value] as leaves. A map that
/// shrinks to kFlatMapMax keys becomes flat again, so equal maps have equal representations (but
/// for the order of colliding leaves, which does not exist: the rehash separates all keys). Keys
/// compare by =:=. Never collects; owner of the heap only.
namespace vmrun {

/// Hash of a key: what map_get takes, so that a constant key's can be kept.
inline std::uint64_t map_hash(Term key) { return hash_term(key); }

inline Word map_size(Term map) { return reinterpret_cast<const MapObject*>(map.boxed_ptr())->size; }
inline bool is_flat_map(Term map) { return map_kind(*map.boxed_ptr()) == MapKind::kFlat; }
inline Term map_from_flat(FlatMap* m) { return Term::boxed(&m->header); }

Term map_get_large(Term map, Term key, std::uint64_t hash);
Term map_get_flat_slow(Term map, Term key);

/// The value, or the non-value.
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
/// The map with key => value.
Term map_put(TermSpace& heap, Term map, Term key, Term value);
/// The same for a key that must exist (:=); the non-value when it does not.
Term map_update(TermSpace& heap, Term map, Term key, Term value);
/// Without the key; *value is what it had or the non-value.
Term map_remove(TermSpace& heap, Term map, Term key, Term* value = nullptr);
/// Keys of `second` win.
Term map_merge(TermSpace& heap, Term first, Term second);

/// n pairs key, value, key, value…, which get reordered. The last of equal keys wins; *duplicates
/// (may be null) tells whether there were any.
Term map_from_pairs(TermSpace& heap, Term* pairs, Word n, bool* duplicates = nullptr);
/// Several assignments at once (put_map_assoc and put_map_exact): pairs as above. exact: the
/// non-value and *missing when a key does not exist.
Term map_put_many(TermSpace& heap, Term map, const Term* pairs, Word n);
Term map_update_many(TermSpace& heap, Term map, const Term* pairs, Word n, Term* missing);
/// A flat map with these keys (a tuple in key order without duplicates, at most kFlatMapMax) and as
/// many values.
Term map_with_keys(TermSpace& heap, Term keys, const Term* values);
/// Orders pairs by key (compare_keys).
void sort_pairs(Term* pairs, Word n);

/// Walks all pairs; flat maps in key order. The map must not move meanwhile.
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
