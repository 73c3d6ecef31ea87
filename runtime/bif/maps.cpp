// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/heap/literal.hpp"
#include "vm/term/map.hpp"
#include "vm/term/map_walk.hpp"

/// Module maps: the functions that are not written in Erlang (see runtime/lib/maps.erl).
namespace vmrun {

Term bif_maps_find_2(Process& p, const Term* a) {
  if (!a[1].is_map()) return raise_badmap(p, a[1]);
  const Term value = map_get(a[1], a[0]);
  return value ? new_tuple(p.heap, atoms::ok, value) : atoms::error;
}

Term bif_maps_get_2(Process& p, const Term* a) {
  if (!a[1].is_map()) return raise_badmap(p, a[1]);
  const Term value = map_get(a[1], a[0]);
  return value ? value : raise_badkey(p, a[0]);
}

Term bif_maps_is_key_2(Process& p, const Term* a) {
  return a[1].is_map() ? bool_term(map_get(a[1], a[0]).is_value()) : raise_badmap(p, a[1]);
}

Term bif_maps_put_3(Process& p, const Term* a) {
  return a[2].is_map() ? map_put(p.heap, a[2], a[0], a[1]) : raise_badmap(p, a[2]);
}

Term bif_maps_update_3(Process& p, const Term* a) {
  if (!a[2].is_map()) return raise_badmap(p, a[2]);
  const Term map = map_update(p.heap, a[2], a[0], a[1]);
  return map ? map : raise_badkey(p, a[0]);
}

Term bif_maps_remove_2(Process& p, const Term* a) {
  return a[1].is_map() ? map_remove(p.heap, a[1], a[0]) : raise_badmap(p, a[1]);
}

Term bif_maps_take_2(Process& p, const Term* a) {
  if (!a[1].is_map()) return raise_badmap(p, a[1]);
  Term value;
  const Term rest = map_remove(p.heap, a[1], a[0], &value);
  return value ? new_tuple(p.heap, value, rest) : atoms::error;
}

namespace {

/// Two flat maps have the same keys: the second takes the keys of the first if these are a literal,
/// which takes no room in a heap.
void share_literal_keys(Term first, Term second) {
  FlatMap *from = flatmap_of(first), *to = flatmap_of(second);
  if (is_literal(from->keys.ptr()) && !is_literal(second.ptr())) to->keys = from->keys;
}

}  // namespace

Term bif_maps_merge_2(Process& p, const Term* a) {
  if (!a[0].is_map()) return raise_badmap(p, a[0]);
  if (!a[1].is_map()) return raise_badmap(p, a[1]);
  const Word size = map_size(a[0]) + map_size(a[1]);
  if (too_long(2 * size)) return run_on_dirty(p, bif_maps_merge_2, a, 2);
  charge(p, static_cast<SWord>(size));
  const Term merged = map_merge(p.heap, a[0], a[1]);
  if (merged == a[1] && is_flat_map(a[0]) && map_size(a[0]) == map_size(a[1])) share_literal_keys(a[0], a[1]);
  return merged;
}

Term bif_maps_keys_1(Process& p, const Term* a) {
  if (!a[0].is_map()) return raise_badmap(p, a[0]);
  if (too_long(map_size(a[0]))) return run_on_dirty(p, bif_maps_keys_1, a, 1);
  charge(p, static_cast<SWord>(map_size(a[0])));
  ListBuilder list(p.heap);
  Term key, value;
  for (MapIterator it(a[0]); it.next(&key, &value);) list.add(key);
  return list.finish();
}

Term bif_maps_values_1(Process& p, const Term* a) {
  if (!a[0].is_map()) return raise_badmap(p, a[0]);
  if (too_long(map_size(a[0]))) return run_on_dirty(p, bif_maps_values_1, a, 1);
  charge(p, static_cast<SWord>(map_size(a[0])));
  ListBuilder list(p.heap);
  Term key, value;
  for (MapIterator it(a[0]); it.next(&key, &value);) list.add(value);
  return list.finish();
}

Term bif_maps_from_list_1(Process& p, const Term* a) {
  SWord n;
  if (!length_here(a[0], &n) || (n > 0 && too_long(8 * static_cast<Word>(n))))
    return run_on_dirty(p, bif_maps_from_list_1, a, 1);
  if (n < 0) return raise_badarg(p);
  std::vector<Term> pairs(static_cast<Word>(2 * n));
  Term* pair = pairs.data();
  for (Term list = a[0]; list.is_list(); list = list.tail(), pair += 2) {
    const Term t = list.head();
    if (!t.is_tuple() || t.tuple_arity() != 2) return raise_badarg(p);
    pair[0] = t.element(0);
    pair[1] = t.element(1);
  }
  charge(p, n * 4);
  return map_from_pairs(p.heap, pairs.data(), static_cast<Word>(n));
}

Term bif_maps_from_keys_2(Process& p, const Term* a) {
  SWord n;
  if (!length_here(a[0], &n) || (n > 0 && too_long(8 * static_cast<Word>(n))))
    return run_on_dirty(p, bif_maps_from_keys_2, a, 2);
  if (n < 0) return raise_badarg(p);
  std::vector<Term> pairs(static_cast<Word>(2 * n));
  Term* pair = pairs.data();
  for (Term list = a[0]; list.is_list(); list = list.tail(), pair += 2) {
    pair[0] = list.head();
    pair[1] = a[1];
  }
  charge(p, n * 4);
  return map_from_pairs(p.heap, pairs.data(), static_cast<Word>(n));
}

/// erts_internal:maps_to_list(Map, N): returns at most N pairs; all if N < 0.
Term bif_erts_internal_maps_to_list_2(Process& p, const Term* a) {
  if (!a[0].is_map()) return raise_badmap(p, a[0]);
  if (!a[1].is_small()) return raise_badarg(p);
  if (too_long(2 * map_size(a[0]))) return run_on_dirty(p, bif_erts_internal_maps_to_list_2, a, 2);
  charge(p, static_cast<SWord>(map_size(a[0])));
  SWord n = a[1].small_value();
  ListBuilder list(p.heap);
  Term key, value;
  for (MapIterator it(a[0]); n-- != 0 && it.next(&key, &value);) list.add(new_tuple(p.heap, key, value));
  return list.finish();
}

namespace {

/// Makes {K, V, {K, V, … Rest}}, where Rest is a list [Path | Map] or none.
Term iterator_of(Heap& heap, const std::vector<Term>& pairs, unsigned next, Term map) {
  Term rest = intern_atom("none");
  if (next < kMapWalkEnd) {
    Term* hp = heap.alloc(2);
    rest = make_cons(hp, Term::small(next), map);
  }
  for (std::size_t i = pairs.size(); i > 0; i -= 2) rest = new_tuple(heap, pairs[i - 2], pairs[i - 1], rest);
  return rest;
}

/// [{K, V}… | Before]
Term list_of(Heap& heap, const std::vector<Term>& pairs, Term before) {
  for (std::size_t i = pairs.size(); i > 0; i -= 2) {
    const Term pair = new_tuple(heap, pairs[i - 2], pairs[i - 1]);
    Term* hp = heap.alloc(2);
    before = make_cons(hp, pair, before);
  }
  return before;
}

constexpr Word kIteratorBatch = usual_or_small<Word>(32, 2);

/// Makes {K, V, {K, V, … Rest}} in the order of a list of keys; Rest is [Keys | Map] or none.
Term next_of_keys(Process& p, Term keys, Term map) {
  std::vector<Term> pairs;
  for (; keys.is_list() && pairs.size() < 2 * kIteratorBatch; keys = keys.tail()) {
    const Term value = map_get(map, keys.head());
    if (!value) return raise_badarg(p);
    pairs.insert(pairs.end(), {keys.head(), value});
  }
  if (!keys.is_list() && !keys.is_nil()) return raise_badarg(p);
  charge(p, static_cast<SWord>(pairs.size()));
  Term* hp = p.heap.alloc(2 * pairs.size() + 2);
  Term result = keys.is_list() ? make_cons(hp, keys, map) : atoms::none;
  for (std::size_t n = pairs.size(); n > 0; n -= 2)
    result = make_tuple(hp, pairs[n - 2], pairs[n - 1], result);
  return result;
}

}  // namespace

/// erts_internal:map_next(Path, Map, iterator | List): returns the next pairs as an iterator, or
/// all remaining pairs in front of List. (OTP's own maps puts later parts of them in front of
/// earlier ones. So only a list made in one piece has the order of maps:keys/1.) Since OTP 26 a
/// path may be a list of keys.
Term bif_erts_internal_map_next_3(Process& p, const Term* a) {
  const bool as_list = a[2].is_list() || a[2].is_nil();
  SWord from;
  if (a[1].is_map() && a[2] == intern_atom("iterator") && (a[0].is_list() || a[0].is_nil()))
    return next_of_keys(p, a[0], a[1]);
  if (!a[1].is_map() || (!as_list && a[2] != intern_atom("iterator")) ||
      !small_in_range(a[0], 0, kMapWalkEnd - 1, &from))
    return raise_badarg(p);
  if (is_flat_map(a[1]) && static_cast<Word>(from) > map_size(a[1])) return raise_badarg(p);
  if (as_list && too_long(2 * map_size(a[1]))) return run_on_dirty(p, bif_erts_internal_map_next_3, a, 3);
  std::vector<Term> pairs;
  const Word batch = as_list ? map_size(a[1]) + 1 : kIteratorBatch;
  const unsigned next = walk_map(a[1], static_cast<unsigned>(from), batch, &pairs);
  charge(p, static_cast<SWord>(pairs.size()));
  return as_list ? list_of(p.heap, pairs, a[2]) : iterator_of(p.heap, pairs, next, a[1]);
}

}  // namespace vmrun
