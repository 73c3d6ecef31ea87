// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "vm/base/allocate.hpp"
#include "vm/code/native_env.hpp"
#include "vm/term/map.hpp"

// The native interface: maps. An iterator over a flat map reads the map itself; for a large map it
// lists the pairs when it is made.

using namespace vmrun;

ERL_NIF_TERM enif_make_new_map(ErlNifEnv* env) { return from_term(empty_map(*env->heap)); }

int enif_get_map_size(ErlNifEnv*, ERL_NIF_TERM term, size_t* size) {
  if (!to_term(term).is_map()) return 0;
  *size = map_size(to_term(term));
  return 1;
}

int enif_get_map_value(ErlNifEnv*, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM* value) {
  if (!to_term(map).is_map()) return 0;
  const Term found = map_get(to_term(map), to_term(key));
  if (!found.is_value()) return 0;
  *value = from_term(found);
  return 1;
}

int enif_make_map_put(ErlNifEnv* env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM value,
                      ERL_NIF_TERM* out) {
  if (!to_term(map).is_map()) return 0;
  *out = from_term(map_put(*env->heap, to_term(map), to_term(key), to_term(value)));
  return 1;
}

int enif_make_map_update(ErlNifEnv* env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM value,
                         ERL_NIF_TERM* out) {
  if (!to_term(map).is_map()) return 0;
  const Term updated = map_update(*env->heap, to_term(map), to_term(key), to_term(value));
  if (!updated.is_value()) return 0;
  *out = from_term(updated);
  return 1;
}

int enif_make_map_remove(ErlNifEnv* env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM* out) {
  if (!to_term(map).is_map()) return 0;
  *out = from_term(map_remove(*env->heap, to_term(map), to_term(key)));
  return 1;
}

int enif_make_map_from_arrays(ErlNifEnv* env, ERL_NIF_TERM keys[], ERL_NIF_TERM values[], size_t count,
                              ERL_NIF_TERM* out) {
  std::vector<Term> pairs;
  pairs.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    pairs.push_back(to_term(keys[i]));
    pairs.push_back(to_term(values[i]));
  }
  bool duplicates = false;
  const Term map = map_from_pairs(*env->heap, pairs.data(), count, &duplicates);
  if (duplicates) return 0;
  *out = from_term(map);
  return 1;
}

// ---- Iterators: idx runs from 1 to size; 0 is before the first pair, size + 1 behind the last

int enif_map_iterator_create(ErlNifEnv*, ERL_NIF_TERM term, ErlNifMapIterator* it,
                             ErlNifMapIteratorEntry entry) {
  const Term map = to_term(term);
  if (!map.is_map() || (entry != ERL_NIF_MAP_ITERATOR_FIRST && entry != ERL_NIF_MAP_ITERATOR_LAST)) return 0;
  it->map = term;
  it->size = map_size(map);
  it->idx = entry == ERL_NIF_MAP_ITERATOR_FIRST ? 1 : it->size;
  if (is_flat_map(map)) {
    FlatMap* m = flatmap_of(map);
    it->u.flat.ks = reinterpret_cast<ERL_NIF_TERM*>(m->keys.tuple_elements());
    it->u.flat.vs = reinterpret_cast<ERL_NIF_TERM*>(m->values());
    return 1;
  }
  it->u.hash.wstack = nullptr;
  auto* pairs =
      static_cast<ERL_NIF_TERM*>(allocate_bytes(2 * it->size * sizeof(ERL_NIF_TERM), "a map iterator"));
  it->u.hash.kv = pairs;
  Term key, value;
  for (MapIterator all(map); all.next(&key, &value);) {
    *pairs++ = from_term(key);
    *pairs++ = from_term(value);
  }
  return 1;
}

void enif_map_iterator_destroy(ErlNifEnv*, ErlNifMapIterator* it) {
  if (!is_flat_map(to_term(it->map))) free_bytes(it->u.hash.kv);
  it->map = from_term(kNonValue);
}

int enif_map_iterator_is_head(ErlNifEnv*, ErlNifMapIterator* it) { return it->idx == 0; }
int enif_map_iterator_is_tail(ErlNifEnv*, ErlNifMapIterator* it) { return it->idx > it->size; }

int enif_map_iterator_next(ErlNifEnv*, ErlNifMapIterator* it) {
  if (it->idx <= it->size) ++it->idx;
  return it->idx <= it->size;
}
int enif_map_iterator_prev(ErlNifEnv*, ErlNifMapIterator* it) {
  if (it->idx > 0) --it->idx;
  return it->idx > 0;
}

int enif_map_iterator_get_pair(ErlNifEnv*, ErlNifMapIterator* it, ERL_NIF_TERM* key, ERL_NIF_TERM* value) {
  if (it->idx == 0 || it->idx > it->size) return 0;
  const std::size_t i = it->idx - 1;
  if (is_flat_map(to_term(it->map))) {
    *key = it->u.flat.ks[i];
    *value = it->u.flat.vs[i];
  } else {
    *key = it->u.hash.kv[2 * i];
    *value = it->u.hash.kv[2 * i + 1];
  }
  return 1;
}
