// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstring>

#include "vm/term/bits.hpp"

/// Typed fields of the bit syntax: integers, floats and Unicode, taken from a match context or put
/// through a builder. The rules of bits.hpp hold.
namespace vmrun {

// ---- Fields -------------------------------------------------------------------------------------

/// Flags as in the bit syntax instructions.
inline constexpr unsigned kBitsLittle = 2, kBitsSigned = 4, kBitsNative = 16;
/// Resolves `native`. The loader does this once.
inline constexpr unsigned resolve_bit_flags(unsigned flags) {
  return flags & kBitsNative
             ? (flags & ~kBitsNative) | (std::endian::native == std::endian::little ? kBitsLittle : 0u)
             : flags;
}

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
// As in bits.hpp: the context advances when there is a match; a non-value says "no match".

Term bs_get_integer_slow(TermSpace& heap, MatchContext& m, Word bits, unsigned flags);

/// Returns the next 56 bits at least, the first one topmost, with one load. At least 64 must be
/// left.
inline Word next_bits(const MatchContext& m) {
  Word w;
  std::memcpy(&w, m.base + m.offset_bits / 8, 8);
  return __builtin_bswap64(w) << (m.offset_bits & 7);
}
/// Returns n of 1...64 bits, the first one topmost, and anything behind them. Reads no other bytes.
Word top_bits(const std::uint8_t* base, Word offset_bits, Word n);

inline Term bs_get_integer(TermSpace& heap, MatchContext& m, Word bits, unsigned flags) {
  const Word left = bits_left(m);
  if (left >= 64 && bits - 1 < 56 && !(flags & kBitsLittle)) [[likely]] {  // bits 1…56
    const Word v = next_bits(m) >> (64 - bits);
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

}  // namespace vmrun
