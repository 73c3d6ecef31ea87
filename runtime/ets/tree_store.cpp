// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <mutex>
#include <set>
#include <tuple>

#include "runtime/ets/match_spec.hpp"
#include "runtime/ets/store.hpp"
#include "vm/term/compare.hpp"

// ordered_set: keys in term order, 1 and 1.0 being the same key.

namespace vmrun::ets {
namespace {

/// An element of the search tree. Its object may be exchanged for another one with an equal key, so
/// the object does not take part in the element's constness.
struct Node {
  mutable Object* object;
  mutable Term key;  // the object's key, kept here to save two loads at each step of a search
};

/// Stands for all keys that a pattern may match; they are next to each other.
struct KeyPattern {
  Term pattern;
};

struct Less {
  using is_transparent = void;
  bool operator()(const Node& a, const Node& b) const { return compare(a.key, b.key) < 0; }
  bool operator()(const Node& a, Term b) const { return compare(a.key, b) < 0; }
  bool operator()(Term a, const Node& b) const { return compare(a, b.key) < 0; }
  bool operator()(const Node& a, KeyPattern b) const { return compare_to_pattern(a.key, b.pattern) < 0; }
  bool operator()(KeyPattern a, const Node& b) const { return compare_to_pattern(b.key, a.pattern) > 0; }
};

class TreeStore final : public Store {
 public:
  explicit TreeStore(Word keypos) : Store(Kind::kOrderedSet, keypos) {}
  ~TreeStore() override {
    for (const Node& n : nodes_) destroy_object(n.object);
  }

  bool free_some(SWord& left) override {
    while (!nodes_.empty()) {
      if (--left < 0) return false;
      const auto first = nodes_.begin();
      destroy_object(first->object);
      nodes_.erase(first);
    }
    return true;
  }

  Object* find(Term key) const override {
    const auto it = nodes_.find(key);
    return it == nodes_.end() ? nullptr : it->object;
  }
  Object* next_same(Object*) const override { return nullptr; }

  void insert(Object* o, Released& released) override {
    const auto [it, inserted] = nodes_.insert(Node{o, key_of(o)});
    if (!inserted) return exchange(*it, o, released);
    count_in(o);
    last_asked_ = {nodes_.begin(), 0};
  }
  void replace(Object* old, Object* fresh, Released& released) override {
    exchange(*nodes_.find(key_of(old)), fresh, released);
  }
  void erase(Object* o, Released& released) override {
    count_out(o);
    nodes_.erase(nodes_.find(key_of(o)));
    last_asked_ = {nodes_.begin(), 0};
    released.add(o);
  }

  Object* first() const override { return nodes_.empty() ? nullptr : nodes_.begin()->object; }
  Object* last() const override { return nodes_.empty() ? nullptr : std::prev(nodes_.end())->object; }
  Object* next(Term key, bool* exists) const override {
    *exists = true;  // even a missing key has a place in the order
    const auto it = nodes_.upper_bound(key);
    return it == nodes_.end() ? nullptr : it->object;
  }
  Object* previous(Term key, bool* exists) const override {
    *exists = true;
    const auto it = nodes_.lower_bound(key);
    return it == nodes_.begin() ? nullptr : std::prev(it)->object;
  }

  Object* nth(Word place) const override {
    if (place >= count()) return nullptr;
    const std::unique_lock mine(asks_, std::try_to_lock);  // among other readers
    if (!mine) return std::next(nodes_.begin(), static_cast<SWord>(place))->object;
    const bool behind = place >= last_asked_.place;
    const auto from = behind ? last_asked_.node : nodes_.begin();
    last_asked_ = {std::next(from, static_cast<SWord>(place - (behind ? last_asked_.place : 0))), place};
    return last_asked_.node->object;
  }
  Word steps_to(Word place) const override {
    const std::unique_lock mine(asks_, std::try_to_lock);
    return mine && place >= last_asked_.place ? place - last_asked_.place : place;
  }

  void walk(Position& at, bool backwards, const std::function<bool(Object*)>& visit) const override {
    auto first = nodes_.begin(), behind = nodes_.end();
    if (at.within) std::tie(first, behind) = nodes_.equal_range(KeyPattern{at.within});
    auto it = at.state == Position::kStart
                  ? (backwards ? behind : first)
                  : (backwards ? nodes_.lower_bound(at.key) : nodes_.upper_bound(at.key));
    at.state = Position::kEnd;
    while (it != (backwards ? first : behind)) {
      if (backwards) --it;
      Object* o = it->object;
      if (!backwards) ++it;
      if (visit(o)) continue;
      at.key = key_of(o);
      at.state = Position::kInside;
      return;
    }
  }

 private:
  // A node of std::set is three links, a colour, the object and its key.
  Word overhead_words() const override { return count() * 6 + sizeof(*this) / sizeof(Word); }

  void exchange(const Node& n, Object* fresh, Released& released) {
    count_out(n.object);
    count_in(fresh);
    released.add(n.object);
    n.object = fresh;
    n.key = key_of(fresh);
  }

  using Nodes = std::set<Node, Less>;
  struct Place {
    Nodes::const_iterator node;
    Word place;
  };

  Nodes nodes_;
  mutable std::mutex asks_;  // guards last_asked_ among readers; a writer is alone
  mutable Place last_asked_{nodes_.begin(), 0};
};

}  // namespace

std::unique_ptr<Store> make_tree_store(Word keypos) { return std::make_unique<TreeStore>(keypos); }

}  // namespace vmrun::ets
