// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/term/bits.hpp"

/// Objects that bit strings consist of; for bits.cpp and bits_append.cpp.
namespace vmrun {

inline Binary* create_binary(Word capacity) {
  Binary* b = Binary::create(capacity);
  if (!b) out_of_memory("a binary", capacity);
  return b;
}

inline Term put_sub_binary(Term* h, Term original, Word offset_bits, Word size_bits, bool writable) {
  auto* s = reinterpret_cast<SubBinary*>(h);
  s->header = Term::header(Term::Sub::kSubBinary, 4);
  s->size_bytes = size_bits / 8;
  s->offset_bytes = offset_bits / 8;
  s->bit_size = size_bits & 7;
  s->bit_offset = offset_bits & 7;
  s->is_writable = writable;
  std::memset(s->unused, 0, sizeof s->unused);
  s->original = original;
  return Term::boxed(&s->header);
}

inline Term make_sub_binary(TermSpace& heap, Term original, Word offset_bits, Word size_bits, bool writable) {
  return put_sub_binary(heap.alloc(5), original, offset_bits, size_bits, writable);
}

inline Term refc_handle(TermSpace& heap, Binary* binary, std::uint8_t* bytes, Word size_bytes, Word flags) {
  auto* r = reinterpret_cast<RefcBinary*>(heap.alloc(6));
  r->header = Term::header(Term::Sub::kRefcBinary, 5);
  r->size_bytes = size_bytes;
  r->binary = binary;
  r->bytes = bytes;
  r->flags = flags;
  heap.link_off_heap(reinterpret_cast<OffHeapObject*>(r),
                     words_for_bytes(binary->is_native() ? size_bytes : binary->capacity_bytes));
  return Term::boxed(&r->header);
}

}  // namespace vmrun
