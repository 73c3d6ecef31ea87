// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "vm/term/term.hpp"

/// What is known about the kind of a value: which kinds of terms it may be, the range of an
/// integer, the size and elements of a tuple, the elements of a list. Kinds and ranges are those of
/// the Type chunk of OTP 25. Types are plain values; types of elements belong to a pool. One
/// compilation, one thread.
namespace vmrun::ir {

/// Bits of Type::kinds; numbers are the file format's, which has no native records.
namespace kind {
inline constexpr std::uint16_t kAtom = 1, kBitstring = 2, kMatchState = 4, kCons = 8, kFloat = 16, kFun = 32,
                               kInteger = 64, kMap = 128, kNil = 256, kPid = 512, kPort = 1024,
                               kReference = 2048, kTuple = 4096, kRecord = 8192, kAny = 16383;
inline constexpr std::uint16_t kNumber = kInteger | kFloat, kList = kCons | kNil;
}  // namespace kind

class TypePool;

struct Type {
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(),
                                kHighest = std::numeric_limits<std::int64_t>::max();

  std::uint16_t kinds = kind::kAny;
  bool boolean = false;        // if it is an atom, it is true or false
  bool exact_size = false;     // if it is a tuple, it has `size` elements and no more
  std::uint32_t size = 0;      // … or at least this many
  Term tag = kNonValue;        // … and this first element, if that is known
  std::int64_t low = kLowest;  // if it is an integer, it is not less
  std::int64_t high = kHighest;
  Term only = kNonValue;  // it is this immediate term and no other
  // In a pool, which keeps equal types once: equal types have the same address.
  const Type* elements = nullptr;  // if it is a tuple, it has `size` elements, of these types
  const Type* item = nullptr;      // if it is a list, it ends in [], and its elements are of this type

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

  bool is(std::uint16_t wanted) const { return (kinds & ~wanted) == 0; }
  bool may_be(std::uint16_t wanted) const { return (kinds & wanted) != 0; }
  bool bounded() const { return low != kLowest && high != kHighest; }
  bool operator==(const Type&) const = default;

  /// Returns the type of a value that is of one type or the other.
  Type join(const Type& o, TypePool& pool) const;
  /// Returns the type of a value that is of both types. No kinds: there is no such value.
  Type meet(const Type& o) const;
  /// Returns the type without the parts that could change without end from one round of a loop to
  /// the next, so that there are finitely many types.
  Type general() const;
};

/// The types of elements, each sequence of them once. Types that are nested deeper than kDepth, and
/// tuples larger than kWidth, are not recorded.
class TypePool {
 public:
  static constexpr unsigned kDepth = 3, kWidth = 16;

  Type of(Term literal);
  Type tuple(std::span<const Type> elements);
  /// A list that ends in [].
  Type list(const Type& item, std::uint16_t kinds);
  const Type* keep(std::span<const Type> elements);

 private:
  struct Kept {
    std::vector<Type> types;
    unsigned depth;
  };
  /// Returns the nesting of element types; more than kDepth: too deep.
  unsigned depth(const Type& t) const;

  Type of(Term literal, unsigned depth);

  std::deque<Kept> kept_;
  std::unordered_map<Word, Type> of_literals_;  // of literals that are not immediate
  std::unordered_map<const Type*, const Kept*> by_address_;
  std::unordered_multimap<std::size_t, const Kept*> by_hash_;
};

}  // namespace vmrun::ir
