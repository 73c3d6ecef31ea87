// SPDX-License-Identifier: Apache-2.0
#include "vm/term/bits_fields.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "vm/base/utf8.hpp"
#include "vm/term/big.hpp"

namespace vmrun {
namespace {

/// Bytes for the time of one function.
class ByteScratch {
 public:
  explicit ByteScratch(Word n) : p_(inline_) {
    if (n > sizeof inline_) {
      large_ = std::make_unique_for_overwrite<std::uint8_t[]>(n);
      p_ = large_.get();
    }
  }
  std::uint8_t* get() { return p_; }

 private:
  std::uint8_t* p_;
  std::unique_ptr<std::uint8_t[]> large_;
  std::uint8_t inline_[128];
};

/// Reads n of 1...64 bits as a number, most significant first.
Word read_word(const std::uint8_t* base, Word offset, Word n) {
  return top_bits(base, offset, n) >> (64 - n);
}

Word little_word(Word w, Word bits) {  // as read, first bits topmost, to the value of a little-endian field
  w <<= 64 - bits;
  const Word whole = bits / 8, rest = bits % 8;
  if (rest == 0) return __builtin_bswap64(w);
  Word v = 0;
  for (Word i = 0; i < whole; ++i) v |= (w >> (56 - 8 * i) & 0xFF) << (8 * i);
  return v | (w >> (64 - bits) & ((1u << rest) - 1)) << (8 * whole);
}

template <class Number>
Word big_endian_at(const std::uint8_t* p) {
  Number n;
  std::memcpy(&n, p, sizeof n);
  if constexpr (sizeof n == 8) return __builtin_bswap64(n);
  else if constexpr (sizeof n == 4) return __builtin_bswap32(n);
  else return __builtin_bswap16(n);
}

Word sign_extend(Word v, Word bits) {
  return static_cast<Word>(static_cast<SWord>(v << (64 - bits)) >> (64 - bits));
}

double half_to_double(unsigned h) {
  const unsigned exponent = h >> 10 & 0x1F, fraction = h & 0x3FF;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                                         : std::ldexp(fraction | 0x400, static_cast<int>(exponent) - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

/// Rounds once, to the nearest half, ties to even. Values that are too large become infinite, as in
/// OTP.
std::uint16_t double_to_half(double d) {
  const double a = std::fabs(d);
  const unsigned sign = std::signbit(d) ? 0x8000 : 0;
  if (a == 0) return static_cast<std::uint16_t>(sign);
  if (a >= 65536) return static_cast<std::uint16_t>(sign | 0x7C00);
  int exponent;
  std::frexp(a, &exponent);                       // a in [2^(e-1), 2^e)
  const int unit = std::max(exponent - 11, -24);  // weight of the last place
  auto n = static_cast<unsigned>(std::nearbyint(std::ldexp(a, -unit)));
  // Adding to the encoding carries into the exponent where rounding reaches the next power of two.
  const unsigned bits = unit == -24 && n < 0x400 ? n : (static_cast<unsigned>(unit + 25) << 10) + n - 0x400;
  return static_cast<std::uint16_t>(sign | std::min(bits, 0x7C00u));
}

}  // namespace

[[gnu::no_stack_protector]] Word top_bits(const std::uint8_t* base, Word offset_bits, Word n) {
  const std::uint8_t* p = base + offset_bits / 8;
  const Word shift = offset_bits & 7, bytes = (shift + n + 7) / 8;
  Word w;
  if (bytes >= 8) {
    w = big_endian_at<std::uint64_t>(p) << shift;
    return bytes == 8 ? w : w | p[8] >> (8 - shift);
  }
  const Word below = 64 - 8 * bytes;  // of two loads that may have bytes in common
  if (bytes >= 4)
    w = big_endian_at<std::uint32_t>(p) << 32 | big_endian_at<std::uint32_t>(p + bytes - 4) << below;
  else if (bytes >= 2)
    w = big_endian_at<std::uint16_t>(p) << 48 | big_endian_at<std::uint16_t>(p + bytes - 2) << below;
  else w = Word{*p} << 56;
  return w << shift;
}

Term bs_get_integer_slow(TermSpace& heap, MatchContext& m, Word bits, unsigned flags) {
  if (bits_left(m) < bits) return kNonValue;
  if (bits == 0) return Term::small(0);
  const Word offset = m.offset_bits;
  m.offset_bits += bits;
  if (bits <= 64) {
    Word v = read_word(m.base, offset, bits);
    if (flags & kBitsLittle) v = little_word(v, bits);
    return flags & kBitsSigned ? make_integer(heap, static_cast<SWord>(sign_extend(v, bits)))
                               : make_unsigned(heap, v);
  }
  const Word n = (bits + 7) / 8, rest = bits & 7;
  ByteScratch scratch(n);
  std::uint8_t* b = scratch.get();
  const bool little = flags & kBitsLittle;
  std::uint8_t* top = little ? b + n - 1 : b;  // most significant byte
  *top = 0;
  if (little) {
    copy_bits(b, 0, m.base, offset, bits);
    if (rest) *top = static_cast<std::uint8_t>(*top >> (8 - rest));
  } else {
    copy_bits(b, rest ? 8 - rest : 0, m.base, offset, bits);
  }
  const unsigned top_bits = rest ? static_cast<unsigned>(rest) : 8;
  const bool negative = (flags & kBitsSigned) && (*top >> (top_bits - 1) & 1);
  if (negative) {
    *top = static_cast<std::uint8_t>(*top | 0xFF << top_bits);
    unsigned carry = 1;
    for (Word i = 0; i < n; ++i) {
      std::uint8_t& byte = little ? b[i] : b[n - 1 - i];
      carry += static_cast<std::uint8_t>(~byte);
      byte = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
  }
  return integer_from_bytes(heap, b, n, little, negative);
}

Term bs_get_float(TermSpace& heap, MatchContext& m, Word bits, unsigned flags) {
  if ((bits != 64 && bits != 32 && bits != 16) || bits_left(m) < bits) return kNonValue;
  Word w = read_word(m.base, m.offset_bits, bits);
  if (flags & kBitsLittle) w = little_word(w, bits);
  double d;
  if (bits == 64) d = std::bit_cast<double>(w);
  else if (bits == 32) d = std::bit_cast<float>(static_cast<std::uint32_t>(w));
  else if ((w & 0x7C00) == 0x7C00) return kNonValue;
  else d = half_to_double(static_cast<unsigned>(w));
  if (!std::isfinite(d)) return kNonValue;
  m.offset_bits += bits;
  Term* hp = heap.alloc(2);
  return make_float(hp, d);
}

Term bs_get_utf8(MatchContext& m) {
  const Word left = bits_left(m);
  if (left < 8) return kNonValue;
  const Word have = std::min<Word>(left / 8, 4);
  std::uint8_t copy[4] = {};
  const std::uint8_t* b = m.base + m.offset_bits / 8;
  if (m.offset_bits & 7) {
    copy_bits(copy, 0, m.base, m.offset_bits, have * 8);
    b = copy;
  }
  const utf8::Decoded c = utf8::decode(b, have);
  if (c.size == 0) return kNonValue;
  m.offset_bits += c.size * 8;
  return Term::small(c.value);
}

Term bs_get_utf16(MatchContext& m, unsigned flags) {
  const auto unit = [&](Word offset) {
    const Word w = read_word(m.base, offset, 16);
    return flags & kBitsLittle ? little_word(w, 16) : w;
  };
  const Word left = bits_left(m);
  if (left < 16) return kNonValue;
  const Word high = unit(m.offset_bits);
  if (high < 0xD800 || high > 0xDFFF) {
    m.offset_bits += 16;
    return Term::small(static_cast<SWord>(high));
  }
  if (high > 0xDBFF || left < 32) return kNonValue;
  const Word low = unit(m.offset_bits + 16);
  if (low < 0xDC00 || low > 0xDFFF) return kNonValue;
  m.offset_bits += 32;
  return Term::small(static_cast<SWord>(0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00))));
}

Term bs_get_utf32(MatchContext& m, unsigned flags) {
  if (bits_left(m) < 32) return kNonValue;
  Word c = read_word(m.base, m.offset_bits, 32);
  if (flags & kBitsLittle) c = little_word(c, 32);
  if (!utf8::is_scalar(c)) return kNonValue;
  m.offset_bits += 32;
  return Term::small(static_cast<SWord>(c));
}

void BitBuilder::put_raw(const std::uint8_t* bytes, Word offset_bits, Word bits) {
  copy_bits(base_, offset_, bytes, offset_bits, bits);
  offset_ += bits;
}

void BitBuilder::put_bytes(const std::uint8_t* bytes, Word count) { put_raw(bytes, 0, count * 8); }

namespace {

/// Writes through a buffer an integer that does not begin or end with a byte, or is large.
[[gnu::noinline]] bool put_through_buffer(std::uint8_t* base, Word offset, Term value, Word bits,
                                          unsigned flags) {
  const bool little = flags & kBitsLittle;
  if (value.is_small() && bits <= 64) {
    auto w = static_cast<Word>(value.small_value());
    std::uint8_t bytes[8];
    if (little) {
      std::memcpy(bytes, &w, 8);
      if (bits & 7) bytes[bits / 8] = static_cast<std::uint8_t>(bytes[bits / 8] << (8 - (bits & 7)));
    } else {
      w = __builtin_bswap64(w << (64 - bits));
      std::memcpy(bytes, &w, 8);
    }
    copy_bits(base, offset, bytes, 0, bits);
    return true;
  }
  if (!value.is_integer()) return false;
  const Word n = (bits + 7) / 8, rest = bits & 7;
  ByteScratch scratch(n);
  std::uint8_t* b = scratch.get();
  integer_to_bytes(value, b, n, little);
  if (little && rest) b[n - 1] = static_cast<std::uint8_t>(b[n - 1] << (8 - rest));
  copy_bits(base, offset, b, !little && rest ? 8 - rest : 0, bits);
  return true;
}

}  // namespace

bool BitBuilder::put_integer_slow(Term value, Word bits, unsigned flags) {
  if (bits == 0 && value.is_small()) return true;
  if (value.is_small() && bits <= 64 && ((bits | offset_) & 7) == 0) {
    const auto w = static_cast<Word>(value.small_value());
    std::uint8_t* to = base_ + offset_ / 8;
    if (flags & kBitsLittle) {
      for (Word i = 0; i < bits; i += 8) *to++ = static_cast<std::uint8_t>(w >> i);
    } else {
      for (Word i = bits; i > 0; i -= 8) *to++ = static_cast<std::uint8_t>(w >> (i - 8));
    }
  } else if (!put_through_buffer(base_, offset_, value, bits, flags)) {
    return false;
  }
  offset_ += bits;
  return true;
}

bool BitBuilder::put_float(Term value, Word bits, unsigned flags) {
  double d;
  if (value.is_float()) d = float_of(value)->value;
  else if (!value.is_integer() || !integer_to_double(value, &d)) return false;
  Word w;
  if (bits == 64) {
    w = std::bit_cast<Word>(d);
  } else if (bits == 32) {
    w = std::bit_cast<std::uint32_t>(static_cast<float>(d));  // too large becomes infinite, as OTP has it
  } else if (bits == 16) {
    w = double_to_half(d);
  } else {
    return false;
  }
  if (!(flags & kBitsLittle)) w = __builtin_bswap64(w << (64 - bits));
  put_raw(reinterpret_cast<const std::uint8_t*>(&w), 0, bits);
  return true;
}

bool BitBuilder::put_bits(Term value, Word bits) {
  if (!value.is_bitstring()) return false;
  const BitView v = bits_of(value);
  if (v.size_bits < bits) return false;
  put_raw(v.base, v.offset_bits, bits);
  return true;
}

bool BitBuilder::put_all(Term value, Word unit) {
  if (!value.is_bitstring()) return false;
  const BitView v = bits_of(value);
  if (!is_multiple(v.size_bits, unit)) return false;
  put_raw(v.base, v.offset_bits, v.size_bits);
  return true;
}

bool is_unicode_scalar(Term value) {
  return value.is_small() && value.small_value() >= 0 &&
         utf8::is_scalar(static_cast<Word>(value.small_value()));
}

Word utf8_bits(Term value) {
  if (!is_unicode_scalar(value)) return 0;
  return utf8::size_of(static_cast<std::uint32_t>(value.small_value())) * 8;
}

Word utf16_bits(Term value) {
  return !is_unicode_scalar(value) ? 0 : value.small_value() < 0x10000 ? 16 : 32;
}

bool BitBuilder::put_utf8(Term value) {
  if (!is_unicode_scalar(value)) return false;
  std::uint8_t b[utf8::kMostBytes];
  put_bytes(b, utf8::encode(static_cast<std::uint32_t>(value.small_value()), b));
  return true;
}

bool BitBuilder::put_utf16(Term value, unsigned flags) {
  if (!is_unicode_scalar(value)) return false;
  const SWord c = value.small_value();
  if (c < 0x10000) return put_integer(value, 16, flags);
  const SWord v = c - 0x10000;
  return put_integer(Term::small(0xD800 | v >> 10), 16, flags) &&
         put_integer(Term::small(0xDC00 | (v & 0x3FF)), 16, flags);
}

bool BitBuilder::put_utf32(Term value, unsigned flags) {
  return is_unicode_scalar(value) && put_integer(value, 32, flags);
}

}  // namespace vmrun
