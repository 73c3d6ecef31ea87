// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstring>

#include "vm/term/term_space.hpp"

/// Bit strings: views of their bits, creation, and the parts of them that matching takes (over
/// MatchContext). Bit 0 of a byte is its most significant one. Nothing here collects; results are
/// built in the heap given. Owner of the heap only. Integers, floats and Unicode as fields:
/// bits_fields.hpp; bit strings that grow: bits_append.hpp.
namespace vmrun {

/// Sizes beyond this are not even computed.
inline constexpr Word kMaxBinaryBits = Word{1} << 62;
/// Returns what this machine's memory could hold at all. A program that asks for more gets a
/// system_limit without an attempt.
Word max_binary_bits();

// ---- Raw bits -----------------------------------------------------------------------------------

/// Copies n bits. Offsets count bits from `dst` and `src`. Bits around the target range stay as
/// they are. The ranges do not overlap.
void copy_bits(std::uint8_t* dst, Word dst_offset, const std::uint8_t* src, Word src_offset, Word n);
/// Compares n bits of each. Returns <0, 0 or >0, as the first differing bit decides.
int compare_bits(const std::uint8_t* a, Word a_offset, const std::uint8_t* b, Word b_offset, Word n);

/// Where the bits of a bit string lie. Valid until the next collection or append to that string.
struct BitView {
  const std::uint8_t* base = nullptr;
  Word offset_bits = 0;
  Word size_bits = 0;
  bool aligned() const { return (offset_bits & 7) == 0; }
  bool is_binary() const { return (size_bits & 7) == 0; }               // whole bytes
  const std::uint8_t* bytes() const { return base + offset_bits / 8; }  // if aligned
  Word size_bytes() const { return size_bits / 8; }
};

/// `t` must be a bit string.
inline BitView bits_of(Term t) {
  const Term* p = t.boxed_ptr();
  switch (p->header_sub()) {
    case Term::Sub::kHeapBinary: {
      const auto* b = reinterpret_cast<const HeapBinary*>(p);
      return {b->data, 0, b->size_bytes * 8};
    }
    case Term::Sub::kRefcBinary: {
      const auto* b = reinterpret_cast<const RefcBinary*>(p);
      return {b->bytes, 0, b->size_bytes * 8};
    }
    case Term::Sub::kMatchContext: {
      const auto* m = reinterpret_cast<const MatchContext*>(p);
      return {m->base, m->offset_bits, m->size_bits - m->offset_bits};
    }
    default: {
      const auto* s = reinterpret_cast<const SubBinary*>(p);
      BitView v = bits_of(s->original);
      return {v.base, s->offset_bytes * 8 + s->bit_offset, s->size_bytes * 8 + s->bit_size};
    }
  }
}
inline Word bit_size_of(Term t) {
  const Term* p = t.boxed_ptr();
  const Word bytes = p[1].raw();  // all layouts but the context's keep the size there
  switch (p->header_sub()) {
    case Term::Sub::kSubBinary: return bytes * 8 + reinterpret_cast<const SubBinary*>(p)->bit_size;
    case Term::Sub::kMatchContext: return bits_of(t).size_bits;
    default: return bytes * 8;
  }
}
/// Returns the heap or refc binary that holds a bit string's bytes. It is the bit string itself, or
/// the original of a sub-binary or match context.
inline Term original_of(Term t) {
  const Term* p = t.boxed_ptr();
  switch (p->header_sub()) {
    case Term::Sub::kSubBinary: return reinterpret_cast<const SubBinary*>(p)->original;
    case Term::Sub::kMatchContext: return reinterpret_cast<const MatchContext*>(p)->original;
    default: return t;
  }
}
/// Returns the sub-binary that a match context stands for.
inline SubBinary rest_of(const MatchContext& m) {
  const Word bits = m.size_bits - m.offset_bits;
  SubBinary s{};
  s.header = Term::header(Term::Sub::kSubBinary, 4);
  s.size_bytes = bits / 8;
  s.offset_bytes = m.offset_bits / 8;
  s.bit_size = bits & 7;
  s.bit_offset = m.offset_bits & 7;
  s.original = m.original;
  return s;
}
/// Whether a term is a bit string of whole bytes.
inline bool is_binary(Term t) { return t.is_bitstring() && (bit_size_of(t) & 7) == 0; }

/// Compares two bit strings as Erlang does: the common prefix first, then the length.
int compare_bitstrings(Term a, Term b);

/// The bytes of a binary in one piece: in place when it is aligned, otherwise a copy that lives as
/// long as this object. A last partial byte is padded with zero bits.
class BytesOf {
 public:
  explicit BytesOf(Term t) : BytesOf(bits_of(t)) {}
  explicit BytesOf(const BitView& v);
  ~BytesOf();
  BytesOf(const BytesOf&) = delete;
  BytesOf& operator=(const BytesOf&) = delete;
  const std::uint8_t* data() const { return data_; }
  Word size() const { return size_; }

 private:
  const std::uint8_t* data_;
  Word size_;
  std::uint8_t* copy_ = nullptr;
};

// ---- Creation -----------------------------------------------------------------------------------

/// Makes a binary of uninitialised bytes, in the heap or reference-counted, depending on its size.
/// *bytes points to its bytes.
Term new_binary(TermSpace& heap, Word size_bytes, std::uint8_t** bytes);
Term make_binary(TermSpace& heap, const void* bytes, Word size_bytes);
/// As above, for any number of bits. `offset_bits` counts from `bytes`.
Term make_bitstring(TermSpace& heap, const std::uint8_t* bytes, Word offset_bits, Word size_bits);
/// Makes a handle that takes over one reference to `binary`.
Term make_refc_binary(TermSpace& heap, Binary* binary, std::uint8_t* bytes, Word size_bytes);
/// Returns a part of a bit string. It shares the bytes, or is a copy if it is small and of whole
/// bytes. offset_bits counts from the string's first bit.
Term make_part(TermSpace& heap, Term bitstring, Word offset_bits, Word size_bits);

/// Returns how many heap words it takes at most to create or extract a bit string of so many bits.
inline Word new_bits_words(Word size_bits) {
  const Word bytes = (size_bits + 7) / 8;
  return (bytes <= kHeapBinaryMaxBytes ? 2 + words_for_bytes(bytes) : 6) + ((size_bits & 7) ? 5 : 0);
}
inline constexpr Word kExtractWords = 10;

// ---- Matching -----------------------------------------------------------------------------------
// All of these advance the context when they match and leave it alone when they do not; a non-value
// or false says "no match".

/// Whether n bits are whole units. Units are nearly always 1 or 8, and a division would cost more
/// than everything else here.
inline bool is_multiple(Word n, Word unit) { return unit == 1 || (unit == 8 ? (n & 7) == 0 : n % unit == 0); }

/// Makes a match context at h over a bit string, at its start. The bit string is no match context.
void start_match(Term* h, Term source);
/// Makes a match context over a bit string, at its start (5 words). A context passes through
/// unchanged. Returns kNonValue for other terms.
Term bs_start_match(TermSpace& heap, Term source);

inline MatchContext* match_context(Term t) { return reinterpret_cast<MatchContext*>(t.boxed_ptr()); }
inline Word bits_left(const MatchContext& m) { return m.size_bits - m.offset_bits; }

/// Makes the next `bits`, which are there, a bit string at h, at most kExtractWords long. Returns
/// where that ends. Leaves the context alone.
Term* extract(Term* h, const MatchContext& m, Word bits);
/// Reads the next `bits` as a bit string.
Term bs_get_bits(TermSpace& heap, MatchContext& m, Word bits);
/// Reads everything left, if it is a multiple of `unit`.
Term bs_get_all(TermSpace& heap, MatchContext& m, Word unit);
/// Returns everything left, without advancing (bs_get_tail).
Term bs_get_tail(TermSpace& heap, const MatchContext& m);
/// Turns a match context into a bit string that the match does not change any more. Other terms are
/// returned unchanged.
inline Term settled(TermSpace& heap, Term t) {
  return t.is_boxed_sub(Term::Sub::kMatchContext) ? bs_get_tail(heap, *match_context(t)) : t;
}
inline bool bs_skip(MatchContext& m, Word bits) {
  if (bits_left(m) < bits) return false;
  m.offset_bits += bits;
  return true;
}
bool bs_match_string(MatchContext& m, const std::uint8_t* bytes, Word bits);
}  // namespace vmrun
