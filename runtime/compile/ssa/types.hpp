#pragma once
// What is known of the kind of a value: which kinds of terms it may be, the range of an integer,
// the size and first element of a tuple. Kinds and ranges are those of the Type chunk of OTP 25.
// Plain values; any thread.

#include <cstdint>
#include <limits>

#include "vm/term/term.hpp"

namespace vmrun::compile::ssa {

/// Bits of Type::kinds; numbers are the file format's.
namespace kind {
inline constexpr std::uint16_t kAtom = 1, kBitstring = 2, kMatchState = 4, kCons = 8, kFloat = 16, kFun = 32,
                               kInteger = 64, kMap = 128, kNil = 256, kPid = 512, kPort = 1024,
                               kReference = 2048, kTuple = 4096, kAny = 8191;
inline constexpr std::uint16_t kNumber = kInteger | kFloat, kList = kCons | kNil;
}  // namespace kind

struct Type {
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(),
                                kHighest = std::numeric_limits<std::int64_t>::max();

  std::uint16_t kinds = kind::kAny;
  bool boolean = false;        // if it is an atom, it is true or false
  bool exact_size = false;     // if it is a tuple, it has `size` elements and no more
  std::uint32_t size = 0;      // … at least so many
  Term tag = kNonValue;        // … and this first element, if that is known
  std::int64_t low = kLowest;  // if it is an integer, it is no less
  std::int64_t high = kHighest;
  Term only = kNonValue;  // it is this immediate term and no other

  static Type of_kinds(std::uint16_t kinds) {
    Type t;
    t.kinds = kinds;
    return t;
  }
  static Type integer(std::int64_t low, std::int64_t high) {
    Type t = of_kinds(kind::kInteger);
    t.low = low;
    t.high = high;
    return t;
  }
  static Type truth() {
    Type t = of_kinds(kind::kAtom);
    t.boolean = true;
    return t;
  }
  static Type tuple(std::uint32_t size, bool exact) {
    Type t = of_kinds(kind::kTuple);
    t.size = size;
    t.exact_size = exact;
    return t;
  }
  static Type of(Term literal);

  bool is(std::uint16_t wanted) const { return (kinds & ~wanted) == 0; }
  bool may_be(std::uint16_t wanted) const { return (kinds & wanted) != 0; }
  bool bounded() const { return low != kLowest && high != kHighest; }
  bool operator==(const Type&) const = default;

  /// Of a value that is of one or the other.
  Type join(const Type& o) const;
  /// Of a value that is of both; no kinds: there is no such value.
  Type meet(const Type& o) const;
};

}  // namespace vmrun::compile::ssa
