// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/heap/heap.hpp"

/// The mechanism of collection: it moves what is reachable from one set of areas to another, and
/// sweeps the off-heap list. vm/lifecycle/gc.cpp decides when to collect and how large the blocks
/// are. One collector object serves one collection and runs in the thread that owns the heap.
///
/// Copying follows Cheney (CACM 13(11), 1970): the target is its own queue. A moved object's header
/// is replaced by the boxed pointer to its copy, a moved cons cell's head by the non-value and its
/// tail by the list pointer. The cells of a list are moved in one run, so that lists lie in order
/// afterwards.
///
/// Generations work because of three invariants:
/// 1. Terms are never changed once a collection can see them, so the old generation never points
///    into the young one.
/// 2. The fields of a match context that do change are not terms, or point to older objects.
/// 3. Every collection merges all fragments.
namespace vmrun {

class Collector {
 public:
  /// Receives a span of roots.
  using Visit = void (*)(void* context, Term* terms, std::size_t count);
  /// Passes all roots except registers and stack to `visit`.
  using ListRoots = void (*)(void* owner, Visit visit, void* context);

  Collector(Heap& heap, Term* regs, unsigned live, ListRoots list_roots, void* owner)
      : heap_(heap), regs_(regs), live_(live), list_roots_(list_roots), owner_(owner) {}

  /// Promotes what lies below the high-water mark to the old generation, which must have room for
  /// it. The rest and the fragments move to a new block.
  void minor(Word block_words);
  /// Moves everything to a new block and frees the old generation.
  void full_into_block(Word block_words);
  /// Moves everything to a new old generation; the new block holds the stack alone.
  void full_into_old(Word old_words, Word block_words);
  /// As full_into_block, and copies what the heap refers to in these blocks of literals. Other
  /// threads may be reading them. The new block has room for all of the blocks that are marked.
  void full_with_literals(Word block_words, const class LiteralBlocks& blocks,
                          const std::vector<bool>& marks);
  /// Moves the young generation to a block of another size. No fragments may be left.
  void resize(Word block_words);

  /// Words copied so far, stack included: the cost of the collection.
  Word moved_words() const { return moved_words_; }
  /// Fill memory that is freed with a pattern that faults when followed.
  bool poison = false;

 private:
  struct Areas;
  template <class Engine>
  void run(const Areas& areas, Word block_words, class LiteralSources* sources = nullptr);

  Heap& heap_;
  Term* regs_;
  unsigned live_;
  ListRoots list_roots_;
  void* owner_;
  Word moved_words_ = 0;
};

/// Returns the bytes that a fragment takes.
inline std::size_t fragment_bytes(Word capacity_words) {
  return offsetof(Fragment, words) + capacity_words * sizeof(Term);
}

/// Memory for blocks and old generations.
Term* allocate_block(Word words);
void free_block(Term* start, Term* end, bool poison);
/// Frees the block that the fragment stands for.
[[gnu::cold, gnu::noinline]] inline void free_former_block(Fragment& f, bool poison) {
  free_block(f.terms(), reinterpret_cast<Term*>(f.words[2].raw()), poison);
}

}  // namespace vmrun
