// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "vm/heap/copy.hpp"
#include "vm/heap/heap.hpp"

/// The objects of a table, kept in a hash table (set, bag, duplicate_bag) or a search tree
/// (ordered_set). Stores do no locking: the caller holds the table's lock, exclusively for changes.
/// In a striped store, which is a set, find, insert, replace and erase touch only what belongs to
/// the stripe of the key's hash, so the lock of that stripe is enough, unless the table is fixed:
/// then changes need the whole lock. Objects that go out of use are collected in a `Released` list,
/// so that they are freed after the lock is given back.
namespace vmrun::ets {

enum class Kind : std::uint8_t { kSet, kOrderedSet, kBag, kDuplicateBag };
inline bool is_bag(Kind k) { return k == Kind::kBag || k == Kind::kDuplicateBag; }

/// A tuple of a table: one allocation with its terms inside.
struct Object {
  Object* next;        // in the chain of a hash bucket, or in a list of released objects
  std::uint64_t hash;  // hash of the key (hash store)
  OffHeapObject* off_heap;
  Term tuple;
  std::uint32_t words;  // size of a copy
  bool dead;            // deleted while the table was fixed; a traversal can still go on from it
  Term memory[1];
};

/// Returns a copy of `tuple`. Fires copy_struct. make_object_within returns nullptr when the copy
/// would take more than most_words.
Object* make_object(Term tuple);
Object* make_object_within(SWord most_words, Term tuple);
void destroy_object(Object* o);
struct DestroyObject {
  void operator()(Object* o) const { destroy_object(o); }
};
using OwnObject = std::unique_ptr<Object, DestroyObject>;

/// Objects to free at the end of a scope.
class Released {
 public:
  Released() = default;
  Released(const Released&) = delete;
  ~Released() {
    while (first_) {
      Object* next = first_->next;
      destroy_object(first_);
      first_ = next;
    }
  }
  void add(Object* o) {
    o->next = first_;
    first_ = o;
  }

 private:
  Object* first_ = nullptr;
};

/// How far a walk has come. The key points into the store, or to where the caller has kept it.
struct Position {
  enum { kStart, kInside, kEnd } state = kStart;
  std::size_t bucket = 0;   // hash store: the next bucket
  Term key = kNonValue;     // search tree: the last key visited
  Term within = kNonValue;  // search tree: visit only keys that this pattern may match
};

constexpr Word kStripes = 64;

/// Statistics of a hash table's chains. `kept`: deleted objects that stay because the table is
/// fixed.
struct ChainStatistics {
  Word buckets = 0, least = 0, most = 0, kept = 0;
  double mean = 0, deviation = 0;
  /// The deviation that a hash function gives which spreads its keys evenly (binomial
  /// distribution).
  double expected_deviation() const { return std::sqrt(mean * (1 - 1.0 / static_cast<double>(buckets))); }
};

class Store {
 public:
  Store(Kind kind, Word keypos, bool striped = false)
      : kind_(kind), keypos_(keypos), counts_(new Count[striped ? kStripes : 1]), striped_(striped) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;

  Term key_of(const Object* o) const { return o->tuple.element(keypos_ - 1); }
  Kind kind() const { return kind_; }
  Word keypos() const { return keypos_; }
  bool striped() const { return striped_; }
  /// While others change a striped store, the sum is only approximate: its parts are read one by
  /// one.
  Word count() const { return sum(&Count::objects); }
  Word memory_words() const {
    return sum(&Count::words) + overhead_words() + (striped_ ? kStripes : 1) * sizeof(Count) / sizeof(Word);
  }

  /// find returns the newest object with this key, next_same the next older one with the same key;
  /// nullptr when there is no such object.
  virtual Object* find(Term key) const = 0;
  virtual Object* next_same(Object* o) const = 0;

  /// Takes ownership of the object. A set replaces the object with its key; a bag keeps no two
  /// equal objects.
  virtual void insert(Object* o, Released& released) = 0;
  /// `fresh` has the same key as `old` and takes its place.
  virtual void replace(Object* old, Object* fresh, Released& released) = 0;
  virtual void erase(Object* o, Released& released) = 0;

  /// Keys in the order of traversal. next and previous set *exists to whether a traversal can go on
  /// from `key` at all.
  virtual Object* first() const = 0;
  virtual Object* last() const = 0;
  virtual Object* next(Term key, bool* exists) const = 0;
  virtual Object* previous(Term key, bool* exists) const = 0;
  /// This traversal meets deleted objects too, which stay while the store is fixed.
  virtual const Object* first_kept() const { return first(); }
  virtual const Object* next_kept(Term key, bool* exists) const { return next(key, exists); }
  /// Visits the objects of a key, also deleted ones.
  virtual void for_each_kept_of(Term key, const std::function<void(const Object*)>& visit) const {
    for (Object* o = find(key); o; o = next_same(o)) visit(o);
  }

  /// For a search tree: returns the object at a place in the order, from 0, or nullptr behind the
  /// last one. Asking for places one after the other costs one step each; steps_to returns the
  /// number of steps that nth would take.
  virtual Object* nth(Word) const { return nullptr; }
  virtual Word steps_to(Word place) const { return place; }

  /// For a caller that goes from key to key in a striped store with the lock of one stripe at a
  /// time. next_in_bucket returns the next object in the key's own bucket, and sets the number of
  /// the bucket to go on with. first_of_bucket returns the first object of a bucket; the bucket's
  /// stripe is that of its number taken as a hash.
  virtual Object* next_in_bucket(Term key, bool* exists, std::size_t*) const { return next(key, exists); }
  virtual Object* first_of_bucket(std::size_t) const { return nullptr; }
  virtual std::size_t bucket_count() const { return 0; }
  /// Counts by visiting all objects. A store without chains returns nothing.
  virtual std::optional<ChainStatistics> chains() const { return {}; }

  /// Goes on from a position and leaves the position behind what it has visited. It visits whole
  /// steps (a bucket, an object): when `visit` returns false, the walk ends after that step.
  virtual void walk(Position& at, bool backwards, const std::function<bool(Object*)>& visit) const = 0;

  /// Visits all objects, also deleted ones that stay because the table is fixed.
  virtual void for_each_kept(const std::function<void(const Object*)>& visit) const {
    Position all;
    walk(all, false, [&](Object* o) { return visit(o), true; });
  }

  /// For a store that is about to be destroyed: frees up to `left` objects and counts `left` down.
  /// Returns true when no object is left.
  [[nodiscard]] virtual bool free_some(SWord& left) = 0;

  /// While the store is fixed, objects stay where they are and deleted ones remain as places; the
  /// last unfix removes those.
  virtual void fix() {}
  virtual void unfix(Released&) {}
  virtual bool is_fixed() const { return false; }

  /// Changes of a striped store do not resize it themselves. After a change in a stripe,
  /// is_unbalanced tells whether it should be resized. balance() makes up to most_steps steps
  /// towards the right size, with the whole lock held exclusively; two steps for each inserted
  /// object keep up.
  virtual bool is_unbalanced(std::uint64_t) const { return false; }
  virtual void balance(Word most_steps) { (void)most_steps; }
  static constexpr Word kStepsAtATime = 512;  // some ten microseconds

 protected:
  virtual Word overhead_words() const = 0;
  static Word memory_of(const Object* o) { return o->words + sizeof(Object) / sizeof(Word); }
  void count_in(const Object* o) {
    Count& c = counts_[stripe_of(o->hash)];
    c.add(&Count::objects, 1), c.add(&Count::words, memory_of(o));
  }
  void count_out(const Object* o) {
    count_dead(o);
    forget_dead(o);
  }
  /// An object that is deleted from a fixed table still takes memory.
  void count_dead(const Object* o) { counts_[stripe_of(o->hash)].add(&Count::objects, Word{} - 1); }
  void forget_dead(const Object* o) { counts_[stripe_of(o->hash)].add(&Count::words, Word{} - memory_of(o)); }
  Word count_in_stripe(std::uint64_t hash) const {
    return counts_[stripe_of(hash)].objects.load(std::memory_order_relaxed);
  }

  const Kind kind_;
  const Word keypos_;

 private:
  /// Changed by the thread that holds the stripe, read by any thread.
  struct alignas(64) Count {
    std::atomic<Word> objects{0}, words{0};  // words: includes dead objects
    void add(std::atomic<Word> Count::*what, Word n) {
      (this->*what).store((this->*what).load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
  };
  Word stripe_of(std::uint64_t hash) const { return striped_ ? hash % kStripes : 0; }
  Word sum(std::atomic<Word> Count::*what) const {
    Word all = 0;
    for (Word i = 0; i < (striped_ ? kStripes : 1); ++i)
      all += (counts_[i].*what).load(std::memory_order_relaxed);
    return all;
  }

  const std::unique_ptr<Count[]> counts_;
  const bool striped_;
};

/// striped: only for a set.
std::unique_ptr<Store> make_hash_store(Kind kind, Word keypos, bool striped = false);
std::unique_ptr<Store> make_tree_store(Word keypos);

}  // namespace vmrun::ets
