// SPDX-License-Identifier: Apache-2.0
#include "vm/term/bits_append.hpp"

#include <algorithm>
#include <cstring>

#include "vm/term/bits_internal.hpp"

namespace vmrun {

namespace {

/// The capacity of a binary that has so many bytes and will be appended to.
Word roomy(Word bytes) { return std::max<Word>(bytes * 2, 256); }

}  // namespace

Term bs_new(TermSpace& heap, Word bits, BitBuilder* builder) {
  std::uint8_t* bytes;
  const Term whole = new_binary(heap, (bits + 7) / 8, &bytes);
  *builder = BitBuilder(bytes, 0);
  if ((bits & 7) == 0) return whole;
  bytes[bits / 8] = 0;
  return make_sub_binary(heap, whole, 0, bits, false);
}

[[gnu::no_stack_protector]] Term bs_append(TermSpace& heap, Term source, Word extra_bits, Word unit,
                                           BitBuilder* builder, Appended appended, Word* copied_bits) {
  if (!source.is_bitstring()) return kNonValue;
  const BitView v = bits_of(source);
  if (!is_multiple(v.size_bits, unit)) return kNonValue;
  if (extra_bits == 0)  // nothing is written: `builder` stays where it was
    return appended == Appended::kItself ? source : settled(heap, source);
  const Word end = v.offset_bits + v.size_bits + extra_bits, end_bytes = (end + 7) / 8;
  if (source.boxed_ptr()->header_sub() == Term::Sub::kSubBinary) {
    auto* s = reinterpret_cast<SubBinary*>(source.boxed_ptr());
    auto* r = reinterpret_cast<RefcBinary*>(s->original.boxed_ptr());
    // A second reference, anywhere, may be read by another thread: its bytes must neither move nor
    // change.
    if (s->is_writable && r->header.header_sub() == Term::Sub::kRefcBinary &&
        (r->flags & RefcBinary::kWritable) && r->binary->references.load(std::memory_order_acquire) == 1) {
      if (r->binary->capacity_bytes < end_bytes) {
        const Word before = r->binary->capacity_bytes, capacity = roomy(end_bytes);
        Binary* grown = Binary::resize(r->binary, capacity);
        if (!grown) out_of_memory("a binary", capacity);
        r->binary = grown;
        r->bytes = grown->data;
        heap.off_heap_words += words_for_bytes(capacity) - words_for_bytes(before);
      }
      r->binary->used_bytes = end_bytes;
      r->size_bytes = end_bytes;
      r->flags |= RefcBinary::kActiveWriter;
      *builder = BitBuilder(r->bytes, v.offset_bits + v.size_bits);
      if (appended == Appended::kItself) {
        s->size_bytes = (v.size_bits + extra_bits) / 8;
        s->bit_size = (v.size_bits + extra_bits) & 7;
        return source;
      }
      s->is_writable = 0;
      return make_sub_binary(heap, s->original, v.offset_bits, v.size_bits + extra_bits, true);
    }
  }
  const Word bits = v.size_bits + extra_bits, bytes = (bits + 7) / 8;
  Binary* binary = create_binary(roomy(bytes));
  binary->used_bytes = bytes;
  copy_bits(binary->data, 0, v.base, v.offset_bits, v.size_bits);
  if (copied_bits) *copied_bits = v.size_bits;
  *builder = BitBuilder(binary->data, v.size_bits);
  const Term original =
      refc_handle(heap, binary, binary->data, bytes, RefcBinary::kWritable | RefcBinary::kActiveWriter);
  return make_sub_binary(heap, original, 0, bits, true);
}

Term append_few_bits(TermSpace& heap, Term source, Word word, Word bits, Appended appended) {
  if (!source.is_boxed_sub(Term::Sub::kSubBinary)) return kNonValue;
  auto* s = reinterpret_cast<SubBinary*>(source.boxed_ptr());
  auto* r = reinterpret_cast<RefcBinary*>(s->original.boxed_ptr());
  if (!s->is_writable || r->header.header_sub() != Term::Sub::kRefcBinary ||
      !(r->flags & RefcBinary::kWritable) || r->binary->references.load(std::memory_order_acquire) != 1)
    return kNonValue;
  const Word begin = s->offset_bytes * 8 + s->bit_offset, size = s->size_bytes * 8 + s->bit_size;
  const Word at = begin + size, now = size + bits;
  if (at / 8 + sizeof word > r->binary->capacity_bytes) return kNonValue;
  std::uint8_t* const out = r->bytes + at / 8;
  const unsigned before = at & 7;
  word >>= before;
  if (before) word |= (Word{*out} >> (8 - before)) << (64 - before);
  word = __builtin_bswap64(word);
  std::memcpy(out, &word, sizeof word);
  r->binary->used_bytes = r->size_bytes = (begin + now + 7) / 8;
  r->flags |= RefcBinary::kActiveWriter;
  if (appended == Appended::kItself) {
    s->size_bytes = now / 8;
    s->bit_size = now & 7;
    return source;
  }
  s->is_writable = 0;
  return make_sub_binary(heap, s->original, begin, now, true);
}

Term bs_init_writable(TermSpace& heap, Term size_hint) {
  const SWord hint = size_hint.is_small() ? size_hint.small_value() : -1;
  const Word capacity = hint >= 0 && hint < (1 << 30) ? static_cast<Word>(hint) : 1024;
  Binary* binary = create_binary(capacity);
  binary->used_bytes = 0;
  const Term original =
      refc_handle(heap, binary, binary->data, 0, RefcBinary::kWritable | RefcBinary::kActiveWriter);
  return make_sub_binary(heap, original, 0, 0, true);
}

}  // namespace vmrun
