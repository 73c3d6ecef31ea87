#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "vm/heap/copy.hpp"
#include "vm/heap/heap.hpp"

/// Where a table keeps its objects: a hash table (set, bag, duplicate_bag) or a search tree
/// (ordered_set). Stores know no locks: whoever holds the table's lock (exclusively for changes)
/// may call. In a striped store, which is a set, find, insert, replace and erase touch only what
/// belongs to the stripe of the key's hash, so the lock of that stripe is enough; but nothing may
/// be changed so while the table is fixed. Objects that go out of use are collected in a `Released`
/// list so that they are freed after the lock is given back.
namespace vmrun::ets {

enum class Kind : std::uint8_t { kSet, kOrderedSet, kBag, kDuplicateBag };
inline bool is_bag(Kind k) { return k == Kind::kBag || k == Kind::kDuplicateBag; }

/// A tuple of a table: one allocation, its terms inside.
struct Object {
  Object* next;        // chain of a hash bucket; list of released ones
  std::uint64_t hash;  // of the key (hash store)
  OffHeapObject* off_heap;
  Term tuple;
  std::uint32_t words;  // a copy takes
  bool dead;            // deleted while the table was fixed: still a place to go on from
  Term memory[1];
};

/// A copy of `tuple`. Fires copy_struct. Within: nullptr when it takes more words than that.
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

/// How far a walk has come. The key points into the store or wherever the caller has kept it.
struct Position {
  enum { kStart, kInside, kEnd } state = kStart;
  std::size_t bucket = 0;   // hash store: next one
  Term key = kNonValue;     // search tree: last one visited
  Term within = kNonValue;  // search tree: only keys that this pattern of one may match
};

constexpr Word kStripes = 64;

/// The chains of a hash table, deleted objects that stay because it is fixed among them: `kept`.
struct ChainStatistics {
  Word buckets = 0, least = 0, most = 0, kept = 0;
  double mean = 0, deviation = 0;
  /// Of a hash function that spreads its keys evenly (binomial distribution).
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
  /// While others change a striped one: of some moment, as good as now.
  Word count() const { return sum(&Count::objects); }
  Word memory_words() const {
    return sum(&Count::words) + overhead_words() + (striped_ ? kStripes : 1) * sizeof(Count) / sizeof(Word);
  }

  /// The newest object with this key; the next older one with the same key. nullptr: none.
  virtual Object* find(Term key) const = 0;
  virtual Object* next_same(Object* o) const = 0;

  /// Takes the object over. A set replaces what has the key; a bag keeps no two equal objects.
  virtual void insert(Object* o, Released& released) = 0;
  /// `fresh` has the same key as `old` and takes its place.
  virtual void replace(Object* old, Object* fresh, Released& released) = 0;
  virtual void erase(Object* o, Released& released) = 0;

  /// Keys in the order of traversal. next and previous: *exists tells whether a traversal can go on
  /// from `key` at all.
  virtual Object* first() const = 0;
  virtual Object* last() const = 0;
  virtual Object* next(Term key, bool* exists) const = 0;
  virtual Object* previous(Term key, bool* exists) const = 0;

  /// Of a search tree: the object at a place in the order, from 0; nullptr: there are not so many.
  /// Who asks for one after the other goes a step for each: steps_to tells how many nth would.
  virtual Object* nth(Word) const { return nullptr; }
  virtual Word steps_to(Word place) const { return place; }

  /// For who goes from key to key in a striped store with the lock of one stripe at a time: the
  /// next in the key's own bucket, and if there is none, the bucket to go on with; the first of a
  /// bucket, whose stripe is that of its number as a hash.
  virtual Object* next_in_bucket(Term key, bool* exists, std::size_t*) const { return next(key, exists); }
  virtual Object* first_of_bucket(std::size_t) const { return nullptr; }
  virtual std::size_t bucket_count() const { return 0; }
  /// Looks at all objects. Of a store without chains: nothing.
  virtual std::optional<ChainStatistics> chains() const { return {}; }

  /// Goes on from a position; visits whole steps (a bucket, an object) until `visit` has returned
  /// false and the step is over, and leaves the position behind it.
  virtual void walk(Position& at, bool backwards, const std::function<bool(Object*)>& visit) const = 0;

  /// All objects, deleted ones too that stay because it is fixed.
  virtual void for_each_kept(const std::function<void(const Object*)>& visit) const {
    Position all;
    walk(all, false, [&](Object* o) { return visit(o), true; });
  }

  /// Of a store that is about to be destroyed: frees so many objects, and counts them down. True
  /// when none is left.
  [[nodiscard]] virtual bool free_some(SWord& left) = 0;

  /// While fixed, objects stay where they are and deleted ones remain as places; the last unfix
  /// removes those.
  virtual void fix() {}
  virtual void unfix(Released&) {}
  virtual bool is_fixed() const { return false; }

  /// A striped store is not made larger or smaller by its changes themselves. After a change of a
  /// stripe: whether it should be. balance(), with all of it locked exclusively, goes so many steps
  /// towards it: two for each object that has come keep up.
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
  /// What dies in a fixed table still takes memory.
  void count_dead(const Object* o) { counts_[stripe_of(o->hash)].add(&Count::objects, Word{} - 1); }
  void forget_dead(const Object* o) { counts_[stripe_of(o->hash)].add(&Count::words, Word{} - memory_of(o)); }
  Word count_in_stripe(std::uint64_t hash) const {
    return counts_[stripe_of(hash)].objects.load(std::memory_order_relaxed);
  }

  const Kind kind_;
  const Word keypos_;

 private:
  /// Changed by who holds the stripe, read by anyone.
  struct alignas(64) Count {
    std::atomic<Word> objects{0}, words{0};  // words: of dead ones too
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

/// striped: a set.
std::unique_ptr<Store> make_hash_store(Kind kind, Word keypos, bool striped = false);
std::unique_ptr<Store> make_tree_store(Word keypos);

}  // namespace vmrun::ets
