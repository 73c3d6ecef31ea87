// SPDX-License-Identifier: Apache-2.0
#include "vm/term/map.hpp"

#include <algorithm>
#include <vector>

#include "vm/term/compare.hpp"
#include "vm/term/map_internal.hpp"

/// Flat maps, and operations that involve flat and large ones.
namespace vmrun {
namespace {

constexpr Word kFlatHeadWords = sizeof(FlatMap) / sizeof(Term);

const Term* keys_of(const FlatMap* m) { return m->keys.boxed_ptr() + 1; }

FlatMap* new_flat(TermSpace& heap, Word n, Term keys) {
  auto* m = reinterpret_cast<FlatMap*>(heap.alloc(kFlatHeadWords + n));
  m->header = MapObject::make_header(MapKind::kFlat, 0, kFlatHeadWords + n - 1);
  m->size = n;
  m->keys = keys;
  return m;
}

Term new_keys(TermSpace& heap, Word n, Term** elements) {
  Term* o = heap.alloc(n + 1);
  o[0] = Term::header(Term::Sub::kTuple, n);
  *elements = o + 1;
  return Term::boxed(o);
}

/// Whether two tuples are found to differ (not =:=) without going deeper than so many nested
/// tuples. Most unequal keys are.
template <int kDeep>
bool tuples_differ_above(const Term* a, const Term* b) {
  if (*a != *b) return true;
  for (Word n = a->header_arity(); n > 0; --n) {
    const Term x = a[n], y = b[n];
    if (x == y) continue;
    if (x.is_immed() || y.is_immed()) return true;
    if constexpr (kDeep > 1)
      if (x.is_tuple() && y.is_tuple() && tuples_differ_above<kDeep - 1>(x.boxed_ptr(), y.boxed_ptr()))
        return true;
  }
  return false;
}

SWord flat_find_tuple(const FlatMap* m, Term key) {
  const Term* keys = keys_of(m);
  for (Word i = 0, n = m->size; i < n; ++i) {
    if (keys[i] == key) return static_cast<SWord>(i);
    if (keys[i].is_tuple() && !tuples_differ_above<2>(keys[i].boxed_ptr(), key.boxed_ptr()) &&
        equal_exact(keys[i], key))
      return static_cast<SWord>(i);
  }
  return -1;
}

/// Returns the index of the key, or -1.
SWord flat_find(const FlatMap* m, Term key) {
  const Term* keys = keys_of(m);
  const auto n = static_cast<SWord>(m->size);
  if (key.is_immed()) {
    for (SWord i = 0; i < n; ++i) {
      if (keys[i] == key) return i;
    }
  } else if (key.is_tuple()) {
    return flat_find_tuple(m, key);
  } else {
    for (SWord i = 0; i < n; ++i) {
      if (equal_exact(keys[i], key)) return i;
    }
  }
  return -1;
}

/// Returns where a key that is not there belongs.
Word flat_place(const FlatMap* m, Term key) {
  const Term* keys = keys_of(m);
  return static_cast<Word>(std::lower_bound(keys, keys + m->size, key,
                                            [](Term a, Term b) { return compare_flat_keys(a, b) < 0; }) -
                           keys);
}

Term flat_replace(TermSpace& heap, const FlatMap* m, Word index, Term value) {
  FlatMap* copy = new_flat(heap, m->size, m->keys);
  std::copy_n(m->values(), m->size, copy->values());
  copy->values()[index] = value;
  return map_from_flat(copy);
}

Term flat_insert(TermSpace& heap, const FlatMap* m, Term key, Term value) {
  const Word n = m->size, at = flat_place(m, key);
  Term* keys;
  FlatMap* copy = new_flat(heap, n + 1, new_keys(heap, n + 1, &keys));
  std::copy_n(keys_of(m), at, keys);
  keys[at] = key;
  std::copy_n(keys_of(m) + at, n - at, keys + at + 1);
  Term* values = copy->values();
  std::copy_n(m->values(), at, values);
  values[at] = value;
  std::copy_n(m->values() + at, n - at, values + at + 1);
  return map_from_flat(copy);
}

Term flat_remove(TermSpace& heap, const FlatMap* m, Word at) {
  const Word n = m->size - 1;
  if (n == 0) return empty_map(heap);
  Term* keys;
  FlatMap* copy = new_flat(heap, n, new_keys(heap, n, &keys));
  std::copy_n(keys_of(m), at, keys);
  std::copy_n(keys_of(m) + at + 1, n - at, keys + at);
  std::copy_n(m->values(), at, copy->values());
  std::copy_n(m->values() + at + 1, n - at, copy->values() + at);
  return map_from_flat(copy);
}

/// Makes a map from n ≤ kFlatMapMax pairs in key order, without duplicates.
Term flat_from_sorted(TermSpace& heap, const Term* pairs, Word n) {
  if (n == 0) return empty_map(heap);
  Term* keys;
  FlatMap* m = new_flat(heap, n, new_keys(heap, n, &keys));
  for (Word i = 0; i < n; ++i) {
    keys[i] = pairs[2 * i];
    m->values()[i] = pairs[2 * i + 1];
  }
  return map_from_flat(m);
}

Term large_from_pairs(TermSpace& heap, const Term* pairs, Word n) {
  std::vector<Term> cells(n);
  Term* hp = heap.alloc(2 * n);
  for (Word i = 0; i < n; ++i) cells[i] = make_cons(hp, pairs[2 * i], pairs[2 * i + 1]);
  return trie_build(heap, cells.data(), n);
}

void order_pairs(Term* pairs, Word n, int (*compare)(Term, Term)) {
  struct Pair {
    Term key, value;
  };
  auto* p = reinterpret_cast<Pair*>(pairs);
  std::sort(p, p + n, [&](const Pair& a, const Pair& b) { return compare(a.key, b.key) < 0; });
}

/// Makes a map from n distinct pairs in any order.
Term from_distinct(TermSpace& heap, Term* pairs, Word n) {
  if (n > kFlatMapMax) return large_from_pairs(heap, pairs, n);
  order_pairs(pairs, n, compare_flat_keys);
  return flat_from_sorted(heap, pairs, n);
}

/// Drops pairs whose key comes again later. Returns how many remain; they keep their order.
Word drop_duplicates(Term* pairs, Word n) {
  struct Entry {
    std::uint64_t hash;
    Word index;
  };
  std::vector<Entry> entries(n);
  for (Word i = 0; i < n; ++i) entries[i] = {map_hash(pairs[2 * i]), i};
  std::sort(entries.begin(), entries.end(),
            [](Entry a, Entry b) { return a.hash != b.hash ? a.hash < b.hash : a.index < b.index; });
  bool any = false;
  for (Word i = 0; i < n; ++i) {
    for (Word j = i + 1; j < n && entries[j].hash == entries[i].hash; ++j) {
      if (!equal_exact(pairs[2 * entries[i].index], pairs[2 * entries[j].index])) continue;
      pairs[2 * entries[i].index] = kNonValue;
      any = true;
      break;
    }
  }
  if (!any) return n;
  Word kept = 0;
  for (Word i = 0; i < n; ++i) {
    if (!pairs[2 * i]) continue;
    pairs[2 * kept] = pairs[2 * i];
    pairs[2 * kept + 1] = pairs[2 * i + 1];
    ++kept;
  }
  return kept;
}

/// Insertion sort, for few pairs that are often sorted already. Returns the number of different
/// keys.
Word sort_small(Term* pairs, Word n) {
  Word kept = 0;
  for (Word i = 0; i < n; ++i) {
    const Term key = pairs[2 * i], value = pairs[2 * i + 1];
    Word at = kept;
    int c = -1;
    while (at > 0 && (c = compare_flat_keys(pairs[2 * at - 2], key)) > 0) --at;
    if (at > 0 && c == 0) {
      pairs[2 * at - 1] = value;
      continue;
    }
    std::copy_backward(pairs + 2 * at, pairs + 2 * kept, pairs + 2 * kept + 2);
    pairs[2 * at] = key;
    pairs[2 * at + 1] = value;
    ++kept;
  }
  return kept;
}

void copy_pairs(Term map, Term* out) {
  MapIterator it(map);
  while (it.next(&out[0], &out[1])) out += 2;
}

Term merge_flat(TermSpace& heap, Term first, Term second) {
  const FlatMap *a = flatmap_of(first), *b = flatmap_of(second);
  Term pairs[4 * kFlatMapMax];
  Word i = 0, j = 0, n = 0;
  const Term *x = keys_of(a), *y = keys_of(b);
  while (i < a->size || j < b->size) {
    const int c = i == a->size ? 1 : j == b->size ? -1 : compare_flat_keys(x[i], y[j]);
    const bool from_b = c >= 0;
    pairs[2 * n] = from_b ? y[j] : x[i];
    pairs[2 * n + 1] = from_b ? b->values()[j] : a->values()[i];
    ++n;
    i += c <= 0;
    j += c >= 0;
  }
  if (n == b->size) return second;  // it has every key of the first, and its values win
  if (n > kFlatMapMax) return large_from_pairs(heap, pairs, n);
  if (n != a->size) return flat_from_sorted(heap, pairs, n);
  FlatMap* m = new_flat(heap, n, a->keys);  // no new keys: the tuple is shared
  for (Word k = 0; k < n; ++k) m->values()[k] = pairs[2 * k + 1];
  return map_from_flat(m);
}

}  // namespace

Term map_get_flat_slow(Term map, Term key) {
  const FlatMap* m = flatmap_of(map);
  const SWord i = flat_find(m, key);
  return i < 0 ? kNonValue : m->values()[i];
}

Term empty_map(TermSpace& heap) { return map_from_flat(new_flat(heap, 0, empty_tuple())); }

Term map_with_keys(TermSpace& heap, Term keys, const Term* values) {
  const Word n = keys.tuple_arity();
  FlatMap* m = new_flat(heap, n, keys);
  std::copy_n(values, n, m->values());
  return map_from_flat(m);
}

Term map_put(TermSpace& heap, Term map, Term key, Term value) {
  if (!is_flat_map(map)) return trie_put(heap, map, key, value, map_hash(key), false);
  const FlatMap* m = flatmap_of(map);
  const SWord i = flat_find(m, key);
  if (i >= 0) return m->values()[i] == value ? map : flat_replace(heap, m, static_cast<Word>(i), value);
  if (m->size < kFlatMapMax) return flat_insert(heap, m, key, value);
  Term pairs[2 * (kFlatMapMax + 1)];
  copy_pairs(map, pairs);
  pairs[2 * kFlatMapMax] = key;
  pairs[2 * kFlatMapMax + 1] = value;
  return large_from_pairs(heap, pairs, kFlatMapMax + 1);
}

Term map_update(TermSpace& heap, Term map, Term key, Term value) {
  if (!is_flat_map(map)) return trie_put(heap, map, key, value, map_hash(key), true);
  const FlatMap* m = flatmap_of(map);
  const SWord i = flat_find(m, key);
  if (i < 0) return kNonValue;
  return m->values()[i] == value ? map : flat_replace(heap, m, static_cast<Word>(i), value);
}

Term map_remove(TermSpace& heap, Term map, Term key, Term* value) {
  Term ignored;
  if (!value) value = &ignored;
  *value = kNonValue;
  if (is_flat_map(map)) {
    const FlatMap* m = flatmap_of(map);
    const SWord i = flat_find(m, key);
    if (i < 0) return map;
    *value = m->values()[i];
    return flat_remove(heap, m, static_cast<Word>(i));
  }
  if (map_size(map) > kFlatMapMax + 1) {
    const Term rest = trie_remove(heap, map, key, map_hash(key), value);
    return rest ? rest : map;
  }
  *value = map_get_large(map, key, map_hash(key));
  if (!*value) return map;
  Term pairs[2 * (kFlatMapMax + 1)];
  Word n = 0;
  MapIterator it(map);
  while (it.next(&pairs[2 * n], &pairs[2 * n + 1])) n += !equal_exact(pairs[2 * n], key);
  return from_distinct(heap, pairs, n);
}

Term map_merge(TermSpace& heap, Term first, Term second) {
  if (first == second || map_size(second) == 0) return first;
  if (map_size(first) == 0) return second;
  if (is_flat_map(first) && is_flat_map(second)) return merge_flat(heap, first, second);
  if (!is_flat_map(first) && !is_flat_map(second)) return trie_merge(heap, first, second);
  Term key, value;
  if (is_flat_map(second)) {
    for (MapIterator it(second); it.next(&key, &value);) first = map_put(heap, first, key, value);
    return first;
  }
  Term result = second;
  for (MapIterator it(first); it.next(&key, &value);) {
    if (!map_get(second, key)) result = map_put(heap, result, key, value);
  }
  return result;
}

void sort_pairs(Term* pairs, Word n) { order_pairs(pairs, n, compare_keys); }

Term map_from_pairs(TermSpace& heap, Term* pairs, Word n, bool* duplicates) {
  if (n <= kFlatMapMax) {
    const Word kept = sort_small(pairs, n);
    if (duplicates) *duplicates = kept != n;
    return flat_from_sorted(heap, pairs, kept);
  }
  const Word kept = drop_duplicates(pairs, n);
  if (duplicates) *duplicates = kept != n;
  return from_distinct(heap, pairs, kept);
}

Term map_put_many(TermSpace& heap, Term map, const Term* pairs, Word n) {
  if (n == 1) return map_put(heap, map, pairs[0], pairs[1]);
  if (!is_flat_map(map)) {
    for (Word i = 0; i < n; ++i) map = map_put(heap, map, pairs[2 * i], pairs[2 * i + 1]);
    return map;
  }
  const FlatMap* m = flatmap_of(map);
  if (m->size > 0) {
    // Often all keys are there already, and only the values are new.
    Term values[kFlatMapMax];
    std::copy_n(m->values(), m->size, values);
    Word i = 0;
    for (; i < n; ++i) {
      const SWord at = flat_find(m, pairs[2 * i]);
      if (at < 0) break;
      values[at] = pairs[2 * i + 1];
    }
    if (i == n) return map_with_keys(heap, m->keys, values);
  }
  std::vector<Term> all(2 * (m->size + n));
  copy_pairs(map, all.data());
  std::copy_n(pairs, 2 * n, all.data() + 2 * m->size);
  return map_from_pairs(heap, all.data(), m->size + n);
}

namespace {

/// When several keys are missing, names the first in key order, whatever the order of the updates.
[[gnu::cold, gnu::noinline]] Term no_update(Term map, const Term* pairs, Word n, Term* missing) {
  *missing = kNonValue;
  for (Word i = 0; i < n; ++i) {
    const Term key = pairs[2 * i];
    if (!map_get(map, key) && (!*missing || compare_keys(key, *missing) < 0)) *missing = key;
  }
  return kNonValue;
}

}  // namespace

Term map_update_many(TermSpace& heap, Term map, const Term* pairs, Word n, Term* missing) {
  if (n == 1 || !is_flat_map(map)) {
    for (Word i = 0; i < n; ++i) {
      const Term next = map_update(heap, map, pairs[2 * i], pairs[2 * i + 1]);
      if (!next) return no_update(map, pairs, n, missing);
      map = next;
    }
    return map;
  }
  const FlatMap* m = flatmap_of(map);
  Term values[kFlatMapMax];
  std::copy_n(m->values(), m->size, values);
  for (Word i = 0; i < n; ++i) {
    const SWord at = flat_find(m, pairs[2 * i]);
    if (at < 0) return no_update(map, pairs, n, missing);
    values[at] = pairs[2 * i + 1];
  }
  return map_with_keys(heap, m->keys, values);
}

}  // namespace vmrun
