// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "runtime/ets/store.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"

// Linear hashing (Litwin, VLDB 1980): the table grows and shrinks by one bucket at a time, so no
// operation ever moves everything. Objects with equal keys stand next to each other in their chain,
// the newest first. While the table is fixed no bucket is split or merged. An object whose key is
// in the table already, dead or alive, is inserted in front of that key's objects, or takes the
// place of a dead one. So a traversal that goes from key to key meets no object twice, and a key
// that comes and goes takes one place.
//
// A striped store has at least as many buckets as stripes, so that a bucket and the one that is
// split off from it belong to one stripe.

namespace vmrun::ets {
namespace {

constexpr std::size_t kLeastBuckets = usual_or_small<std::size_t>(8, 1);

class HashStore final : public Store {
 public:
  HashStore(Kind kind, Word keypos, bool striped)
      : Store(kind, keypos, striped), least_(striped ? kStripes : kLeastBuckets), buckets_(least_) {}
  ~HashStore() override {
    Released all;
    for (Object* o : buckets_) {
      while (o) {
        Object* next = o->next;
        all.add(o);
        o = next;
      }
    }
  }

  bool free_some(SWord& left) override {
    for (; !buckets_.empty(); buckets_.pop_back()) {
      Object*& first = buckets_.back();
      while (first) {
        if (--left < 0) return false;
        Object* next = first->next;
        destroy_object(first);
        first = next;
      }
    }
    return true;
  }

  Object* find(Term key) const override {
    const std::uint64_t hash = hash_term(key);
    for (Object* o = buckets_[index(hash)]; o; o = o->next) {
      if (!o->dead && has_key(o, hash, key)) return o;
    }
    return nullptr;
  }

  Object* next_same(Object* o) const override {
    if (kind_ == Kind::kSet) return nullptr;
    const Term key = key_of(o);
    for (Object* n = o->next; n && has_key(n, o->hash, key); n = n->next) {
      if (!n->dead) return n;
    }
    return nullptr;
  }

  void insert(Object* o, Released& released) override {
    const Term key = key_of(o);
    o->hash = hash_term(key);
    Object** link = &buckets_[index(o->hash)];
    while (*link && !has_key(*link, o->hash, key)) link = &(*link)->next;
    if (!*link) link = &buckets_[index(o->hash)];  // a new key: in front of the chain
    if (kind_ != Kind::kDuplicateBag) {
      for (Object** same = link; *same && has_key(*same, o->hash, key); same = &(*same)->next) {
        if (kind_ == Kind::kSet) return put_in_place(same, o, released);
        if ((*same)->dead) continue;
        if (equal_exact((*same)->tuple, o->tuple)) return released.add(o);
      }
    }
    if (*link && (*link)->dead && has_key(*link, o->hash, key)) return put_in_place(link, o, released);
    o->next = *link;
    *link = o;
    count_in(o);
    if (striped()) return;
    // Two splits, because many objects may have been inserted while the table was fixed.
    for (int i = 0; i < 2 && fixes_ == 0 && count() > buckets_.size(); ++i) split();
  }

  void replace(Object* old, Object* fresh, Released& released) override {
    fresh->hash = old->hash;
    put_in_place(link_to(old), fresh, released);
  }

  void erase(Object* o, Released& released) override {
    if (fixes_) {
      count_dead(o);
      o->dead = true;
      if (dead_in_.size() <= buckets_.size()) dead_in_.push_back(index(o->hash));
      return;
    }
    count_out(o);
    *link_to(o) = o->next;
    released.add(o);
    if (!striped() && count() * 4 < buckets_.size() && buckets_.size() > least_) merge();
  }

  Object* first() const override { return first_in(0); }
  Object* last() const override { return first(); }  // there is no order; OTP does this too
  Object* next(Term key, bool* exists) const override {
    std::size_t bucket;
    Object* o = next_in_bucket(key, exists, &bucket);
    return o || !*exists ? o : first_in(bucket);
  }
  Object* next_in_bucket(Term key, bool* exists, std::size_t* bucket) const override {
    const std::uint64_t hash = hash_term(key);
    *bucket = index(hash);
    Object* o = buckets_[(*bucket)++];
    while (o && !has_key(o, hash, key)) o = o->next;
    *exists = o != nullptr;
    while (o && (o->dead || has_key(o, hash, key))) o = o->next;
    return o;
  }
  const Object* first_kept() const override { return first_kept_in(0); }
  const Object* next_kept(Term key, bool* exists) const override {
    const std::uint64_t hash = hash_term(key);
    const Object* o = first_with(key, hash);
    *exists = o != nullptr;
    while (o && has_key(o, hash, key)) o = o->next;
    return o || !*exists ? o : first_kept_in(index(hash) + 1);
  }
  void for_each_kept_of(Term key, const std::function<void(const Object*)>& visit) const override {
    const std::uint64_t hash = hash_term(key);
    for (const Object* o = first_with(key, hash); o && has_key(o, hash, key); o = o->next) visit(o);
  }
  Object* first_of_bucket(std::size_t bucket) const override { return alive(buckets_[bucket]); }
  std::size_t bucket_count() const override { return buckets_.size(); }
  std::optional<ChainStatistics> chains() const override {
    ChainStatistics s{.buckets = buckets_.size(), .least = std::numeric_limits<Word>::max()};
    Word all = 0, squares = 0;
    for (const Object* o : buckets_) {
      Word length = 0;
      for (; o; o = o->next, ++length) s.kept += o->dead;
      all += length;
      squares += length * length;
      s.least = std::min(s.least, length);
      s.most = std::max(s.most, length);
    }
    const auto n = static_cast<double>(s.buckets);
    s.mean = static_cast<double>(all) / n;
    s.deviation = std::sqrt(std::max(0.0, static_cast<double>(squares) / n - s.mean * s.mean));
    return s;
  }
  Object* previous(Term key, bool* exists) const override { return next(key, exists); }

  void walk(Position& at, bool, const std::function<bool(Object*)>& visit) const override {
    bool more = true;
    for (; more && at.bucket < buckets_.size(); ++at.bucket) {
      if (at.bucket + kAhead < buckets_.size()) prefetch(buckets_[at.bucket + kAhead]);
      for (Object* o = buckets_[at.bucket]; o; o = o->next) {
        if (!o->dead && !visit(o)) more = false;
      }
    }
    at.state = at.bucket < buckets_.size() ? Position::kInside : Position::kEnd;
  }

  void for_each_kept(const std::function<void(const Object*)>& visit) const override {
    for (const Object* o : buckets_)
      for (; o; o = o->next) visit(o);
  }

  void fix() override { ++fixes_; }
  void unfix(Released& released) override {
    if (--fixes_ || dead_in_.empty()) return;
    if (dead_in_.size() > buckets_.size())
      for (Object*& bucket : buckets_) remove_dead(&bucket, released);
    else
      for (std::size_t i : dead_in_) remove_dead(&buckets_[i], released);
    dead_in_ = {};
  }
  bool is_fixed() const override { return fixes_ != 0; }

  /// The stripe alone is cheap to check; if it looks unbalanced, the count of the whole store
  /// decides.
  bool is_unbalanced(std::uint64_t hash) const override {
    const Word in_stripe = count_in_stripe(hash), buckets = buckets_.size() / kStripes;
    return fixes_ == 0 && ((in_stripe > buckets + 2 && has_too_few(2 * count())) ||
                           (in_stripe * 8 < buckets && has_too_many(2 * count())));
  }
  void balance(Word most_steps) override {
    if (!striped()) return;
    const Word wanted = 2 * count();
    for (Word i = 0; i < most_steps && fixes_ == 0; ++i) {
      if (has_too_few(wanted)) split();
      else if (has_too_many(wanted)) merge();
      else return;
    }
  }

 private:
  Word overhead_words() const override {
    return buckets_.capacity() + dead_in_.capacity() + sizeof(*this) / sizeof(Word);
  }

  bool has_key(const Object* o, std::uint64_t hash, Term key) const {
    return o->hash == hash && equal_exact(key_of(o), key);
  }

  const Object* first_with(Term key, std::uint64_t hash) const {
    const Object* o = buckets_[index(hash)];
    while (o && !has_key(o, hash, key)) o = o->next;
    return o;
  }
  const Object* first_kept_in(std::size_t bucket) const {
    for (; bucket < buckets_.size(); ++bucket)
      if (buckets_[bucket]) return buckets_[bucket];
    return nullptr;
  }

  static std::size_t index_among(std::uint64_t hash, std::size_t buckets) {
    const std::size_t mask = std::bit_ceil(buckets) - 1, i = hash & mask;
    return i < buckets ? i : i & mask >> 1;
  }
  std::size_t index(std::uint64_t hash) const { return index_among(hash, buckets_.size()); }

  Object** link_to(Object* o) {
    Object** link = &buckets_[index(o->hash)];
    while (*link != o) link = &(*link)->next;
    return link;
  }

  void put_in_place(Object** link, Object* fresh, Released& released) {
    Object* old = *link;
    fresh->next = old->next;
    *link = fresh;
    if (old->dead) forget_dead(old);
    else count_out(old);
    count_in(fresh);
    released.add(old);
  }

  void remove_dead(Object** link, Released& released) {
    while (Object* o = *link) {
      if (!o->dead) {
        link = &o->next;
        continue;
      }
      *link = o->next;
      forget_dead(o);
      released.add(o);
    }
  }

  /// Objects of neighbouring buckets lie anywhere in memory, so a walk prefetches them.
  static constexpr std::size_t kAhead = 8;
  static void prefetch(const Object* o) {
    __builtin_prefetch(o);
    __builtin_prefetch(reinterpret_cast<const char*>(o) + 64);
  }

  static Object* alive(Object* o) {
    while (o && o->dead) o = o->next;
    return o;
  }
  Object* first_in(std::size_t bucket) const {
    for (; bucket < buckets_.size(); ++bucket)
      if (Object* o = alive(buckets_[bucket])) return o;
    return nullptr;
  }

  /// Adds a bucket, which takes its objects from the one that has held them so far. Both keep their
  /// order.
  [[gnu::no_stack_protector]] void split() {
    const std::size_t fresh = buckets_.size(), buckets = fresh + 1,
                      source = fresh & (std::bit_ceil(buckets) - 1) >> 1;
    buckets_.push_back(nullptr);
    Object** stay = &buckets_[source];
    Object** move = &buckets_[fresh];
    for (Object* o = *stay; o; o = o->next) {
      Object**& link = index_among(o->hash, buckets) == fresh ? move : stay;
      *link = o;
      link = &o->next;
    }
    *stay = *move = nullptr;
  }
  void merge() {
    const std::size_t last = buckets_.size() - 1, target = last & (std::bit_ceil(last + 1) - 1) >> 1;
    Object** end = &buckets_[target];
    while (*end) end = &(*end)->next;
    *end = buckets_[last];
    buckets_.pop_back();
    if (buckets_.capacity() > 4 * buckets_.size()) buckets_.shrink_to_fit();
  }

  bool has_too_few(Word wanted) const { return buckets_.size() < wanted; }
  bool has_too_many(Word wanted) const { return buckets_.size() > 4 * wanted && buckets_.size() > least_; }

  const std::size_t least_;
  std::vector<Object*> buckets_;
  Word fixes_ = 0;
  /// Buckets with dead objects; a bucket may occur several times. When the list is longer than
  /// buckets_, dead objects may be in any bucket.
  std::vector<std::size_t> dead_in_;
};

}  // namespace

Object* make_object(Term tuple) { return make_object_within(INT64_MAX, tuple); }
[[gnu::no_stack_protector]] Object* make_object_within(SWord most_words, Term tuple) {
  const SWord words = size_words_within(most_words, tuple);
  if (words < 0) return nullptr;
  if (probe::copy_struct_enabled()) [[unlikely]]
    announce_copy(tuple);
  auto* o = static_cast<Object*>(
      allocate_bytes(offsetof(Object, memory) + static_cast<Word>(words) * sizeof(Term), "an ets object"));
  o->next = nullptr;
  o->hash = 0;
  o->off_heap = nullptr;
  o->words = static_cast<std::uint32_t>(words);
  o->dead = false;
  Term* hp = o->memory;
  o->tuple = copy_term(tuple, hp, o->off_heap, Literals::kCopied);
  return o;
}

void destroy_object(Object* o) {
  release_off_heap_list(o->off_heap);
  free_bytes(o);
}

std::unique_ptr<Store> make_hash_store(Kind kind, Word keypos, bool striped) {
  return std::make_unique<HashStore>(kind, keypos, striped);
}

}  // namespace vmrun::ets
