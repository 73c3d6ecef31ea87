// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vm/base/release.hpp"
#include "vm/term/term_space.hpp"

/// Integers of any size. An IntView shows a small and a big in the same way, as sign and magnitude
/// in limbs. Results are normalised: a value that fits a small is one, and a big has no leading
/// zero limb. GMP's mpn layer does the work on limbs. The functions depend only on their arguments
/// and write only to the heap for the result. Any thread may call them, as long as it owns that
/// heap.
namespace vmrun {

/// Integers beyond this many limbs do not exist: operations that would make one fail with
/// system_limit.
inline Word max_limbs() { return default_max_limbs(release_number); }

/// Sign and magnitude of an integer term. Points into the term's own object, or at `small_` for a
/// small: do not copy.
class IntView {
 public:
  explicit IntView(Term t);
  IntView(const IntView&) = delete;
  IntView& operator=(const IntView&) = delete;
  const Word* limbs() const { return limbs_; }
  Word count() const { return count_; }  // 0 for zero
  bool negative() const { return negative_; }
  bool zero() const { return count_ == 0; }
  Word bit_length() const;  // of the magnitude

 private:
  const Word* limbs_;
  Word count_;
  bool negative_;
  Word small_;
};

/// Returns the integer with this magnitude and sign. Leading zero limbs are allowed. Returns
/// kNonValue if it has too many limbs.
Term integer_from_limbs(TermSpace& heap, const Word* limbs, Word count, bool negative);
Term make_big_unsigned(TermSpace& heap, std::uint64_t v);  // slow paths of the two below
Term make_big_signed(TermSpace& heap, std::int64_t v);

inline Term make_integer(TermSpace& heap, std::int64_t v) {
  return Term::fits_small(v) ? Term::small(v) : make_big_signed(heap, v);
}
inline Term make_unsigned(TermSpace& heap, std::uint64_t v) {
  return v <= static_cast<std::uint64_t>(Term::kSmallMax) ? Term::small(static_cast<SWord>(v))
                                                          : make_big_unsigned(heap, v);
}

/// Returns the value in *out. False when the term is not an integer or is out of range.
[[nodiscard]] bool integer_to_int64(Term t, std::int64_t* out);
[[nodiscard]] bool integer_to_uint64(Term t, std::uint64_t* out);

/// Makes an integer from the bytes of its magnitude. `little` gives the byte order. Returns
/// kNonValue past max_limbs().
Term integer_from_bytes(TermSpace& heap, const std::uint8_t* bytes, Word count, bool little, bool negative);
/// Writes exactly `count` bytes of the two's complement value (sign extended or truncated).
void integer_to_bytes(Term t, std::uint8_t* bytes, Word count, bool little);
/// Returns how many bytes the magnitude needs (0 for zero).
Word integer_magnitude_bytes(Term t);

// Arithmetic on integer terms. kNonValue means that the result would pass max_limbs().
Term big_add(TermSpace& heap, Term a, Term b);
Term big_subtract(TermSpace& heap, Term a, Term b);
Term big_multiply(TermSpace& heap, Term a, Term b);
/// Divides, truncating towards zero; the remainder has the dividend's sign. b is not zero. Either
/// result may be nullptr.
void big_divide(TermSpace& heap, Term a, Term b, Term* quotient, Term* remainder);
Term big_negate(TermSpace& heap, Term a);

// Bitwise, on infinite two's complement.
enum class BitOp { kAnd, kOr, kXor };
Term big_bitwise(TermSpace& heap, BitOp op, Term a, Term b);
Term big_not(TermSpace& heap, Term a);
Term big_shift_left(TermSpace& heap, Term a, Word bits);
Term big_shift_right(TermSpace& heap, Term a, Word bits);  // rounds towards minus infinity

/// Returns -1, 0 or 1. Both terms are integers.
int compare_integers(Term a, Term b);
/// Compares exactly: the double counts as the rational number that it is (not a NaN).
int compare_integer_to_double(Term integer, double d);

/// Rounds each digit of 64 bits and each sum of them, as OTP does. Returns false if that overflows.
[[nodiscard]] bool integer_to_double(Term t, double* out);
/// Returns the integer part of a finite double.
Term integer_from_double(TermSpace& heap, double truncated);

/// Returns the digits in base 2…36, in upper case, with '-' in front if negative. The time is
/// subquadratic.
std::string integer_to_text(Term t, unsigned base);
/// Parses [+-]digits, nothing else; letters of either case. Returns kNonValue when the text is not
/// a number in this base, or (with *too_big set) when it is past max_limbs().
Term integer_from_text(TermSpace& heap, std::string_view text, unsigned base, bool* too_big = nullptr);

}  // namespace vmrun
