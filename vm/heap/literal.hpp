#pragma once

#include <atomic>
#include <vector>

#include "vm/heap/heap.hpp"

/// The literal area: one reserved range of addresses in which terms live outside all heaps: the
/// constants of modules' code, persistent terms. Testing an address is one subtraction and one
/// compare, so collections and copies pass literals by.
///
/// Words are taken in blocks, each with one owner and no pointer into another block (but for the
/// empty tuple, which is the area's first word). A block is freed when no process refers to it any
/// more. Until that has been seen to (code/reclaim.hpp) its addresses are `leaving`: what copies
/// terms for another process copies such literals too.
namespace vmrun {

extern Word literal_base, literal_bytes;  // set once, before the first process
void init_literal_area();                 // idempotent

inline bool is_literal(const Term* p) { return reinterpret_cast<Word>(p) - literal_base < literal_bytes; }

struct LiteralBlock {
  Term* start;
  Word words;
  OffHeapObject* off_heap;  // handles in the block; they hold their binaries until it is freed
  bool contains(const Term* p) const { return p >= start && p < start + words; }
};

/// Copies terms, each in full, into one new block; they are replaced by their copies. *block:
/// nullptr when all are immediates. False, with nothing done, when the area has no room. Any
/// thread.
[[nodiscard]] bool make_literals(Term* terms, std::size_t count, LiteralBlock** block);
/// The same of one term, which is replaced; what its parts share its copy shares too.
[[nodiscard]] bool make_shared_literal(Term* term, LiteralBlock** block);
/// Nobody refers to it. Any thread.
void free_literals(LiteralBlock* block);

/// One term, for good (immediates and literals come back as they are). Ends the VM when the area
/// has no room. Any thread.
Term make_literal(Term t);

/// In use, of all blocks. Any thread.
Word literal_words_used();

// ---- Literals that are about to be freed --------------------------------------------------------

/// A range of addresses that holds all of them, and perhaps others, as the thread saw it last.
struct LeavingLiterals {
  Word base = 0, bytes = 0;
  bool contains(const Term* p) const { return reinterpret_cast<Word>(p) - base < bytes; }
};
extern thread_local constinit LeavingLiterals leaving_literals;
namespace detail {
extern std::atomic<Word> leaving_now;                // offset and, in the lower half, length in words
extern thread_local constinit Word leaving_as_seen;  // what leaving_literals was made from
void take_leaving_literals(Word now);
}  // namespace detail
/// Brings the thread's view up to date. Only where the thread is not between finding out a copy's
/// size and making it: schedulers do it before each slice.
inline void look_at_leaving_literals() {
  const Word now = detail::leaving_now.load(std::memory_order_acquire);
  if (now != detail::leaving_as_seen) [[unlikely]]
    detail::take_leaving_literals(now);
}
/// The new range, from `from` (in the area, or nullptr for none). One thread at a time.
void set_leaving_literals(const Term* from, Word words);

/// Blocks in the order of their addresses.
class LiteralBlocks {
 public:
  explicit LiteralBlocks(std::vector<LiteralBlock*> blocks);
  const std::vector<LiteralBlock*>& all() const { return blocks_; }
  /// Number of the block that holds an address, or -1.
  int find(const Term* p) const;
  /// Marks the blocks that any of these words, taken as terms, points into (a number that looks
  /// like a term counts too). True when there is one.
  bool mark_mentioned(const Term* words, std::size_t count, std::vector<bool>& marks) const;

 private:
  std::vector<LiteralBlock*> blocks_;
  Word base_ = 0, bytes_ = 0;
};

}  // namespace vmrun
