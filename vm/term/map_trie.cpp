// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "vm/term/compare.hpp"
#include "vm/term/map_internal.hpp"

/// Large maps: lookup, and updates that copy the path from the root to the change. The hash bounds
/// the depth, so the recursion here goes along levels only.
namespace vmrun {
namespace {

constexpr unsigned kMaxLevels = 64;

Term cell(TermSpace& heap, Term key, Term value) {
  Term* hp = heap.alloc(2);
  return make_cons(hp, key, value);
}

/// Makes an inner node with room for entries that the caller fills in.
Term new_node(TermSpace& heap, Word mask, Term** entries) {
  const Word n = mask_count(mask);
  Term* o = heap.alloc(n + 1);
  o[0] = MapObject::make_header(MapKind::kHashNode, mask, n);
  *entries = o + 1;
  return Term::boxed(o);
}

Term new_root(TermSpace& heap, Word mask, Word size, Term** entries) {
  const Word n = mask_count(mask);
  Term* o = heap.alloc(n + 2);
  o[0] = MapObject::make_header(MapKind::kHashRoot, mask, n + 1);
  o[1] = Term::from_raw(size);
  *entries = o + 2;
  return Term::boxed(o);
}

/// Makes a node like this one with room for new entries: a root with a new size, or an inner node.
Term clone(TermSpace& heap, Term node, Word mask, Word size, Term** entries) {
  return map_kind(*node.boxed_ptr()) == MapKind::kHashRoot ? new_root(heap, mask, size, entries)
                                                           : new_node(heap, mask, entries);
}

/// Makes a node that holds two cells with different keys. The paths say where each belongs.
Term join(TermSpace& heap, Term a, HashPath a_path, Term b, HashPath b_path) {
  Term* e;
  const unsigned x = a_path.slot(), y = b_path.slot();
  if (x == y) {
    const Term node = new_node(heap, Word{1} << x, &e);
    a_path.descend();
    b_path.descend();
    e[0] = join(heap, a, a_path, b, b_path);
    return node;
  }
  const Term node = new_node(heap, Word{1} << x | Word{1} << y, &e);
  e[x > y] = a;
  e[x < y] = b;
  return node;
}

/// The path from the root: the nodes, with the index taken in each.
struct Path {
  Term nodes[kMaxLevels];
  unsigned indexes[kMaxLevels];
  unsigned depth = 0;
  void push(Term node, unsigned index) {
    nodes[depth] = node;
    indexes[depth++] = index;
  }
};

/// Replaces what the path leads to, and copies its nodes. The root gets `size`.
Term rebuild(TermSpace& heap, const Path& path, Term entry, Word size) {
  for (unsigned d = path.depth; d-- > 0;) {
    const Term* const node = path.nodes[d].boxed_ptr();
    const Word words = object_words(*node);
    const Word head = map_kind(*node) == MapKind::kHashRoot ? 2 : 1;
    Term* const copy = heap.alloc(words);
    std::memcpy(static_cast<void*>(copy), node, words * sizeof(Term));
    if (head == 2) copy[1] = Term::from_raw(size);
    copy[head + path.indexes[d]] = entry;
    entry = Term::boxed(copy);
  }
  return entry;
}

}  // namespace

Term map_get_large(Term map, Term key, std::uint64_t hash) {
  HashPath path(key, hash);
  for (Term node = map;;) {
    const NodeView v(node);
    const unsigned slot = path.slot();
    if (!v.has(slot)) return kNonValue;
    const Term entry = v.entries[v.index(slot)];
    if (entry.is_list()) {
      const Term* kv = entry.list_ptr();
      return equal_exact(kv[0], key) ? kv[1] : kNonValue;
    }
    node = entry;
    path.descend();
  }
}

Term trie_put(TermSpace& heap, Term root, Term key, Term value, std::uint64_t hash, bool must_exist) {
  Path walked;
  HashPath path(key, hash);
  const Word size = map_size(root);
  for (Term node = root;;) {
    const NodeView v(node);
    const unsigned slot = path.slot(), index = v.index(slot);
    if (!v.has(slot)) {
      if (must_exist) return kNonValue;
      Term* e;
      const Term copy = clone(heap, node, v.mask | Word{1} << slot, size + 1, &e);
      std::copy_n(v.entries, index, e);
      e[index] = cell(heap, key, value);
      std::copy_n(v.entries + index, v.count - index, e + index + 1);
      return rebuild(heap, walked, copy, size + 1);
    }
    walked.push(node, index);
    const Term entry = v.entries[index];
    path.descend();
    if (entry.is_list()) {
      const Term* kv = entry.list_ptr();
      if (equal_exact(kv[0], key)) {
        if (kv[1] == value) return root;
        return rebuild(heap, walked, cell(heap, kv[0], value), size);
      }
      if (must_exist) return kNonValue;
      const Term both = join(heap, entry, HashPath::at(kv[0], path.level()), cell(heap, key, value), path);
      return rebuild(heap, walked, both, size + 1);
    }
    node = entry;
  }
}

Term trie_remove(TermSpace& heap, Term root, Term key, std::uint64_t hash, Term* value) {
  Path walked;
  HashPath path(key, hash);
  const Word size = map_size(root);
  Term node = root;
  for (;;) {
    const NodeView v(node);
    const unsigned slot = path.slot();
    if (!v.has(slot)) return kNonValue;
    const Term entry = v.entries[v.index(slot)];
    if (entry.is_list()) {
      const Term* kv = entry.list_ptr();
      if (!equal_exact(kv[0], key)) return kNonValue;
      *value = kv[1];
      break;
    }
    walked.push(node, v.index(slot));
    node = entry;
    path.descend();
  }
  // A node that is left with a single cell is replaced by the cell, so that the trie's shape
  // depends on its keys alone.
  const NodeView v(node);
  const unsigned slot = path.slot(), index = v.index(slot);
  Term rest;
  if (node != root && v.count == 2 && v.entries[1 - index].is_list()) {
    rest = v.entries[1 - index];
    while (walked.depth > 1 && NodeView(walked.nodes[walked.depth - 1]).count == 1) --walked.depth;
  } else {
    Term* e;
    rest = clone(heap, node, v.mask & ~(Word{1} << slot), size - 1, &e);
    std::copy_n(v.entries, index, e);
    std::copy_n(v.entries + index + 1, v.count - index - 1, e + index);
  }
  return rebuild(heap, walked, rest, size - 1);
}

namespace {

class Merger {
 public:
  explicit Merger(TermSpace& heap) : heap_(heap) {}
  Word common() const { return common_; }  // keys that are in both

  /// a and b are cells or nodes in the same slot of nodes at level - 1.
  Term merge(Term a, Term b, unsigned level) {
    if (a == b) {
      common_ += count(a);
      return a;
    }
    if (a.is_list() && b.is_list()) {
      if (equal_exact(a.head(), b.head())) {
        ++common_;
        return b;
      }
      return join(heap_, a, HashPath::at(a.head(), level), b, HashPath::at(b.head(), level));
    }
    if (a.is_list()) return merge_cell(b, a, level, false);
    if (b.is_list()) return merge_cell(a, b, level, true);
    const NodeView x(a), y(b);
    Term merged[16];
    const Word mask = merge_entries(x, y, level, merged);
    Term* e;
    const Term node = new_node(heap_, mask, &e);
    std::copy_n(merged, mask_count(mask), e);
    return node;
  }

  Word merge_entries(const NodeView& x, const NodeView& y, unsigned level, Term* out) {
    unsigned n = 0;
    for (unsigned slot = 0; slot < 16; ++slot) {
      if (x.has(slot) && y.has(slot))
        out[n++] = merge(x.entries[x.index(slot)], y.entries[y.index(slot)], level + 1);
      else if (x.has(slot)) out[n++] = x.entries[x.index(slot)];
      else if (y.has(slot)) out[n++] = y.entries[y.index(slot)];
    }
    return x.mask | y.mask;
  }

 private:
  Term merge_cell(Term node, Term leaf, unsigned level, bool leaf_wins) {
    const NodeView v(node);
    const HashPath path = HashPath::at(leaf.head(), level);
    const unsigned slot = path.slot(), index = v.index(slot);
    Term* e;
    const Term copy = new_node(heap_, v.mask | Word{1} << slot, &e);
    if (!v.has(slot)) {
      std::copy_n(v.entries, index, e);
      e[index] = leaf;
      std::copy_n(v.entries + index, v.count - index, e + index + 1);
      return copy;
    }
    std::copy_n(v.entries, v.count, e);
    e[index] =
        leaf_wins ? merge(v.entries[index], leaf, level + 1) : merge(leaf, v.entries[index], level + 1);
    return copy;
  }

  static Word count(Term entry) {
    if (entry.is_list()) return 1;
    Word n = 0;
    const NodeView v(entry);
    for (Word i = 0; i < v.count; ++i) n += count(v.entries[i]);
    return n;
  }

  TermSpace& heap_;
  Word common_ = 0;
};

struct Hashed {
  std::uint64_t hash;
  Term cell;
};

Word fill_level(TermSpace& heap, Hashed* first, Hashed* last, unsigned level, Term* out);

Term build_entry(TermSpace& heap, Hashed* first, Hashed* last, unsigned level) {
  if (last - first == 1) return first->cell;
  Term entries[16], *e;
  const Word mask = fill_level(heap, first, last, level, entries);
  const Term node = new_node(heap, mask, &e);
  std::copy_n(entries, mask_count(mask), e);
  return node;
}

/// Writes the entries of the node for [first, last) at `level`. Returns its mask.
Word fill_level(TermSpace& heap, Hashed* first, Hashed* last, unsigned level, Term* out) {
  if (level > 0 && level % kLevelsPerHash == 0) {
    for (Hashed* h = first; h < last; ++h) h->hash = map_rehash(h->cell.head(), level / kLevelsPerHash);
  }
  const unsigned shift = kLevelBits * (level % kLevelsPerHash);
  Hashed* starts[17];
  // Sorts by the four bits of the level.
  const auto slot_of = [shift](const Hashed& h) { return h.hash >> shift & 15; };
  unsigned counts[16] = {};
  for (Hashed* h = first; h < last; ++h) ++counts[slot_of(*h)];
  Hashed* next[16];
  starts[0] = first;
  for (unsigned s = 0; s < 16; ++s) {
    next[s] = starts[s];
    starts[s + 1] = starts[s] + counts[s];
  }
  for (unsigned s = 0; s < 16; ++s) {  // American flag sort, in place
    while (next[s] < starts[s + 1]) {
      const unsigned to = slot_of(*next[s]);
      if (to == s) ++next[s];
      else std::swap(*next[s], *next[to]++);
    }
  }
  Word mask = 0;
  unsigned n = 0;
  for (unsigned s = 0; s < 16; ++s) {
    if (!counts[s]) continue;
    mask |= Word{1} << s;
    out[n++] = build_entry(heap, starts[s], starts[s + 1], level + 1);
  }
  return mask;
}

}  // namespace

Term trie_merge(TermSpace& heap, Term first, Term second) {
  Merger merger(heap);
  const NodeView x(first), y(second);
  Term merged[16], *e;
  const Word mask = merger.merge_entries(x, y, 0, merged);
  const Term root = new_root(heap, mask, map_size(first) + map_size(second) - merger.common(), &e);
  std::copy_n(merged, mask_count(mask), e);
  return root;
}

Term trie_build(TermSpace& heap, Term* cells, Word n) {
  std::vector<Hashed> all(n);
  for (Word i = 0; i < n; ++i) all[i] = {map_hash(cells[i].head()), cells[i]};
  Term entries[16], *e;
  const Word mask = fill_level(heap, all.data(), all.data() + n, 0, entries);
  const Term root = new_root(heap, mask, n, &e);
  std::copy_n(entries, mask_count(mask), e);
  return root;
}

MapIterator::MapIterator(Term map) {
  if (is_flat_map(map)) {
    const FlatMap* m = flatmap_of(map);
    flat_left_ = m->size;
    flat_keys_ = m->keys.boxed_ptr() + 1;
    flat_values_ = m->values();
    return;
  }
  const NodeView v(map);
  levels_[depth_++] = {v.entries, v.entries + v.count};
}

bool MapIterator::next(Term* key, Term* value) {
  if (flat_left_) {
    --flat_left_;
    *key = *flat_keys_++;
    *value = *flat_values_++;
    return true;
  }
  while (depth_) {
    Level& l = levels_[depth_ - 1];
    if (l.next == l.end) {
      --depth_;
      continue;
    }
    const Term entry = *l.next++;
    if (entry.is_list()) {
      *key = entry.list_ptr()[0];
      *value = entry.list_ptr()[1];
      return true;
    }
    const NodeView v(entry);
    assert(depth_ < kMaxDepth);
    levels_[depth_++] = {v.entries, v.entries + v.count};
  }
  return false;
}

}  // namespace vmrun
