// SPDX-License-Identifier: Apache-2.0
#include "vm/term/bits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "vm/base/allocate.hpp"
#include "vm/term/bits_internal.hpp"

namespace vmrun {
namespace {

/// The top bits of a byte, 0…8 of them.
constexpr std::uint8_t high_mask(unsigned bits) { return static_cast<std::uint8_t>(0xFF00 >> bits); }

/// Reads 1…8 bits at any offset into the low end of the result. Touches the second byte only if
/// needed.
unsigned read_up_to_8(const std::uint8_t* p, Word offset, unsigned n) {
  p += offset / 8;
  const unsigned shift = offset & 7;
  unsigned w = static_cast<unsigned>(p[0]) << 8;
  if (shift + n > 8) w |= p[1];
  return (w >> (16 - shift - n)) & ((1u << n) - 1);
}

void write_up_to_8(std::uint8_t* p, Word offset, unsigned value, unsigned n) {
  p += offset / 8;
  const unsigned shift = offset & 7;
  const unsigned mask = ((1u << n) - 1) << (16 - shift - n);
  const unsigned w = value << (16 - shift - n);
  p[0] = static_cast<std::uint8_t>((p[0] & ~(mask >> 8)) | w >> 8);
  if (shift + n > 8) p[1] = static_cast<std::uint8_t>((p[1] & ~mask) | (w & 0xFF));
}

/// Up to kHeapBinaryMaxBytes of them. Copies of one size overlap, so that few are needed.
void copy_few(std::uint8_t* to, const std::uint8_t* from, Word n) {
  const auto both_ends = [&](auto piece) {
    std::memcpy(&piece, from, sizeof piece);
    auto last = piece;
    std::memcpy(&last, from + n - sizeof last, sizeof last);
    std::memcpy(to, &piece, sizeof piece);
    std::memcpy(to + n - sizeof last, &last, sizeof last);
  };
  if (n > 8) {
    for (Word k = 0; k + 8 < n; k += 8) std::memcpy(to + k, from + k, 8);
    std::memcpy(to + n - 8, from + n - 8, 8);
  } else if (n >= 4) {
    both_ends(std::uint32_t{});
  } else if (n >= 2) {
    both_ends(std::uint16_t{});
  } else if (n) {
    *to = *from;
  }
}

bool is_copied(Word size_bits) { return (size_bits & 7) == 0 && size_bits <= kHeapBinaryMaxBytes * 8; }

/// Makes at h a part of `original` (not a sub-binary) whose bits start at `offset_bits` from
/// `base`, its first byte. Returns where that ends.
[[gnu::no_stack_protector]] Term* extract_to(Term* h, Term original, const std::uint8_t* base,
                                             Word offset_bits, Word size_bits) {
  if (!is_copied(size_bits)) {
    put_sub_binary(h, original, offset_bits, size_bits, false);
    return h + 5;
  }
  const Word words = words_for_bytes(size_bits / 8);
  auto* b = reinterpret_cast<HeapBinary*>(h);
  b->header = Term::header(Term::Sub::kHeapBinary, 1 + words);
  b->size_bytes = size_bits / 8;
  if ((offset_bits & 7) == 0)
    copy_few(reinterpret_cast<std::uint8_t*>(h + 2), base + offset_bits / 8, size_bits / 8);
  else copy_bits(b->data, 0, base, offset_bits, size_bits);
  return h + 2 + words;
}

Term extract(TermSpace& heap, Term original, const std::uint8_t* base, Word offset_bits, Word size_bits) {
  Term* h = heap.alloc(is_copied(size_bits) ? 2 + words_for_bytes(size_bits / 8) : 5);
  extract_to(h, original, base, offset_bits, size_bits);
  return Term::boxed(h);
}

}  // namespace

Word max_binary_bits() {
  static const Word bits =
      static_cast<Word>(sysconf(_SC_PHYS_PAGES)) * static_cast<Word>(sysconf(_SC_PAGESIZE)) * 8;
  return bits;
}

void copy_bits(std::uint8_t* dst, Word dst_offset, const std::uint8_t* src, Word src_offset, Word n) {
  if (n == 0) return;
  if (((dst_offset | src_offset) & 7) == 0) {
    std::memcpy(dst + dst_offset / 8, src + src_offset / 8, n / 8);
    if (n & 7) {
      const std::uint8_t mask = high_mask(n & 7);
      std::uint8_t& d = dst[dst_offset / 8 + n / 8];
      d = static_cast<std::uint8_t>((d & ~mask) | (src[src_offset / 8 + n / 8] & mask));
    }
    return;
  }
  if (const unsigned shift = dst_offset & 7) {  // bring the target to a byte boundary
    const auto head = static_cast<unsigned>(std::min<Word>(8 - shift, n));
    write_up_to_8(dst, dst_offset, read_up_to_8(src, src_offset, head), head);
    dst_offset += head;
    src_offset += head;
    n -= head;
  }
  std::uint8_t* d = dst + dst_offset / 8;
  const std::uint8_t* s = src + src_offset / 8;
  const unsigned shift = src_offset & 7;
  if (shift == 0) {
    std::memcpy(d, s, n / 8);
    d += n / 8;
    s += n / 8;
    n &= 7;
  } else {
    for (; n >= 64;
         n -= 64, s += 8, d += 8) {  // the 64 source bits end inside s[8], which is part of the range
      Word w;
      std::memcpy(&w, s, 8);
      w = __builtin_bswap64(__builtin_bswap64(w) << shift | s[8] >> (8 - shift));
      std::memcpy(d, &w, 8);
    }
    for (; n >= 8; n -= 8, ++s, ++d) *d = static_cast<std::uint8_t>(s[0] << shift | s[1] >> (8 - shift));
  }
  if (n) write_up_to_8(d, 0, read_up_to_8(s, shift, static_cast<unsigned>(n)), static_cast<unsigned>(n));
}

int compare_bits(const std::uint8_t* a, Word a_offset, const std::uint8_t* b, Word b_offset, Word n) {
  a += a_offset / 8;
  b += b_offset / 8;
  a_offset &= 7;
  b_offset &= 7;
  if ((a_offset | b_offset) == 0) {
    if (const int c = n / 8 ? std::memcmp(a, b, n / 8) : 0) return c;
    if (const auto rest = static_cast<unsigned>(n & 7)) {
      return static_cast<int>(a[n / 8] & high_mask(rest)) - static_cast<int>(b[n / 8] & high_mask(rest));
    }
    return 0;
  }
  for (Word i = 0; i < n; i += 8) {
    const auto bits = static_cast<unsigned>(std::min<Word>(8, n - i));
    const int c = static_cast<int>(read_up_to_8(a, a_offset + i, bits)) -
                  static_cast<int>(read_up_to_8(b, b_offset + i, bits));
    if (c) return c;
  }
  return 0;
}

int compare_bitstrings(Term a, Term b) {
  const BitView x = bits_of(a), y = bits_of(b);
  const Word common = std::min(x.size_bits, y.size_bits);
  if (const int c = compare_bits(x.base, x.offset_bits, y.base, y.offset_bits, common)) return c < 0 ? -1 : 1;
  return x.size_bits < y.size_bits ? -1 : x.size_bits > y.size_bits;
}

BytesOf::BytesOf(const BitView& v) {
  size_ = (v.size_bits + 7) / 8;
  if (v.aligned() && v.is_binary()) {
    data_ = v.bytes();
    return;
  }
  copy_ = static_cast<std::uint8_t*>(allocate_bytes(size_, "a binary"));
  if (size_) copy_[size_ - 1] = 0;  // the bits behind the last one
  copy_bits(copy_, 0, v.base, v.offset_bits, v.size_bits);
  data_ = copy_;
}

BytesOf::~BytesOf() { free_bytes(copy_); }

Term new_binary(TermSpace& heap, Word size_bytes, std::uint8_t** bytes) {
  if (size_bytes <= kHeapBinaryMaxBytes) {
    const Word words = words_for_bytes(size_bytes);
    auto* b = reinterpret_cast<HeapBinary*>(heap.alloc(2 + words));
    b->header = Term::header(Term::Sub::kHeapBinary, 1 + words);
    b->size_bytes = size_bytes;
    *bytes = b->data;
    return Term::boxed(&b->header);
  }
  Binary* binary = create_binary(size_bytes);
  *bytes = binary->data;
  return refc_handle(heap, binary, binary->data, size_bytes, 0);
}

[[gnu::no_stack_protector]] Term make_binary(TermSpace& heap, const void* bytes, Word size_bytes) {
  std::uint8_t* out;
  const Term t = new_binary(heap, size_bytes, &out);
  if (size_bytes) std::memcpy(out, bytes, size_bytes);
  return t;
}

Term make_bitstring(TermSpace& heap, const std::uint8_t* bytes, Word offset_bits, Word size_bits) {
  std::uint8_t* out;
  const Term whole = new_binary(heap, (size_bits + 7) / 8, &out);
  if (size_bits & 7) out[size_bits / 8] = 0;
  copy_bits(out, 0, bytes, offset_bits, size_bits);
  return size_bits & 7 ? make_sub_binary(heap, whole, 0, size_bits, false) : whole;
}

Term make_refc_binary(TermSpace& heap, Binary* binary, std::uint8_t* bytes, Word size_bytes) {
  return refc_handle(heap, binary, bytes, size_bytes, 0);
}

Term make_part(TermSpace& heap, Term bitstring, Word offset_bits, Word size_bits) {
  const BitView v = bits_of(bitstring);
  if (offset_bits == 0 && size_bits == v.size_bits) return settled(heap, bitstring);
  return extract(heap, original_of(bitstring), v.base, v.offset_bits + offset_bits, size_bits);
}

[[gnu::no_stack_protector]] void start_match(Term* h, Term source) {
  Term original = source;
  Word offset_bits = 0, size_bits = 0;
  const bool is_part = source.boxed_ptr()->header_sub() == Term::Sub::kSubBinary;
  if (is_part) {
    const auto* s = reinterpret_cast<const SubBinary*>(source.boxed_ptr());
    original = s->original;
    offset_bits = s->offset_bytes * 8 + s->bit_offset;
    size_bits = s->size_bytes * 8 + s->bit_size;
  }
  const Word* const o = reinterpret_cast<const Word*>(original.boxed_ptr());
  if (!is_part) size_bits = o[1] * 8;
  auto* m = reinterpret_cast<MatchContext*>(h);
  m->header = Term::header(Term::Sub::kMatchContext, 4);
  m->original = original;
  // An append in place may move the bytes, and the context keeps their address: a binary that is
  // matched on is not writable any more.
  if (original.boxed_ptr()->header_sub() == Term::Sub::kRefcBinary) {
    auto* r = reinterpret_cast<RefcBinary*>(original.boxed_ptr());
    if (r->flags) r->flags = 0;
    m->base = r->bytes;
  } else {
    m->base = reinterpret_cast<const std::uint8_t*>(o + 2);
  }
  m->offset_bits = offset_bits;
  m->size_bits = offset_bits + size_bits;
}

Term bs_start_match(TermSpace& heap, Term source) {
  if (!source.is_bitstring()) return kNonValue;
  if (source.boxed_ptr()->header_sub() == Term::Sub::kMatchContext) return source;
  Term* h = heap.alloc(sizeof(MatchContext) / sizeof(Term));
  start_match(h, source);
  return Term::boxed(h);
}

[[gnu::no_stack_protector]] Term* extract(Term* h, const MatchContext& m, Word bits) {
  return extract_to(h, m.original, m.base, m.offset_bits, bits);
}

Term bs_get_bits(TermSpace& heap, MatchContext& m, Word bits) {
  if (bits_left(m) < bits) return kNonValue;
  const Term t = extract(heap, m.original, m.base, m.offset_bits, bits);
  m.offset_bits += bits;
  return t;
}

Term bs_get_all(TermSpace& heap, MatchContext& m, Word unit) {
  const Word left = bits_left(m);
  return is_multiple(left, unit) ? bs_get_bits(heap, m, left) : kNonValue;
}

[[gnu::no_stack_protector]] Term bs_get_tail(TermSpace& heap, const MatchContext& m) {
  return extract(heap, m.original, m.base, m.offset_bits, bits_left(m));
}

bool bs_match_string(MatchContext& m, const std::uint8_t* bytes, Word bits) {
  if (bits_left(m) < bits || compare_bits(m.base, m.offset_bits, bytes, 0, bits) != 0) return false;
  m.offset_bits += bits;
  return true;
}

}  // namespace vmrun
