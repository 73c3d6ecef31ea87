// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/term/map.hpp"

/// Information about the nodes of large maps: tries, whose leaves are cells [Key|Value].
namespace vmrun {
namespace {

/// Returns the nodes and leaves directly below the root or a node.
std::pair<const Term*, Word> children_of(const Term* node) {
  const Word first = map_kind(*node) == MapKind::kHashRoot ? 2 : 1;
  return {node + first, object_words(*node) - first};
}

using Histogram = std::array<Word, 16>;

struct TrieInfo {
  Word depth = 0, nodes = 0, leaves = 0;
  Histogram nodes_with{};    // by number of children, from 1
  Histogram leaves_below{};  // by number of nodes; the last one: that many or more
};

struct Place {
  Term entry;
  Word level;
};

TrieInfo look_through(Term map) {
  TrieInfo info;
  WorkStack<Place> work;
  work.push({map, 0});
  while (!work.empty()) {
    const auto [entry, level] = work.pop();
    info.depth = std::max(info.depth, level);
    if (entry.is_list()) {
      ++info.leaves;
      ++info.leaves_below[std::min<Word>(level, 15)];
      continue;
    }
    const auto [children, count] = children_of(entry.boxed_ptr());
    ++info.nodes;
    ++info.nodes_with[count - 1];
    for (Word i = 0; i < count; ++i) work.push({children[i], level + 1});
  }
  return info;
}

Term histogram_term(Process& p, const Histogram& counts) {
  Term* hp = p.heap.alloc(1 + counts.size());
  Term* tuple = hp;
  *hp++ = Term::header(Term::Sub::kTuple, counts.size());
  for (const Word n : counts) *hp++ = Term::small(static_cast<SWord>(n));
  return Term::boxed(tuple);
}

}  // namespace

/// [{depth, D}, {arrays, N, []}, {bitmaps, N, HowMany}, {leafs, N, HowMany}] of a large map. Every
/// node here has a bitmap of its children, so there are no arrays.
Term bif_erts_debug_map_info_1(Process& p, const Term* a) {
  if (!a[0].is_map()) return raise_badmap(p, a[0]);
  if (is_flat_map(a[0])) return raise_badarg(p);
  if (came_back(p) || too_long(map_size(a[0]))) return run_on_dirty(p, bif_erts_debug_map_info_1, a, 1);
  const TrieInfo info = look_through(a[0]);
  const auto number = [](Word n) { return Term::small(static_cast<SWord>(n)); };
  ListBuilder list(p.heap);
  list.add(new_tuple(p.heap, intern_atom("depth"), number(info.depth)));
  list.add(new_tuple(p.heap, intern_atom("arrays"), number(0), Term::nil()));
  const Term nodes = histogram_term(p, info.nodes_with);
  list.add(new_tuple(p.heap, intern_atom("bitmaps"), number(info.nodes), nodes));
  const Term leaves = histogram_term(p, info.leaves_below);
  list.add(new_tuple(p.heap, intern_atom("leafs"), number(info.leaves), leaves));
  return list.finish();
}

/// The children of a large map's root, or of a node that this function has returned. They are terms
/// for erts_debug:size/1 alone, which only passes them to this function and compares them for
/// identity.
Term bif_erts_internal_map_hashmap_children_1(Process& p, const Term* a) {
  if (!a[0].is_boxed_sub(Term::Sub::kMap)) return raise_badmap(p, a[0]);
  if (map_kind(*a[0].boxed_ptr()) == MapKind::kFlat) return raise_badarg(p);
  const auto [children, count] = children_of(a[0].boxed_ptr());
  ListBuilder list(p.heap);
  for (Word i = 0; i < count; ++i) list.add(children[i]);
  return list.finish();
}

}  // namespace vmrun
