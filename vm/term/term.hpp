// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "vm/base/word.hpp"

namespace vmrun {

/// A term: one 64-bit word, tagged in its low bits. It is a plain value: a copy copies the word,
/// never the object behind it. Only vm/term and vm/heap touch the tag bits; other code uses the
/// constructors, tests and accessors here.
///
///   63                                       6 5 4 3 2 1 0
///   +-----------------------------------------+---+---+---+
///   | arity, or object specific               |subtag |0 0|  header of a boxed object (only at its
///                                             first word);
///   |                                         |       |   |  also: a return address on the stack
///   | address of a cons cell                          |0 1|  list
///   | address of a boxed object (its header)          |1 0|  boxed
///   | 60-bit process number                     |0 0 1 1|    local pid    (pid_numbers.hpp)
///   | 60-bit port number                        |0 1 1 1|    local port
///   | 60-bit signed integer                     |1 1 1 1|    small
///   | atom index                            |0 0 1 0 1 1|    atom
///   | code address                          |0 1 1 0 1 1|    catch (only on a stack)
///   |                                       |1 1 1 0 1 1|    nil
///
/// The word 0 is not a term ("non-value"): failed BIFs return it, and a moved cons cell holds it.
/// Follows the published BEAM tag scheme (The BEAM Book, "The Type System and Tags").
class Term {
 public:
  constexpr Term() = default;
  static constexpr Term from_raw(Word w) {
    Term t;
    t.w_ = w;
    return t;
  }
  constexpr Word raw() const { return w_; }
  constexpr bool operator==(const Term& o) const = default;     // identity of the word, not Erlang equality
  constexpr explicit operator bool() const { return w_ != 0; }  // false for the non-value
  constexpr bool is_value() const { return w_ != 0; }

  // Primary tags.
  static constexpr Word kPrimaryMask = 3, kHeaderTag = 0, kListTag = 1, kBoxedTag = 2, kImmedTag = 3;
  constexpr Word primary() const { return w_ & kPrimaryMask; }
  constexpr bool is_header() const { return primary() == kHeaderTag; }
  constexpr bool is_list() const { return primary() == kListTag; }  // a cons cell; [] is is_nil()
  constexpr bool is_boxed() const { return primary() == kBoxedTag; }
  constexpr bool is_immed() const { return primary() == kImmedTag; }
  constexpr bool is_cons_or_nil() const { return is_list() || is_nil(); }

  // Small integers.
  static constexpr int kSmallBits = 60;
  static constexpr SWord kSmallMax = (SWord{1} << 59) - 1, kSmallMin = -(SWord{1} << 59);
  static constexpr Word kSmallTag = 0xF;
  static constexpr bool fits_small(SWord v) { return v >= kSmallMin && v <= kSmallMax; }
  static constexpr Term small(SWord v) { return from_raw(static_cast<Word>(v) << 4 | kSmallTag); }
  constexpr bool is_small() const { return (w_ & 0xF) == kSmallTag; }
  constexpr SWord small_value() const { return static_cast<SWord>(w_) >> 4; }

  // Atoms, nil, catches.
  static constexpr Word kAtomTag = 0x0B, kCatchTag = 0x1B, kNilTag = 0x3B;
  static constexpr Term atom(std::uint32_t index) { return from_raw(Word{index} << 6 | kAtomTag); }
  constexpr bool is_atom() const { return (w_ & 0x3F) == kAtomTag; }
  constexpr std::uint32_t atom_index() const { return static_cast<std::uint32_t>(w_ >> 6); }
  static constexpr Term nil() { return from_raw(kNilTag); }
  constexpr bool is_nil() const { return w_ == kNilTag; }
  static Term catch_at(const void* code) { return from_raw(reinterpret_cast<Word>(code) << 6 | kCatchTag); }
  constexpr bool is_catch() const { return (w_ & 0x3F) == kCatchTag; }
  const void* catch_address() const { return reinterpret_cast<const void*>(w_ >> 6); }

  // Local pids and ports. `number` is the whole identity.
  static constexpr Word kPidTag = 0x3, kPortTag = 0x7;
  static constexpr Term pid(Word number) { return from_raw(number << 4 | kPidTag); }
  static constexpr Term port(Word number) { return from_raw(number << 4 | kPortTag); }
  constexpr bool is_local_pid() const { return (w_ & 0xF) == kPidTag; }
  constexpr bool is_local_port() const { return (w_ & 0xF) == kPortTag; }
  constexpr Word id_number() const { return w_ >> 4; }

  // Pointers.
  static Term list(const Term* cell) { return from_raw(reinterpret_cast<Word>(cell) | kListTag); }
  static Term boxed(const Term* object) { return from_raw(reinterpret_cast<Word>(object) | kBoxedTag); }
  Term* list_ptr() const {
    assert(is_list());
    return reinterpret_cast<Term*>(w_ - kListTag);
  }
  Term* boxed_ptr() const {
    assert(is_boxed());
    return reinterpret_cast<Term*>(w_ - kBoxedTag);
  }
  Term* ptr() const { return reinterpret_cast<Term*>(w_ & ~kPrimaryMask); }  // list or boxed
  Term head() const { return list_ptr()[0]; }
  Term tail() const { return list_ptr()[1]; }

  // Headers. The four bits above the primary tag say what the object is.
  enum class Sub : Word {
    kTuple = 0,
    kMagicRef = 1,
    kPosBig = 2,
    kNegBig = 3,
    kRef = 4,
    kFun = 5,
    kFloat = 6,
    kMatchContext = 7,
    kRefcBinary = 8,
    kHeapBinary = 9,
    kSubBinary = 10,
    kMap = 11,
    kExternalPid = 12,
    kExternalPort = 13,
    kExternalRef = 14,
    kRecord = 15,
  };
  static constexpr Term header(Sub sub, Word arity) {
    return from_raw(arity << 6 | static_cast<Word>(sub) << 2);
  }
  constexpr Sub header_sub() const { return static_cast<Sub>(w_ >> 2 & 0xF); }
  constexpr Word header_arity() const { return w_ >> 6; }  // words after the header (maps: see layout.hpp)

  bool is_boxed_sub(Sub sub) const { return is_boxed() && boxed_ptr()->header_sub() == sub; }
  bool is_tuple() const { return is_boxed_sub(Sub::kTuple); }
  bool is_big() const { return is_boxed() && (boxed_ptr()->w_ >> 3 & 7) == 1; }
  bool is_integer() const { return is_small() || is_big(); }
  bool is_float() const { return is_boxed_sub(Sub::kFloat); }
  bool is_number() const { return is_integer() || is_float(); }
  bool is_map() const { return is_boxed_sub(Sub::kMap); }
  bool is_fun() const { return is_boxed_sub(Sub::kFun); }
  bool is_native_record() const { return is_boxed_sub(Sub::kRecord); }
  bool is_ref() const { return is_local_ref() || is_boxed_sub(Sub::kExternalRef); }
  bool is_local_ref() const { return is_boxed_sub(Sub::kRef) || is_boxed_sub(Sub::kMagicRef); }
  bool is_pid() const { return is_local_pid() || is_boxed_sub(Sub::kExternalPid); }
  bool is_port() const { return is_local_port() || is_boxed_sub(Sub::kExternalPort); }
  /// Whether it is any bit string: heap, reference-counted, sub-binary, or a match context, which
  /// stands for the rest of its binary.
  bool is_bitstring() const {
    if (!is_boxed()) return false;
    const Word s = static_cast<Word>(boxed_ptr()->header_sub());
    return s >= 7 && s <= 10;
  }

  // Tuples.
  Word tuple_arity() const {
    assert(is_tuple());
    return boxed_ptr()->header_arity();
  }
  Term* tuple_elements() const {
    assert(is_tuple());
    return boxed_ptr() + 1;
  }                                                           // zero-based
  Term element(Word i) const { return tuple_elements()[i]; }  // zero-based

 private:
  Word w_ = 0;
};
static_assert(sizeof(Term) == 8);
static_assert(Term::nil().raw() == 0x3B && Term::small(-1).small_value() == -1);

inline constexpr Term kNonValue{};

/// Builds a cons cell in two words at `hp`, which moves on. Never collects.
inline Term make_cons(Term*& hp, Term head, Term tail) {
  hp[0] = head;
  hp[1] = tail;
  hp += 2;
  return Term::list(hp - 2);
}

/// Builds a tuple of n ≥ 1 elements in n + 1 words at `hp`.
template <class... T>
inline Term make_tuple(Term*& hp, T... elements) {
  static_assert(sizeof...(T) >= 1);
  Term* object = hp;
  *hp++ = Term::header(Term::Sub::kTuple, sizeof...(T));
  ((*hp++ = elements), ...);
  return Term::boxed(object);
}

}  // namespace vmrun
