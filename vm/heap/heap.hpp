// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "vm/term/layout.hpp"
#include "vm/term/term.hpp"
#include "vm/term/term_space.hpp"

/// Where terms are built. A process owns one heap. Messages, ETS rows, literals and the compiler's
/// constants use heaps that consist of fragments only. Exactly one thread uses a heap at a time:
/// its owner.
///
/// A process's block:
///
///   start                high_water        top →            ← stop        end
///   | survivors of one GC | newer terms    |   free words    |   stack     |
///
/// The heap grows up, the stack down. `alloc` never collects: when the block is full it hands out
/// words of a heap fragment, which the next collection merges. So C++ code may hold terms across
/// calls of `alloc`; only functions documented as "may collect" move terms.
namespace vmrun {

/// Words outside the block, in a list. Everything that is sent to a process has this form too: a
/// message or signal is a fragment with its root in `message`. It joins the receiver's heap by
/// being linked in, without a copy.
struct Fragment {
  Fragment* next;
  std::uint32_t capacity_words;
  std::uint32_t used_words;
  // Objects in `words` that refer to something outside. The list joins the owner's when the
  // fragment is adopted.
  OffHeapObject* off_heap;
  // In a mailbox (see mailbox.hpp):
  Term message;            // root: immediate, literal or inside `words`
  Term token;              // sent along for tracing (trace_state.hpp), nil if nothing is; inside `words`
  std::uint32_t kind : 8;  // SignalKind
  std::uint32_t known_words : 24;  // size of `message`, once a probe needs it; 0: not yet (message_words)
  std::uint32_t from_vm : 1;       // message not sent by a process (timer, down, port data)
  std::uint32_t has_sender : 1;    // in the last word, which is otherwise unused: see message_pattern.hpp
  std::uint32_t token_generation : 30;  // see seq_trace.hpp
  Term words[1];
  static Fragment* create(
      // used_words = 0, message and token nil, kind 0; nullptr when memory is exhausted
      Word capacity_words);
  static void destroy(Fragment* f);  // releases the off-heap objects it still lists, then the words

  /// The `kind` of a fragment that stands for a block that the heap has left. Its `words` say where
  /// that block begins, where its terms end and where it ends. It lists no off-heap objects.
  static constexpr std::uint32_t kFormerBlock = 255;
  bool is_former_block() const { return kind == kFormerBlock; }
  Term* terms() { return is_former_block() ? reinterpret_cast<Term*>(words[0].raw()) : words; }
  const Term* terms() const { return const_cast<Fragment*>(this)->terms(); }
  const Term* terms_end() const {
    return is_former_block() ? reinterpret_cast<const Term*>(words[1].raw()) : words + used_words;
  }
  Word term_words() const { return static_cast<Word>(terms_end() - terms()); }
};

class Heap : public TermSpace {
 public:
  Heap() = default;
  ~Heap();

  /// Takes over one fragment (of a received message, for example) with its off-heap objects.
  void adopt(Fragment* fragment) {
    if (fragment->off_heap) [[unlikely]]
      adopt_off_heap(*fragment);
    fragment_words += fragment->used_words;
    // Linked behind the first one, which alloc_fragment may still be filling.
    Fragment** link = fragments ? &fragments->next : &fragments;
    fragment->next = *link;
    *link = fragment;
  }

  /// Whether so much lies outside the block, in fragments or in off-heap binaries, that the next
  /// chance for a collection should be used (after a BIF, before a big allocation).
  bool gc_desired() const {
    return static_cast<SWord>(stop - top) < static_cast<SWord>(fragment_words) ||
           off_heap_words > off_heap_limit_words;
  }

  /// Replaces the block by one of so many words, which has room for the stack. The terms stay in
  /// the former block until they are collected.
  void leave_block(Word new_block_words);

  /// Frees everything. Afterwards the heap is like a new one (without a block).
  void release_all();

  bool in_block(const Term* p) const { return p >= start && p < end; }
  bool in_old(const Term* p) const { return p >= old_start && p < old_end; }
  Word block_words() const { return static_cast<Word>(end - start); }
  Word used_words() const { return static_cast<Word>(top - start); }
  Word free_words() const { return static_cast<Word>(stop - top); }
  Word stack_words() const { return static_cast<Word>(end - stop); }

  // Young block, with top and stop of TermSpace.
  Term* start = nullptr;
  Term* end = nullptr;
  Term* high_water = nullptr;  // terms below it have survived a collection
  // Old generation (none before the first minor collection that promotes).
  Term* old_start = nullptr;
  Term* old_end = nullptr;
  Term* old_top = nullptr;
  // Outside the block.
  Fragment* fragments = nullptr;
  Word fragment_words = 0;                // used words in all fragments
  OffHeapObject* old_off_heap = nullptr;  // objects whose handle lies in the old generation
  Word off_heap_limit_words = 46422;  // collect when off_heap_words passes this (as OTP's min_bin_vheap_size)
  Word old_off_heap_words = 0;
  Word old_off_heap_limit_words = 46422;
  bool grow_next = false;  // the next collection makes a larger block
  // So many collections in a row were in one slice. It began after so many reductions: the lowest
  // bits of their number.
  std::uint8_t collections_in_slice = 0;
  std::uint32_t slice_begun_at = 0;

  // The slow half of TermSpace (term/term_upcalls.hpp).

  Term* alloc_fragment(Word words);
  void give_back_words(Term* from, Term* alloc_end);

 private:
  void adopt_off_heap(Fragment& fragment);
};

/// A heap for terms that do not belong to a process: constants of the compiler, ETF decoding into
/// literals, tests. It is a Heap without a block: all terms lie in fragments, which the destructor
/// frees.
using Arena = Heap;

}  // namespace vmrun
