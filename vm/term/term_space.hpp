// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/layout.hpp"
#include "vm/term/term_upcalls.hpp"

/// Where terms are built: the free words between the terms of a heap and its stack. Code that
/// builds terms needs no more of a heap (vm/heap/heap.hpp) than this class. Exactly one thread uses
/// it at a time: the heap's owner.
namespace vmrun {

/// Room kept free between heap and stack for instructions that push without a check of their own.
inline constexpr Word kStackReserveWords = 4;

class TermSpace {
 public:
  TermSpace(const TermSpace&) = delete;
  TermSpace& operator=(const TermSpace&) = delete;

  /// Returns uninitialised words, valid until the next collection. The caller fills every word
  /// before anything may collect. Never collects and never fails (when memory is exhausted, the VM
  /// ends with a message that names the request).
  Term* alloc(Word words) {
    if (static_cast<SWord>(stop - top) >= static_cast<SWord>(words + kStackReserveWords)) [[likely]] {
      Term* p = top;
      top += words;
      return p;
    }
    return term_upcalls.alloc_outside(*this, words);
  }
  /// Gives back the unused end of the latest alloc: words from `from` to what alloc returned plus
  /// its size.
  void give_back(Term* from, Term* alloc_end) { term_upcalls.give_back(*this, from, alloc_end); }

  /// Enters an object that refers to something outside into the list that collections sweep.
  /// `overhead_words` is the size of what lies outside. It counts towards the virtual heap, whose
  /// growth triggers collections (collection pressure of large binaries).
  void link_off_heap(OffHeapObject* object, Word overhead_words) {
    object->next = off_heap;
    off_heap = object;
    off_heap_words += overhead_words;
  }

  Term* top = nullptr;
  Term* stop = nullptr;  // stack pointer; the end of the block where there is no stack
  OffHeapObject* off_heap = nullptr;
  Word off_heap_words = 0;  // virtual binary heap, young

 protected:
  TermSpace() = default;  // every one is part of a Heap
};

}  // namespace vmrun
