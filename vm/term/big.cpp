// SPDX-License-Identifier: Apache-2.0
#include "vm/term/big.hpp"

#include <gmp.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>

#include "vm/base/allocate.hpp"

namespace vmrun {
namespace {

static_assert(sizeof(mp_limb_t) == sizeof(Word) && GMP_NAIL_BITS == 0);

// GMP's memory for intermediate results. By default GMP aborts when memory is exhausted.
[[maybe_unused]] const bool memory_set = [] {
  mp_set_memory_functions([](std::size_t bytes) { return allocate_bytes(bytes, "a big integer"); },
                          [](void* p, std::size_t, std::size_t bytes) {
                            void* moved = try_reallocate_bytes(p, bytes);
                            return moved ? moved : (out_of_memory("a big integer", bytes), nullptr);
                          },
                          [](void* p, std::size_t) { free_bytes(p); });
  return true;
}();

/// Limbs for the time of one function. Small numbers of them lie on the C stack.
class Scratch {
 public:
  explicit Scratch(Word count) : p_(inline_) {
    if (count > kInline) {
      large_ = std::make_unique_for_overwrite<Word[]>(count);
      p_ = large_.get();
    }
  }
  Word* get() { return p_; }
  Word& operator[](Word i) { return p_[i]; }

 private:
  static constexpr Word kInline = 48;
  Word* p_;
  std::unique_ptr<Word[]> large_;
  Word inline_[kInline];
};

/// A result under construction in the heap. It has room for `capacity` limbs and is cut at the end
/// to those that are used.
class Result {
 public:
  Result(TermSpace& heap, Word capacity)
      : heap_(heap), capacity_(capacity), object_(heap.alloc(capacity + 1)) {}
  Word* limbs() { return reinterpret_cast<Word*>(object_ + 1); }
  Term finish(Word count, bool negative) {
    const Word* l = limbs();
    while (count > 0 && l[count - 1] == 0) --count;
    Term* const end = object_ + capacity_ + 1;
    if (count == 0 || (count == 1 && l[0] <= static_cast<Word>(Term::kSmallMax) + negative)) {
      const SWord v = count == 0 ? 0 : static_cast<SWord>(l[0]);
      heap_.give_back(object_, end);
      return Term::small(negative ? -v : v);
    }
    if (count > max_limbs()) {
      heap_.give_back(object_, end);
      return kNonValue;
    }
    object_[0] = Term::header(negative ? Term::Sub::kNegBig : Term::Sub::kPosBig, count);
    if (count < capacity_) heap_.give_back(object_ + 1 + count, end);
    return Term::boxed(object_);
  }

 private:
  TermSpace& heap_;
  Word capacity_;
  Term* object_;
};

int compare_magnitudes(const IntView& a, const IntView& b) {
  if (a.count() != b.count()) return a.count() < b.count() ? -1 : 1;
  if (a.zero()) return 0;
  const int c = mpn_cmp(a.limbs(), b.limbs(), static_cast<mp_size_t>(a.count()));
  return c < 0 ? -1 : c > 0;
}

Term add_signed(TermSpace& heap, const IntView& a, const IntView& b, bool b_negative) {
  const IntView& large = a.count() >= b.count() ? a : b;
  const IntView& little = &large == &a ? b : a;
  if (a.negative() == b_negative) {
    Result r(heap, large.count() + 1);
    Word* l = r.limbs();
    if (little.zero()) {
      std::copy_n(large.limbs(), large.count(), l);
      l[large.count()] = 0;
    } else {
      l[large.count()] = mpn_add(l, large.limbs(), static_cast<mp_size_t>(large.count()), little.limbs(),
                                 static_cast<mp_size_t>(little.count()));
    }
    return r.finish(large.count() + 1, a.negative());
  }
  const int c = compare_magnitudes(a, b);
  if (c == 0) return Term::small(0);
  const IntView& more = c > 0 ? a : b;
  const IntView& less = c > 0 ? b : a;
  Result r(heap, more.count());
  if (less.zero()) {
    std::copy_n(more.limbs(), more.count(), r.limbs());
  } else {
    mpn_sub(r.limbs(), more.limbs(), static_cast<mp_size_t>(more.count()), less.limbs(),
            static_cast<mp_size_t>(less.count()));
  }
  return r.finish(more.count(), c > 0 ? a.negative() : b_negative);
}

void negate_in_place(Word* l, Word n) {
  if (n > 0) mpn_neg(l, l, static_cast<mp_size_t>(n));
}

/// Writes the two's complement in n limbs; n is larger than the magnitude's count.
void to_twos_complement(const IntView& v, Word* out, Word n) {
  std::copy_n(v.limbs(), v.count(), out);
  std::fill(out + v.count(), out + n, 0);
  if (v.negative()) negate_in_place(out, n);
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

}  // namespace

IntView::IntView(Term t) {
  if (t.is_small()) {
    const SWord v = t.small_value();
    negative_ = v < 0;
    small_ = negative_ ? -static_cast<Word>(v) : static_cast<Word>(v);
    limbs_ = &small_;
    count_ = v != 0;
  } else {
    assert(t.is_big());
    const auto* o = reinterpret_cast<const BigObject*>(t.boxed_ptr());
    limbs_ = o->limbs;
    count_ = o->header.header_arity();
    negative_ = o->header.header_sub() == Term::Sub::kNegBig;
  }
}

Word IntView::bit_length() const {
  return count_ == 0 ? 0 : count_ * 64 - static_cast<Word>(std::countl_zero(limbs_[count_ - 1]));
}

Term integer_from_limbs(TermSpace& heap, const Word* limbs, Word count, bool negative) {
  while (count > 0 && limbs[count - 1] == 0) --count;
  if (count > max_limbs()) return kNonValue;
  if (count == 0) return Term::small(0);
  Result r(heap, count);
  std::copy_n(limbs, count, r.limbs());
  return r.finish(count, negative);
}

Term make_big_unsigned(TermSpace& heap, std::uint64_t v) { return integer_from_limbs(heap, &v, 1, false); }

Term make_big_signed(TermSpace& heap, std::int64_t v) {
  const Word magnitude = v < 0 ? -static_cast<Word>(v) : static_cast<Word>(v);
  return integer_from_limbs(heap, &magnitude, 1, v < 0);
}

bool integer_to_int64(Term t, std::int64_t* out) {
  if (t.is_small()) {
    *out = t.small_value();
    return true;
  }
  if (!t.is_big()) return false;
  IntView v(t);
  if (v.count() > 1) return false;
  const Word m = v.limbs()[0];
  if (m > (Word{1} << 63) - !v.negative()) return false;
  *out = static_cast<std::int64_t>(v.negative() ? -m : m);
  return true;
}

bool integer_to_uint64(Term t, std::uint64_t* out) {
  if (!t.is_integer()) return false;
  IntView v(t);
  if (v.negative() || v.count() > 1) return false;
  *out = v.zero() ? 0 : v.limbs()[0];
  return true;
}

Term integer_from_bytes(TermSpace& heap, const std::uint8_t* bytes, Word count, bool little, bool negative) {
  if (little) {
    while (count > 0 && bytes[count - 1] == 0) --count;
  } else {
    while (count > 0 && bytes[0] == 0) ++bytes, --count;
  }
  if (count == 0) return Term::small(0);
  const Word limbs = words_for_bytes(count);
  if (limbs > max_limbs()) return kNonValue;
  Result r(heap, limbs);
  Word* l = r.limbs();
  l[limbs - 1] = 0;
  if (little) {
    std::memcpy(l, bytes, count);  // limbs are little-endian in memory, as the machine
  } else {
    std::reverse_copy(bytes, bytes + count, reinterpret_cast<std::uint8_t*>(l));
  }
  return r.finish(limbs, negative);
}
static_assert(std::endian::native == std::endian::little);

void integer_to_bytes(Term t, std::uint8_t* bytes, Word count, bool little) {
  if (count == 0) return;
  IntView v(t);
  const Word n = std::min(v.count() * 8, count);
  std::memcpy(bytes, v.limbs(), n);
  std::memset(bytes + n, 0, count - n);
  if (v.negative()) {
    unsigned carry = 1;
    for (Word i = 0; i < count; ++i) {
      carry += static_cast<std::uint8_t>(~bytes[i]);
      bytes[i] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
  }
  if (!little) std::reverse(bytes, bytes + count);
}

Word integer_magnitude_bytes(Term t) { return (IntView(t).bit_length() + 7) / 8; }

Term big_add(TermSpace& heap, Term a, Term b) {
  IntView x(a), y(b);
  return add_signed(heap, x, y, y.negative());
}

Term big_subtract(TermSpace& heap, Term a, Term b) {
  IntView x(a), y(b);
  return add_signed(heap, x, y, !y.negative());
}

Term big_multiply(TermSpace& heap, Term a, Term b) {
  IntView x(a), y(b);
  if (x.zero() || y.zero()) return Term::small(0);
  const IntView& large = x.count() >= y.count() ? x : y;
  const IntView& little = &large == &x ? y : x;
  const Word n = large.count() + little.count();
  if (n > max_limbs() + 1) return kNonValue;
  Result r(heap, n);
  const auto large_n = static_cast<mp_size_t>(large.count()),
             little_n = static_cast<mp_size_t>(little.count());
  if (little_n == 1) {
    r.limbs()[n - 1] = mpn_mul_1(r.limbs(), large.limbs(), large_n, little.limbs()[0]);
  } else if (large.limbs() == little.limbs()) {
    mpn_sqr(r.limbs(), large.limbs(), large_n);
  } else {
    mpn_mul(r.limbs(), large.limbs(), large_n, little.limbs(), little_n);
  }
  return r.finish(n, x.negative() != y.negative());
}

void big_divide(TermSpace& heap, Term a, Term b, Term* quotient, Term* remainder) {
  IntView x(a), y(b);
  assert(!y.zero());
  if (compare_magnitudes(x, y) < 0) {
    if (quotient) *quotient = Term::small(0);
    if (remainder) *remainder = a;
    return;
  }
  const Word qn = x.count() - y.count() + 1, rn = y.count();
  Scratch q(qn), r(rn);
  if (rn == 1) {
    r[0] = mpn_divrem_1(q.get(), 0, x.limbs(), static_cast<mp_size_t>(x.count()), y.limbs()[0]);
  } else {
    mpn_tdiv_qr(q.get(), r.get(), 0, x.limbs(), static_cast<mp_size_t>(x.count()), y.limbs(),
                static_cast<mp_size_t>(rn));
  }
  if (quotient) *quotient = integer_from_limbs(heap, q.get(), qn, x.negative() != y.negative());
  if (remainder) *remainder = integer_from_limbs(heap, r.get(), rn, x.negative());
}

Term big_negate(TermSpace& heap, Term a) {
  IntView x(a);
  return integer_from_limbs(heap, x.limbs(), x.count(), !x.negative());
}

Term big_bitwise(TermSpace& heap, BitOp op, Term a, Term b) {
  IntView x(a), y(b);
  const Word n = std::max(x.count(), y.count()) + 1;  // one limb for the sign
  Scratch other(n);
  Result r(heap, n);
  Word* l = r.limbs();
  to_twos_complement(x, l, n);
  to_twos_complement(y, other.get(), n);
  for (Word i = 0; i < n; ++i) {
    switch (op) {
      case BitOp::kAnd: l[i] &= other[i]; break;
      case BitOp::kOr: l[i] |= other[i]; break;
      case BitOp::kXor: l[i] ^= other[i]; break;
    }
  }
  const bool negative = l[n - 1] >> 63;
  if (negative) negate_in_place(l, n);
  return r.finish(n, negative);
}

Term big_not(TermSpace& heap, Term a) {  // -a - 1
  IntView x(a);
  Result r(heap, x.count() + 1);
  Word* l = r.limbs();
  const auto n = static_cast<mp_size_t>(x.count());
  if (x.negative()) {
    mpn_sub_1(l, x.limbs(), n, 1);
    return r.finish(x.count(), false);
  }
  if (x.zero()) l[0] = 1;
  else l[n] = mpn_add_1(l, x.limbs(), n, 1);
  return r.finish(x.count() + 1, true);
}

Term big_shift_left(TermSpace& heap, Term a, Word bits) {
  IntView x(a);
  if (x.zero()) return a;
  const Word words = bits / 64, rest = bits % 64;
  if (words > max_limbs() || x.count() + words > max_limbs()) return kNonValue;
  const Word n = x.count() + words + 1;
  Result r(heap, n);
  Word* l = r.limbs();
  std::fill_n(l, words, 0);
  if (rest == 0) {
    std::copy_n(x.limbs(), x.count(), l + words);
    l[n - 1] = 0;
  } else {
    l[n - 1] =
        mpn_lshift(l + words, x.limbs(), static_cast<mp_size_t>(x.count()), static_cast<unsigned>(rest));
  }
  return r.finish(n, x.negative());
}

Term big_shift_right(TermSpace& heap, Term a, Word bits) {
  IntView x(a);
  const Word words = bits / 64, rest = bits % 64;
  if (words >= x.count()) return Term::small(x.negative() ? -1 : 0);
  const Word n = x.count() - words;
  bool lost = std::any_of(x.limbs(), x.limbs() + words, [](Word l) { return l != 0; });
  Result r(heap, n + 1);
  Word* l = r.limbs();
  if (rest == 0) {
    std::copy_n(x.limbs() + words, n, l);
  } else if (mpn_rshift(l, x.limbs() + words, static_cast<mp_size_t>(n), static_cast<unsigned>(rest)) != 0) {
    lost = true;
  }
  l[n] = 0;
  if (x.negative() && lost) l[n] = mpn_add_1(l, l, static_cast<mp_size_t>(n), 1);
  return r.finish(n + 1, x.negative());
}

int compare_integers(Term a, Term b) {
  if (a.is_small() && b.is_small())
    return a.small_value() < b.small_value() ? -1 : a.small_value() > b.small_value();
  IntView x(a), y(b);
  if (x.negative() != y.negative()) return x.negative() ? -1 : 1;
  const int c = compare_magnitudes(x, y);
  return x.negative() ? -c : c;
}

int compare_integer_to_double(Term integer, double d) {
  IntView x(integer);
  if (std::isinf(d)) return d > 0 ? -1 : 1;
  const double whole = std::trunc(d), fraction = d - whole;
  const int tie = fraction > 0 ? -1 : fraction < 0 ? 1 : 0;  // when the integer equals the whole part
  if (x.zero() && whole == 0) return tie;
  const bool d_negative = whole < 0;
  if (x.zero()) return d_negative ? 1 : -1;
  if (whole == 0 || x.negative() != d_negative) return x.negative() ? -1 : 1;
  int exponent;
  const double mantissa = std::frexp(std::fabs(whole), &exponent);  // in [0.5, 1)
  const auto d_bits = static_cast<Word>(exponent);
  int c;
  if (x.bit_length() != d_bits) {
    c = x.bit_length() < d_bits ? -1 : 1;
  } else {
    // Same bit length: compare the topmost 64 bits, then whether anything is left below.
    const Word top_d = static_cast<Word>(std::ldexp(mantissa, 53)) << 11;
    const Word n = x.count();
    const int shift = std::countl_zero(x.limbs()[n - 1]);
    Word top_x = x.limbs()[n - 1] << shift, below = 0;
    if (n > 1) {
      if (shift) top_x |= x.limbs()[n - 2] >> (64 - shift);
      below = x.limbs()[n - 2] << shift;
      for (Word i = 0; i + 2 < n && !below; ++i) below = x.limbs()[i];
    }
    c = top_x < top_d ? -1 : top_x > top_d ? 1 : below != 0;
  }
  if (c == 0) return tie;
  return x.negative() ? -c : c;
}

bool integer_to_double(Term t, double* out) {
  if (t.is_small()) {
    *out = static_cast<double>(t.small_value());
    return true;
  }
  IntView x(t);
  const Word n = x.count();
  if (n > 16) return false;
  double d = 0;
  for (Word i = n; i-- > 0;) d = d * 0x1p64 + static_cast<double>(x.limbs()[i]);
  *out = x.negative() ? -d : d;
  return std::isfinite(d);
}

Term integer_from_double(TermSpace& heap, double truncated) {
  if (truncated >= -0x1p59 && truncated < 0x1p59) return Term::small(static_cast<SWord>(truncated));
  int exponent;
  const double mantissa = std::frexp(std::fabs(truncated), &exponent);
  const Word bits = static_cast<Word>(std::ldexp(mantissa, 53)), shift = static_cast<Word>(exponent - 53);
  Word limbs[17] = {};
  limbs[shift / 64] = bits << shift % 64;
  if (shift % 64 > 11) limbs[shift / 64 + 1] = bits >> (64 - shift % 64);
  return integer_from_limbs(heap, limbs, 17, truncated < 0);
}

std::string integer_to_text(Term t, unsigned base) {
  if (t.is_small()) {
    char buffer[72];
    auto [end, error] =
        std::to_chars(buffer, buffer + sizeof buffer, t.small_value(), static_cast<int>(base));
    for (char* p = buffer; base > 10 && p < end; ++p) *p = *p >= 'a' ? static_cast<char>(*p - 32) : *p;
    return {buffer, end};
  }
  IntView x(t);
  Scratch copy(x.count() + 1);  // mpn_get_str destroys its operand
  std::copy_n(x.limbs(), x.count(), copy.get());
  const Word most = static_cast<Word>(static_cast<double>(x.bit_length()) / std::log2(base)) + 3;
  std::string text(most + 1, '-');
  auto* digits = reinterpret_cast<unsigned char*>(text.data()) + 1;
  Word n = mpn_get_str(digits, static_cast<int>(base), copy.get(), static_cast<mp_size_t>(x.count()));
  Word skip = 0;
  while (skip + 1 < n && digits[skip] == 0) ++skip;
  for (Word i = skip; i < n; ++i) text[i + 1] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digits[i]];
  if (x.negative()) {
    text[skip] = '-';
    return text.substr(skip, n - skip + 1);
  }
  return text.substr(skip + 1, n - skip);
}

Term integer_from_text(TermSpace& heap, std::string_view text, unsigned base, bool* too_big) {
  if (too_big) *too_big = false;
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return kNonValue;
  for (char c : text) {
    if (digit_value(c) >= static_cast<int>(base)) return kNonValue;
  }
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  if (text.size() <= (base <= 10 ? 17u : 11u)) {  // 36^11 < 2^57
    SWord v = 0;
    for (char c : text) v = v * base + digit_value(c);
    return Term::small(negative ? -v : v);
  }
  const double bits = static_cast<double>(text.size()) * std::log2(base);
  if (bits > static_cast<double>(max_limbs() + 2) * 64) {
    if (too_big) *too_big = true;
    return kNonValue;
  }
  auto digits = std::make_unique_for_overwrite<unsigned char[]>(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) digits[i] = static_cast<unsigned char>(digit_value(text[i]));
  Result r(heap, static_cast<Word>(bits / 64) + 3);
  const auto n = mpn_set_str(r.limbs(), digits.get(), text.size(), static_cast<int>(base));
  const Term t = r.finish(static_cast<Word>(n), negative);
  if (!t && too_big) *too_big = true;
  return t;
}

}  // namespace vmrun
