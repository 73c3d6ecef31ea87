// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <vector>

#include "vm/heap/heap.hpp"

/// The literal area is one reserved range of addresses in which terms live outside all heaps: the
/// constants of modules' code, and persistent terms. Testing an address takes one subtraction and
/// one compare, so collections and copies skip literals quickly.
///
/// Words are taken in blocks. Each block has one owner and no pointer into another block (except to
/// the empty tuple, which is the area's first word). A block is freed when no process refers to it
/// any more. Until code/reclaim.hpp has made sure of that, its addresses are `leaving`: code that
/// copies terms for another process copies such literals too.
namespace vmrun {

extern Word literal_base, literal_bytes;  // set once, before the first process
void init_literal_area();                 // idempotent
Term empty_tuple_literal();               // there is one

inline bool is_literal(const Term* p) { return reinterpret_cast<Word>(p) - literal_base < literal_bytes; }

struct LiteralBlock {
  Term* start;
  Word words;
  OffHeapObject* off_heap;  // handles in the block; they hold their binaries until it is freed
  bool contains(const Term* p) const { return p >= start && p < start + words; }
};

/// Copies terms, each in full, into one new block, and replaces them by their copies. *block is
/// nullptr when all are immediates. Returns false, and changes nothing, when the area has no room.
/// Any thread.
[[nodiscard]] bool make_literals(Term* terms, std::size_t count, LiteralBlock** block);
/// As above, for one term. Parts that the term shares are shared in the copy too.
[[nodiscard]] bool make_shared_literal(Term* term, LiteralBlock** block);
/// Frees a block that nothing refers to. Any thread.
void free_literals(LiteralBlock* block);

/// Copies one term, which is never freed (immediates and literals are returned unchanged). Ends the
/// VM when the area has no room. Any thread.
Term make_literal(Term t);

/// Returns the words in use, in all blocks. Any thread.
Word literal_words_used();

// ---- Literals that are about to be freed --------------------------------------------------------

/// A range of addresses that holds all such literals, and perhaps others, as the thread last read
/// it.
struct LeavingLiterals {
  Word base = 0, bytes = 0;
  bool contains(const Term* p) const { return reinterpret_cast<Word>(p) - base < bytes; }
};
extern thread_local constinit LeavingLiterals leaving_literals;
namespace detail {
extern std::atomic<Word> leaving_now;                // offset and, in the lower half, length in words
extern thread_local constinit Word leaving_as_seen;  // the value from which leaving_literals was made
void take_leaving_literals(Word now);
}  // namespace detail
/// Updates the thread's copy of the range. Must not be called between computing the size of a copy
/// and making it: schedulers call it before each slice.
inline void look_at_leaving_literals() {
  const Word now = detail::leaving_now.load(std::memory_order_acquire);
  if (now != detail::leaving_as_seen) [[unlikely]]
    detail::take_leaving_literals(now);
}
/// Sets a new range, from `from` (in the area, or nullptr for none). One thread at a time.
void set_leaving_literals(const Term* from, Word words);

/// Blocks, sorted by address.
class LiteralBlocks {
 public:
  explicit LiteralBlocks(std::vector<LiteralBlock*> blocks);
  const std::vector<LiteralBlock*>& all() const { return blocks_; }
  /// Returns the number of the block that holds an address, or -1.
  int find(const Term* p) const;
  /// Marks the blocks that any of these words points into when it is taken as a term. (A number
  /// that looks like a term counts too.) Returns whether there is such a block.
  bool mark_mentioned(const Term* words, std::size_t count, std::vector<bool>& marks) const;

 private:
  std::vector<LiteralBlock*> blocks_;
  Word base_ = 0, bytes_ = 0;
};

}  // namespace vmrun
