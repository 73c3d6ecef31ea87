// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>

#include "vm/base/release.hpp"
#include "vm/heap/literal.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/map.hpp"
#include "vm/term/map_walk.hpp"

using namespace vmrun;

namespace {

void check_same(Term map, const std::map<int, int>& model) {
  REQUIRE(map_size(map) == model.size());
  CHECK(is_flat_map(map) == (model.size() <= kFlatMapMax));
  for (const auto& [k, v] : model) {
    const Term found = map_get(map, Term::small(k));
    REQUIRE(found);
    CHECK(found.small_value() == v);
  }
  Term key, value;
  Word n = 0;
  for (MapIterator it(map); it.next(&key, &value); ++n)
    CHECK(model.at(static_cast<int>(key.small_value())) == value.small_value());
  CHECK(n == model.size());
}

}  // namespace

TEST_CASE("maps follow a model through random puts and removes, across both representations") {
  init_literal_area();
  std::mt19937 random(7);
  for (const int range : {20, 40, 300, 5000}) {
    Arena h;
    Term map = empty_map(h);
    std::map<int, int> model;
    for (int i = 0; i < 4000; ++i) {
      const int k = static_cast<int>(random() % static_cast<unsigned>(range));
      if (random() % 5 < 3) {
        map = map_put(h, map, Term::small(k), Term::small(i));
        model[k] = i;
      } else {
        Term value;
        map = map_remove(h, map, Term::small(k), &value);
        CHECK(value.is_value() == (model.erase(k) == 1));
      }
      if (i % 500 == 0) check_same(map, model);
    }
    check_same(map, model);
    // All pairs at once give an equal map, whatever the history.
    std::vector<Term> pairs;
    for (const auto& [k, v] : model) pairs.insert(pairs.end(), {Term::small(k), Term::small(v)});
    bool duplicates;
    const Term built = map_from_pairs(h, pairs.data(), model.size(), &duplicates);
    CHECK_FALSE(duplicates);
    CHECK(equal_exact(map, built));
    while (!model.empty()) {
      map = map_remove(h, map, Term::small(model.begin()->first));
      model.erase(model.begin());
      if (model.size() % 97 == 0) check_same(map, model);
    }
    CHECK(map_size(map) == 0);
  }
}

TEST_CASE("merge prefers the second map and counts common keys once") {
  init_literal_area();
  Arena h;
  for (const auto& [a, b, from] :
       {std::tuple{10, 10, 5}, {20, 30, 10}, {1000, 5, 998}, {5, 1000, 3}, {700, 900, 350}}) {
    Term x = empty_map(h), y = empty_map(h);
    std::map<int, int> model;
    for (int i = 0; i < a; ++i) x = map_put(h, x, Term::small(i), Term::small(1)), model[i] = 1;
    for (int i = from; i < from + b; ++i) y = map_put(h, y, Term::small(i), Term::small(2)), model[i] = 2;
    check_same(map_merge(h, x, y), model);
  }
}

TEST_CASE("flat maps keep key order and share the keys on update") {
  init_literal_area();
  Arena h;
  Term* hp = h.alloc(2);
  const Term one_point_zero = make_float(hp, 1.0);
  Term pairs[] = {intern_atom("zeta"), Term::small(1),       one_point_zero, Term::small(2), Term::small(1),
                  Term::small(3),      intern_atom("alpha"), Term::small(4), Term::small(1), Term::small(5)};
  bool duplicates;
  const Term map = map_from_pairs(h, pairs, 5, &duplicates);
  CHECK(duplicates);
  CHECK(map_size(map) == 4);
  std::vector<Term> keys;
  Term key, value;
  for (MapIterator it(map); it.next(&key, &value);) keys.push_back(key);
  CHECK(keys == std::vector<Term>{Term::small(1), one_point_zero, intern_atom("alpha"), intern_atom("zeta")});
  CHECK(map_get(map, Term::small(1)).small_value() == 5);
  const Term updated = map_update(h, map, Term::small(1), Term::small(9));
  CHECK(flatmap_of(updated)->keys == flatmap_of(map)->keys);
  CHECK(map_put(h, map, Term::small(1), Term::small(5)) == map);  // nothing changes
  CHECK_FALSE(map_update(h, map, Term::small(77), Term::small(9)));
}

TEST_CASE("a map that shrinks orders atoms as every small map does") {
  init_literal_area();
  for (const int release : {25, 27}) {
    use_release(release, true);  // by their texts, or by their numbers
    Arena h;
    Term shrunk = empty_map(h), small = empty_map(h);
    for (Word i = 0; i <= kFlatMapMax; ++i) {
      const Term key = intern_atom("key" + std::to_string(100 - i));
      shrunk = map_put(h, shrunk, key, Term::small(0));
      if (i < kFlatMapMax) small = map_put(h, small, key, Term::small(0));
    }
    shrunk = map_remove(h, shrunk, intern_atom("key" + std::to_string(100 - kFlatMapMax)));
    REQUIRE(is_flat_map(shrunk));
    CHECK(equal_exact(shrunk, small));
  }
  use_release(kNewestRelease, false);
}

TEST_CASE("walking in batches gives every pair once, from any stop") {
  init_literal_area();
  for (const int n : {0, 5, 33, 100, 20000}) {
    Arena h;
    std::vector<Term> pairs;
    for (int i = 0; i < n; ++i) pairs.insert(pairs.end(), {Term::small(i * 7), Term::small(i)});
    const Term map = map_from_pairs(h, pairs.data(), static_cast<Word>(n));
    std::vector<bool> seen(static_cast<std::size_t>(n));
    unsigned position = 0;
    while (position < kMapWalkEnd) {
      std::vector<Term> batch;
      position = walk_map(map, position, 10, &batch);
      for (std::size_t i = 0; i < batch.size(); i += 2) {
        const auto at = static_cast<std::size_t>(batch[i + 1].small_value());
        CHECK_FALSE(seen[at]);
        seen[at] = true;
      }
    }
    CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
  }
}
