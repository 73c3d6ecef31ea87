#pragma once

#include <bit>
#include <cstring>

#include "vm/term/term_space.hpp"

/// Bit strings: views of their bits, creation, the primitives behind the bs_* instructions that
/// match over a MatchContext, and the builder behind bs_create_bin. Bit 0 of a byte is its most
/// significant one. The functions never collect; results are built in the given heap. Called by the
/// owner of the heap only.
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
inline constexpr Word kAppendWords = 11;
inline constexpr Word kExtractWords = 10;

// ---- Fields -------------------------------------------------------------------------------------

/// Flags as in the bit syntax instructions.
inline constexpr unsigned kBitsLittle = 2, kBitsSigned = 4, kBitsNative = 16;
/// Resolves `native`. The loader does this once.
inline constexpr unsigned resolve_bit_flags(unsigned flags) {
  return flags & kBitsNative
             ? (flags & ~kBitsNative) | (std::endian::native == std::endian::little ? kBitsLittle : 0u)
             : flags;
}

/// Whether n bits are whole units. Units are nearly always 1 or 8, and a division would cost more
/// than everything else here.
inline bool is_multiple(Word n, Word unit) { return unit == 1 || (unit == 8 ? (n & 7) == 0 : n % unit == 0); }

/// Computes size × unit in bits. kBad: the size is negative or not an integer (a match fails, a
/// construction raises badarg). kTooBig: it is beyond any binary (a construction raises
/// system_limit).
enum class FieldSize { kOk, kBad, kTooBig };
inline FieldSize field_bits(Term size, unsigned unit, Word* bits) {
  if (!size.is_small()) return size.is_boxed_sub(Term::Sub::kPosBig) ? FieldSize::kTooBig : FieldSize::kBad;
  if (size.small_value() < 0) return FieldSize::kBad;
  const bool overflow = __builtin_mul_overflow(static_cast<Word>(size.small_value()), Word{unit}, bits);
  return overflow || *bits > kMaxBinaryBits ? FieldSize::kTooBig : FieldSize::kOk;
}

// ---- Matching -----------------------------------------------------------------------------------
// All of these advance the context when they match and leave it unchanged otherwise. A non-value or
// false means that they do not match.

/// Makes a match context over a bit string, at its start (5 words). A context passes through
/// unchanged. Returns kNonValue for other terms.
Term bs_start_match(TermSpace& heap, Term source);

inline MatchContext* match_context(Term t) { return reinterpret_cast<MatchContext*>(t.boxed_ptr()); }
inline Word bits_left(const MatchContext& m) { return m.size_bits - m.offset_bits; }

Term bs_get_integer_slow(TermSpace& heap, MatchContext& m, Word bits, unsigned flags);

/// Reads up to 56 bits, most significant first, unsigned, with one load. At least 64 bits must be
/// left.
inline Word peek_bits(const MatchContext& m, unsigned bits) {
  Word w;
  std::memcpy(&w, m.base + m.offset_bits / 8, 8);
  return __builtin_bswap64(w) << (m.offset_bits & 7) >> (64 - bits);
}

inline Term bs_get_integer(TermSpace& heap, MatchContext& m, Word bits, unsigned flags) {
  const Word left = bits_left(m);
  if (left >= 64 && bits - 1 < 56 && !(flags & kBitsLittle)) [[likely]] {  // bits 1…56
    const Word v = peek_bits(m, static_cast<unsigned>(bits));
    m.offset_bits += bits;
    if (flags & kBitsSigned) return Term::small(static_cast<SWord>(v << (64 - bits)) >> (64 - bits));
    return Term::small(static_cast<SWord>(v));
  }
  if (left < bits) return kNonValue;
  if (bits == 8 && (m.offset_bits & 7) == 0) {
    const std::uint8_t b = m.base[m.offset_bits / 8];
    m.offset_bits += 8;
    return Term::small(flags & kBitsSigned ? static_cast<std::int8_t>(b) : b);
  }
  return bs_get_integer_slow(heap, m, bits, flags);
}

/// Reads a float of 16, 32 or 64 bits. Infinities and NaN do not match.
Term bs_get_float(TermSpace& heap, MatchContext& m, Word bits, unsigned flags);
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
Term bs_get_utf8(MatchContext& m);
Term bs_get_utf16(MatchContext& m, unsigned flags);
Term bs_get_utf32(MatchContext& m, unsigned flags);

// ---- Construction -------------------------------------------------------------------------------

/// Writes fields one after another into memory that has been sized for them. The put functions
/// return false when the value does not fit the field's type (badarg).
class BitBuilder {
 public:
  BitBuilder() = default;
  BitBuilder(std::uint8_t* base, Word offset_bits) : base_(base), offset_(offset_bits) {}
  Word offset_bits() const { return offset_; }

  [[nodiscard]] bool put_integer(Term value, Word bits, unsigned flags) {
    if (value.is_small() && bits == 8 && (offset_ & 7) == 0) [[likely]] {
      base_[offset_ / 8] = static_cast<std::uint8_t>(value.small_value());
      offset_ += 8;
      return true;
    }
    return put_integer_slow(value, bits, flags);
  }
  [[nodiscard]] bool put_float(Term value, Word bits, unsigned flags);
  /// Writes the first `bits` of a bit string.
  [[nodiscard]] bool put_bits(Term value, Word bits);
  /// Writes all of it, if it is a multiple of `unit`.
  [[nodiscard]] bool put_all(Term value, Word unit);
  void put_bytes(const std::uint8_t* bytes, Word count);
  [[nodiscard]] bool put_utf8(Term value);
  [[nodiscard]] bool put_utf16(Term value, unsigned flags);
  [[nodiscard]] bool put_utf32(Term value, unsigned flags);

 private:
  bool put_integer_slow(Term value, Word bits, unsigned flags);
  void put_raw(const std::uint8_t* bytes, Word offset_bits, Word bits);
  std::uint8_t* base_ = nullptr;
  Word offset_ = 0;
};

/// Returns the bits that the value takes as utf8 or utf16; 0 when it is not a Unicode scalar value
/// (badarg).
Word utf8_bits(Term value);
Word utf16_bits(Term value);
bool is_unicode_scalar(Term value);

/// Makes a new bit string of `bits`, to be filled through *builder.
Term bs_new(TermSpace& heap, Word bits, BitBuilder* builder);
/// Returns `source` with room for extra_bits behind it, to be filled through *builder. Works in
/// place when source is the newest end of a writable binary, else in a new writable one with room
/// to grow. Returns kNonValue when source is not a bit string or not a multiple of unit (badarg).
/// *copied_bits: how much was copied, written only if something was.
Term bs_append(TermSpace& heap, Term source, Word extra_bits, Word unit, BitBuilder* builder,
               Word* copied_bits = nullptr);
/// Makes the empty binary to append to, with room for so many bytes (bs_init_writable).
Term bs_init_writable(TermSpace& heap, Term size_hint);

}  // namespace vmrun
