// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/heap.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/heap/collector.hpp"
#include "vm/heap/heap_upcalls.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/probes/fire.hpp"

namespace vmrun {
namespace {

// The fragments that `alloc` makes grow with what is already outside the block, so that a
// long-running BIF needs few of them.
constexpr Word kFragmentLeastWords = usual_or_small<Word>(58, 2),
               kFragmentMostWords = usual_or_small<Word>(32768, 64);

}  // namespace

Heap::~Heap() { release_all(); }

void Heap::leave_block(Word new_block_words) {
  constexpr Word kWords = 3;
  Fragment* f = Fragment::create(kWords);
  if (!f) out_of_memory("a heap fragment", kWords * sizeof(Term));
  f->kind = Fragment::kFormerBlock;
  f->used_words = kWords;
  Word at = 0;
  for (const Term* place : {start, top, end}) f->words[at++] = Term::from_raw(reinterpret_cast<Word>(place));
  fragment_words += used_words();
  f->next = fragments;
  fragments = f;
  const Word stack = stack_words();
  const Term* const old_stop = stop;
  start = top = high_water = allocate_block(new_block_words);
  end = start + new_block_words;
  stop = end - stack;
  assert(stack <= new_block_words);
  if (stack) std::memcpy(static_cast<void*>(stop), old_stop, stack * sizeof(Term));
}

void Heap::release_all() {
  release_off_heap_list(off_heap);
  release_off_heap_list(old_off_heap);
  while (fragments) {
    Fragment* next = fragments->next;
    if (fragments->is_former_block()) [[unlikely]]
      free_former_block(*fragments, false);
    count_memory_given(MemoryKind::kHeaps, fragment_bytes(fragments->capacity_words));
    free_bytes(fragments);  // its off-heap objects were in the heap's list
    fragments = next;
  }
  free_block(start, end, false);
  free_block(old_start, old_end, false);
  start = end = top = stop = high_water = old_start = old_end = old_top = nullptr;
  off_heap = old_off_heap = nullptr;
  fragment_words = off_heap_words = old_off_heap_words = 0;
}

Term* Heap::alloc_fragment(Word words) {
  Fragment* f = fragments;
  if (!f || f->capacity_words - f->used_words < words) {
    const Word capacity =
        std::max(words, std::clamp(fragment_words, kFragmentLeastWords, kFragmentMostWords));
    f = Fragment::create(capacity);
    if (!f) out_of_memory("a heap fragment", capacity * sizeof(Term));
    f->next = fragments;
    fragments = f;
  }
  Term* p = f->words + f->used_words;
  f->used_words += static_cast<std::uint32_t>(words);
  fragment_words += words;
  return p;
}

void Heap::give_back_words(Term* from, Term* alloc_end) {
  if (alloc_end == top) {
    top = from;
  } else if (fragments && fragments->words + fragments->used_words == alloc_end) {
    const auto words = static_cast<std::uint32_t>(alloc_end - from);
    fragments->used_words -= words;
    fragment_words -= words;
  }
  // Otherwise something was allocated behind it, and the words stay as a gap that nothing refers
  // to.
}

void Heap::adopt_off_heap(Fragment& fragment) {
  if (probe::binary_receive_enabled()) [[unlikely]]
    fire_received(heap_upcalls.current_process_id(), fragment.off_heap);
  off_heap_words += splice_off_heap(fragment.off_heap, off_heap);
  fragment.off_heap = nullptr;
}

}  // namespace vmrun
