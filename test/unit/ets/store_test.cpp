// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

#include "runtime/ets/store.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"

using namespace vmrun;
using namespace vmrun::ets;

namespace {

Term row(Heap& heap, SWord key, SWord value) {
  Term* hp = heap.alloc(3);
  return make_tuple(hp, Term::small(key), Term::small(value));
}

std::unique_ptr<Store> make_store(Kind kind) {
  return kind == Kind::kOrderedSet ? make_tree_store(1) : make_hash_store(kind, 1);
}

/// What the table should hold: values by key, newest last.
using Model = std::map<SWord, std::vector<SWord>>;

void apply_insert(Model& model, Kind kind, SWord key, SWord value) {
  auto& values = model[key];
  if (!is_bag(kind)) values.clear();
  if (kind == Kind::kBag && std::count(values.begin(), values.end(), value)) return;
  values.push_back(value);
}

void check(const Store& store, const Model& model) {
  Word count = 0;
  for (const auto& [key, values] : model) {
    count += values.size();
    std::vector<SWord> found;
    for (Object* o = store.find(Term::small(key)); o; o = store.next_same(o))
      found.insert(found.begin(), o->tuple.element(1).small_value());
    REQUIRE(found == values);
  }
  REQUIRE(store.count() == count);
  // Traversal by key and by walk both meet everything once.
  std::multiset<SWord> by_key, by_walk, expected;
  for (const auto& [key, values] : model) {
    if (!values.empty()) expected.insert(key);
  }
  bool exists = true;
  for (Object* o = store.first(); o; o = store.next(store.key_of(o), &exists))
    by_key.insert(store.key_of(o).small_value());
  REQUIRE(by_key == expected);
  Position at;
  while (at.state != Position::kEnd) {
    store.walk(at, false, [&](Object* o) {
      by_walk.insert(store.key_of(o).small_value());
      return by_walk.size() % 7 != 0;
    });
  }
  REQUIRE(by_walk.size() == count);
}

}  // namespace

TEST_CASE("Stores of every kind hold what was put in, through growth, shrinking and fixation") {
  const struct {
    Kind kind;
    bool striped;
  } all[] = {{Kind::kSet, false},
             {Kind::kSet, true},
             {Kind::kOrderedSet, false},
             {Kind::kBag, false},
             {Kind::kDuplicateBag, false}};
  for (const auto [kind, striped] : all) {
    std::mt19937 random(static_cast<unsigned>(kind) + 1);
    Heap heap;
    const auto store = striped ? make_hash_store(kind, 1, true) : make_store(kind);
    Model model;
    unsigned fixes = 0;
    for (int round = 0; round < 6000; ++round) {
      Released released;
      const SWord key = random() % (round / 2000 == 1 ? 900 : 60), value = random() % 4;
      const unsigned action = random() % 100;
      const unsigned inserts = round / 1000 % 2 ? 30 : 65;
      if (action < inserts) {
        store->insert(make_object(row(heap, key, value)), released);
        apply_insert(model, kind, key, value);
      } else if (action < 96) {
        for (Object* o = store->find(Term::small(key)); o;) {
          Object* older = store->next_same(o);
          store->erase(o, released);
          o = older;
        }
        model.erase(key);
      } else if (action < 98) {
        store->fix();
        ++fixes;
      } else if (fixes) {
        store->unfix(released);
        --fixes;
      }
      if (store->is_unbalanced(hash_term(Term::small(key)))) store->balance(Store::kStepsAtATime);
      if (round % 500 == 499) check(*store, model);
    }
    Released released;
    for (; fixes; --fixes) store->unfix(released);
    check(*store, model);
  }
}

TEST_CASE("A traversal of a fixed table meets each object once though it deletes and inserts on its way") {
  Heap heap;
  const auto store = make_store(Kind::kSet);
  Released released;
  for (SWord i = 0; i < 500; ++i) store->insert(make_object(row(heap, i, 0)), released);
  store->fix();
  std::set<SWord> met;
  bool exists = true;
  for (Object* o = store->first(); o;) {
    const Term key = store->key_of(o);
    REQUIRE(met.insert(key.small_value()).second);
    store->erase(o, released);
    if (key.small_value() % 2) store->insert(make_object(row(heap, key.small_value(), 1)), released);
    o = store->next(key, &exists);
    REQUIRE(exists);
  }
  CHECK(met.size() == 500);
  CHECK(store->count() == 250);
  store->unfix(released);
  CHECK(store->count() == 250);
  CHECK(store->find(Term::small(0)) == nullptr);
  CHECK(store->find(Term::small(1)) != nullptr);
}

TEST_CASE("An ordered store takes 1 and 1.0 for one key") {
  Heap heap;
  const auto store = make_store(Kind::kOrderedSet);
  Released released;
  store->insert(make_object(row(heap, 1, 0)), released);
  Term* hp = heap.alloc(5);
  const Term one = make_float(hp, 1.0);
  store->insert(make_object(make_tuple(hp, one, Term::small(7))), released);
  CHECK(store->count() == 1);
  CHECK(store->find(Term::small(1))->tuple.element(1) == Term::small(7));
  CHECK(store->key_of(store->first()).is_float());
}
