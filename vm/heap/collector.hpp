#pragma once

#include <vector>

#include "vm/heap/heap.hpp"

/// The mechanism of collection: moving what is reachable from one set of areas to another, and
/// sweeping what hangs outside. When to collect and how big blocks shall be is decided in
/// vm/lifecycle/gc.cpp.
/// One collector object serves one collection; runs in the thread that owns the heap.
///
/// Copying follows Cheney (CACM 13(11), 1970): the target is its own queue. A moved object's header
/// is replaced by the boxed pointer to its copy, a moved cons cell's head by the non-value and its
/// tail by the list pointer. The cells of a list are moved in one run, so that lists lie in order
/// afterwards.
///
/// Three things make generations work: terms are never changed once a collection can see them, so
/// the old generation never points into the young one; the fields of a match context that do change
/// are no terms or point to older objects; and all fragments are merged by every collection.
namespace vmrun {

class Collector {
 public:
  /// Receives spans of roots.
  using Visit = void (*)(void* context, Term* terms, std::size_t count);
  /// Names all roots but registers and stack to `visit`.
  using ListRoots = void (*)(void* owner, Visit visit, void* context);

  Collector(Heap& heap, Term* regs, unsigned live, ListRoots list_roots, void* owner)
      : heap_(heap), regs_(regs), live_(live), list_roots_(list_roots), owner_(owner) {}

  /// What lies below the high-water mark is promoted to the old generation, which must have room
  /// for it; the rest and the fragments go to a new block.
  void minor(Word block_words);
  /// Everything goes to a new block; the old generation is given up.
  void full_into_block(Word block_words);
  /// Everything goes to a new old generation; the new block holds the stack alone.
  void full_into_old(Word old_words, Word block_words);
  /// Likewise, and what is referred to in these blocks of literals, of which others may be in the
  /// middle of reading, is copied along. The block has room for all of those that are marked.
  void full_with_literals(Word block_words, const class LiteralBlocks& blocks,
                          const std::vector<bool>& marks);
  /// Moves the young generation to a block of another size. No fragments may be left.
  void resize(Word block_words);

  /// Words copied so far, stack included: what the collection costs.
  Word moved_words() const { return moved_words_; }
  /// Fill memory that is given up with a pattern that faults when followed.
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

/// What a fragment takes.
inline std::size_t fragment_bytes(Word capacity_words) {
  return offsetof(Fragment, words) + capacity_words * sizeof(Term);
}

/// Memory for blocks and old generations.
Term* allocate_block(Word words);
void free_block(Term* start, Term* end, bool poison);
/// The block that the fragment stands for.
[[gnu::cold, gnu::noinline]] inline void free_former_block(Fragment& f, bool poison) {
  free_block(f.terms(), reinterpret_cast<Term*>(f.words[2].raw()), poison);
}

}  // namespace vmrun
