#pragma once

#include <functional>
#include <memory>

#include "vm/heap/copy.hpp"
#include "vm/heap/heap.hpp"

/// Where a table keeps its objects: a hash table (set, bag, duplicate_bag) or a search tree
/// (ordered_set). Stores know no locks: whoever holds the table's lock (exclusively for changes)
/// may call. Objects that go out of use are collected in a `Released` list so that they are freed
/// after the lock is given back.
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
  std::size_t bucket = 0;  // hash store: next one
  Term key = kNonValue;    // search tree: last one visited
};

class Store {
 public:
  Store(Kind kind, Word keypos) : kind_(kind), keypos_(keypos) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;

  Term key_of(const Object* o) const { return o->tuple.element(keypos_ - 1); }
  Kind kind() const { return kind_; }
  Word keypos() const { return keypos_; }
  Word count() const { return count_; }
  Word memory_words() const { return words_ + overhead_words(); }

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

  /// Goes on from a position; visits whole steps (a bucket, an object) until `visit` has returned
  /// false and the step is over, and leaves the position behind it.
  virtual void walk(Position& at, bool backwards, const std::function<bool(Object*)>& visit) const = 0;

  /// Of a store that is about to be destroyed: frees so many objects, and counts them down. True
  /// when none is left.
  [[nodiscard]] virtual bool free_some(SWord& left) = 0;

  /// While fixed, objects stay where they are and deleted ones remain as places; the last unfix
  /// removes those.
  virtual void fix() {}
  virtual void unfix(Released&) {}

 protected:
  virtual Word overhead_words() const = 0;
  static Word memory_of(const Object* o) { return o->words + sizeof(Object) / sizeof(Word); }
  void count_in(const Object* o) { ++count_, words_ += memory_of(o); }
  void count_out(const Object* o) { --count_, words_ -= memory_of(o); }

  const Kind kind_;
  const Word keypos_;
  Word count_ = 0;
  Word words_ = 0;  // of objects, dead ones included
};

std::unique_ptr<Store> make_hash_store(Kind kind, Word keypos);
std::unique_ptr<Store> make_tree_store(Word keypos);

}  // namespace vmrun::ets
