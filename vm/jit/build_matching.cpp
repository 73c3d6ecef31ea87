// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "vm/jit/builder.hpp"
#include "vm/jit/callees.hpp"
#include "vm/term/bits_fields.hpp"

/// Matching of bit strings. The fields of the context that was used last are values; its position
/// is stored before anything may see it: another instruction, an exit, a failure.
namespace vmrun::jit {

using op::Family;

namespace {

enum : Word { kOriginalField = 1, kBaseField, kPositionField, kSizeField };  // of a match context

constexpr std::uint16_t kOfBits = Type::kBits;
constexpr Word kHeapOrRefcMask = 0x3B;  // heap and refc binaries differ in one bit of their headers
constexpr std::int32_t kSubBinaryHeader =
    static_cast<std::int32_t>(Term::header(Term::Sub::kSubBinary, 4).raw());
constexpr Word kFarAhead = 1 << 24;

Type field_type(Word bits, bool is_signed) {
  const SWord range = SWord{1} << (bits - is_signed);
  return Type::small(is_signed ? -range : 0, range - 1);
}
bool is_power_of_two(Word unit) { return std::has_single_bit(unit); }

/// The bits of constant size that a part takes; kNone: it takes others, or it does not match.
Word bits_taken(const Part& p, std::span<const Operand> o) {
  switch (p.family) {
    case Family::bs_get_byte: return 8;
    case Family::bs_get_integer_small:
    case Family::bs_get_integer_other: return o[2].value;
    case Family::bs_skip:
    case Family::bs_match_word:
    case Family::bs_match_string: return o[1].value;
    case Family::bs_ensure:
    case Family::bs_get_position: return 0;
    default: return kNone;
  }
}

}  // namespace

Matching common(const Matching& a, const Matching& b) {
  Matching m;
  if (a.context != b.context || a.context == kNone) return m;
  const auto same = [](ValueId v, ValueId w) { return v == w ? v : kNone; };
  const auto both = [&](const Place& v, const Place& w) {
    Place place = v;
    place.is_aligned &= w.is_aligned;
    place.there = std::min(v.there, w.there);
    place.bytes = same(v.bytes, w.bytes);
    return place;
  };
  m.context = a.context;
  m.base = same(a.base, b.base);
  m.size = same(a.size, b.size);
  m.is_of_bytes = a.is_of_bytes && b.is_of_bytes;
  if (a.now.lies_at(b.now) && a.stored.lies_at(b.stored)) {
    m.now = both(a.now, b.now);
    m.stored = a.stored;
  }
  for (const auto& [v, place] : a.marks)
    for (const auto& [w, other] : b.marks)
      if (v == w && place.lies_at(other)) m.marks.emplace_back(v, both(place, other));
  return m;
}

// ---- Positions ----------------------------------------------------------------------------------

void Builder::match_in(ValueId context) {
  Matching& m = state_.matching;
  if (m.context != context) {
    if (m.context != kNone) store_position();
    m = {};
    m.context = context;
  }
  const Type raw = Type::of(kRaw);
  if (m.base == kNone) m.base = load(context, kBoxedTag, kBaseField, raw);
  if (m.size == kNone) m.size = load(context, kBoxedTag, kSizeField, raw);
  if (m.now.from == kNone) {
    m.now = {};
    m.now.from = load(context, kBoxedTag, kPositionField, raw);
    m.stored = m.now;
  }
}

void Builder::settle_position(const Part& p) {
  if (block_ == kNone || state_.matching.context == kNone) return;
  const bool takes = bits_taken(p, code_.operands(p)) != kNone || p.family == Family::bs_set_position;
  const bool others_lead_here =
      incoming_.contains(p.at) || returns_to_.contains(p.at) || resumes_at_.contains(p.at);
  if (!takes || (p.begins && others_lead_here)) store_position();
}

void Builder::store_position() {
  Matching& m = state_.matching;
  if (m.now.from == kNone || m.now.lies_at(m.stored)) return;
  act(Op::kStoreWord, {m.context, position(m.now.ahead)}, kPositionField * sizeof(Word) - kBoxedTag);
  m.stored = m.now;
}

void Builder::position_is_unknown() { state_.matching.now = {}; }

ValueId Builder::position(Word ahead) {
  Matching& m = state_.matching;
  if (ahead == 0) return m.now.from;
  if (m.sum_from == m.now.from && m.sum_ahead == ahead) return m.sum;
  m.sum_from = m.now.from;
  m.sum_ahead = ahead;
  return m.sum = word_of(Op::kOffset, {m.now.from}, ahead);
}

void Builder::advance(Word bits) {
  Place& now = state_.matching.now;
  now.there -= std::min(bits, now.there);
  now.ahead += bits;
  if (now.ahead < kFarAhead) return;
  const bool is_aligned = now.is_aligned && now.ahead % 8 == 0;
  now = {position(now.ahead), 0, is_aligned, now.there, kNone};
}

void Builder::advance_by(ValueId bits, bool by_bytes) {
  Place& now = state_.matching.now;
  const bool is_aligned = now.is_aligned && now.ahead % 8 == 0 && by_bytes;
  now = {word_of(Op::kSum, {position(now.ahead), bits}), 0, is_aligned, 0, kNone};
}

ValueId Builder::bits_left() {
  const Matching& m = state_.matching;
  return word_of(Op::kDifference, {m.size, position(m.now.ahead)});
}

void Builder::require_bits(Word bits, const Word* fail) {
  Matching& m = state_.matching;
  if (m.now.there >= bits) return;
  store_position();
  const ValueId end = position(m.now.ahead + bits);
  require(Condition::kAtLeast, {m.size, end}, 0, [&] { go_to(fail); });
  state_.matching.now.there = bits;
}

bool Builder::suggests_aligned(std::size_t n) const {
  Word all = state_.matching.now.ahead;
  for (; n < code_.parts().size(); ++n) {
    const Part& p = code_.parts()[n];
    const Word bits = bits_taken(p, code_.operands(p));
    if (bits == kNone) break;
    all += bits;
  }
  return all % 8 == 0;
}

/// Whether a field is not followed by others of constant size, so that it pays to take it wherever
/// it begins.
bool Builder::is_alone(std::size_t n) const {
  while (++n < code_.parts().size()) {
    const Part& p = code_.parts()[n];
    const Word bits = bits_taken(p, code_.operands(p));
    if (bits) return bits == kNone;
  }
  return true;
}

/// What is matched is taken for whole bytes that begin with one, if it can be. Others are left to
/// the interpreter.
bool Builder::require_aligned(const Part& p) {
  Matching& m = state_.matching;
  if (m.now.is_aligned) return true;
  if (!suggests_aligned(static_cast<std::size_t>(&p - code_.parts().data()))) return false;
  store_position();
  require(
      Condition::kBitsClear, {m.now.from}, 7, [&] { leave(); }, true);
  note_alignment();
  return true;
}

void Builder::note_alignment() {
  Matching& m = state_.matching;
  m.now.is_aligned = true;
  for (auto& [v, place] : m.marks) place.is_aligned |= place.from == m.now.from;
}

// ---- Fields -------------------------------------------------------------------------------------

ValueId Builder::load_bytes(Word at, unsigned count, bool swaps) {
  Matching& m = state_.matching;
  if (m.now.bytes == kNone) {
    m.now.bytes = word_of(Op::kBytesAt, {m.base, m.now.from});
    for (auto& [v, place] : m.marks)
      if (place.from == m.now.from) place.bytes = m.now.bytes;
  }
  const Field f{static_cast<std::int32_t>(at), static_cast<std::uint8_t>(count), swaps};
  return word_of(Op::kLoadBytes, {m.now.bytes}, f.imm());
}

/// Up to eight bytes, in the low part of a word. There may be more of them, behind the least
/// significant one, if that is easier. No others are read: two loads overlap, where they say the
/// same.
ValueId Builder::bytes_ahead(Word at, unsigned* count, bool swaps) {
  const Place& now = state_.matching.now;
  const unsigned more = std::bit_ceil(*count);
  if (swaps && now.there + (now.ahead & 7) >= more * 8) *count = more;
  if (more == *count) return load_bytes(at, more, swaps);
  const unsigned half = more / 2, distance = *count - half;
  const ValueId first = load_bytes(at, half, swaps), last = load_bytes(at + distance, half, swaps);
  return swaps ? word_of(Op::kJoin, {first, last}, distance * 8)
               : word_of(Op::kJoin, {last, first}, distance * 8);
}

/// Up to 56 bits, which are there, wherever they begin, as the topmost ones of a word.
ValueId Builder::bits_on_top(Word bits) {
  const Matching& m = state_.matching;
  const ValueId at = position(m.now.ahead);
  if (m.now.there >= 64) return word_of(Op::kBitsAt, {m.base, at});
  branch(Condition::kAtLeast, {m.size, word_of(Op::kOffset, {at}, 64)}, 0);
  const BlockId few = block().otherwise;
  const State before = state_;
  block_ = block().to;
  const ValueId read = word_of(Op::kBitsAt, {m.base, at});
  std::vector<Incoming> edges{{block_, before}};
  block_ = few;
  const ValueId made = invoke(callees::top_bits, {m.base, at, number(bits)});
  edges.push_back({block_, before});
  return join(edges, {read, made});
}

/// A field in the lowest bytes of a word, from one of their bits on, the topmost one being 0.
ValueId Builder::tagged_field(ValueId word, unsigned bytes, Word bit, Word bits, bool is_signed) {
  Word left = 64 - 8 * bytes + bit, right = 60 - bits;
  if (!is_signed && bit == 0) {  // there are zeros above it
    const Word both = std::min(left, right);
    left -= both;
    right -= both;
  }
  const Shift by{static_cast<std::uint8_t>(left), static_cast<std::uint8_t>(right), is_signed, true};
  return emit(Op::kShift, field_type(bits, is_signed), {word}, by.imm());
}

/// Whole bytes, the most significant one first.
ValueId Builder::bytes_anywhere(Word bits, bool is_signed) {
  const ValueId at = position(state_.matching.now.ahead);
  branch(Condition::kBitsClear, {at}, 7);
  const BlockId within = block().otherwise;
  const State before = state_;
  block_ = block().to;
  state_.matching.now = {at, 0, true, before.matching.now.there, kNone};
  auto count = static_cast<unsigned>(bits / 8);
  const ValueId word = bytes_ahead(0, &count, true);
  std::vector<ValueId> values{tagged_field(word, count, 0, bits, is_signed)};
  std::vector<Incoming> edges{{block_, before}};
  block_ = within;
  block().rare = true;
  state_ = before;
  const Shift down{0, static_cast<std::uint8_t>(60 - bits), is_signed, true};
  values.push_back(emit(Op::kShift, field_type(bits, is_signed), {bits_on_top(bits)}, down.imm()));
  edges.push_back({block_, before});
  return join(edges, values);
}

ValueId Builder::small_field(const Part& p, Word bits, bool is_signed, bool is_little) {
  const Matching& m = state_.matching;
  const bool is_bytes = bits % 8 == 0 && bits <= 56 && (!is_little || bits == 8);
  if (!m.now.is_aligned && is_bytes && is_alone(static_cast<std::size_t>(&p - code_.parts().data())))
    return bytes_anywhere(bits, is_signed);
  if (require_aligned(p)) {
    const Word bit = m.now.ahead & 7;
    auto count = static_cast<unsigned>((bit + bits + 7) / 8);
    const bool is_odd = is_little && (bit || bits % 8);
    if (count <= 8 && !is_odd) {
      const ValueId word = bytes_ahead(m.now.ahead / 8, &count, !is_little);
      return tagged_field(word, count, bit, bits, is_signed);
    }
  }
  if (bits <= 56 && !is_little) {
    const Shift down{0, static_cast<std::uint8_t>(60 - bits), is_signed, true};
    return emit(Op::kShift, field_type(bits, is_signed), {bits_on_top(bits)}, down.imm());
  }
  store_position();
  const Word flags = (is_signed ? kBitsSigned : 0) | (is_little ? kBitsLittle : 0);
  const ValueId made =
      invoke(callees::get_field, {m.context, number(bits | flags << 16)}, field_type(bits, is_signed));
  state_.matching.stored.from = kNone;  // it is elsewhere now
  return made;
}

void Builder::get_field(const Part& p, Word bits, Word flags) {
  const auto o = code_.operands(p);
  match_in(get(o[0]));
  require_bits(bits, o.back().target());
  const ValueId v = small_field(p, bits, flags & kBitsSigned, flags & kBitsLittle);
  if (block_ == kNone) return;
  advance(bits);
  set(o[1], v);
}

/// Compares bytes, which are there. No others are read.
void Builder::match_bytes(const std::uint8_t* bytes, Word count, const Word* fail) {
  const Word most = std::bit_floor(std::min<Word>(count, 8)), at = state_.matching.now.ahead / 8;
  for (Word done = 0; done < count;) {
    const Word from = std::min(done, count - most);
    Word expected = 0;
    std::memcpy(&expected, bytes + from, most);
    const ValueId word = load_bytes(at + from, static_cast<unsigned>(most), false);
    require(Condition::kSame, {word}, expected, [&] { go_to(fail); });
    done = from + most;
  }
}

void Builder::match_word(const Part& p) {
  const auto o = code_.operands(p);
  const Word bits = o[1].value, value = o[2].value;
  const Word* const fail = o[3].target();
  match_in(get(o[0]));
  require_bits(bits, fail);
  store_position();
  if (require_aligned(p) && state_.matching.now.ahead % 8 == 0 && bits % 8 == 0) {
    const Word in_order = __builtin_bswap64(value);
    std::uint8_t bytes[sizeof in_order];
    std::memcpy(bytes, &in_order, sizeof bytes);
    match_bytes(bytes, bits / 8, fail);
  } else {
    const ValueId v = small_field(p, bits, false, false);
    const Term expected = Term::small(static_cast<SWord>(value >> (64 - bits)));
    require(Condition::kSame, {v}, expected.raw(), [&] { go_to(fail); });
  }
  advance(bits);
}

void Builder::match_string(const Part& p) {
  const auto o = code_.operands(p);
  const Word bits = o[1].value;
  const Word* const fail = o[3].target();
  match_in(get(o[0]));
  if (bits == 0) return;
  require_bits(bits, fail);
  store_position();
  const Matching& m = state_.matching;
  constexpr Word kMostHere = 256;
  if (require_aligned(p) && m.now.ahead % 8 == 0 && bits % 8 == 0 && bits <= kMostHere) {
    match_bytes(reinterpret_cast<const std::uint8_t*>(o[2].value), bits / 8, fail);
  } else {
    const ValueId same =
        invoke(callees::same_bits, {m.base, position(m.now.ahead), number(o[2].value), number(bits)});
    require(Condition::kDiffers, {same}, 0, [&] { go_to(fail); });
  }
  advance(bits);
}

// ---- Where matches begin ------------------------------------------------------------------------

void Builder::start_match(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]);
  const auto otherwise = [&] { fail_to(o[4]); };
  if (v == state_.matching.context) return set(o[1], v);
  if (!type(v).may_be(kOfBits)) return otherwise();
  if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, otherwise);
  exclude(v, Type::kAny & ~Type::kBoxed);
  branch(Condition::kHeaderIs, {v}, Term::header(Term::Sub::kMatchContext, 4).raw());
  const BlockId other = block().otherwise;
  std::vector<Incoming> edges{{block().to, state_}};
  block_ = other;
  if (!type(v).is(kOfBits)) require(Condition::kIsBitString, {v}, 0, otherwise);
  need(o[3].value);
  const ValueId made = invoke(callees::start_match, {v}, Type::of(kOfBits));
  edges.push_back({block_, state_});
  const ValueId context = join(edges, {v, made});
  g_.types[context] = Type::of(kOfBits);  // also where `v` was not known to be one
  set(o[1], context);
}

// ---- What is left -------------------------------------------------------------------------------

void Builder::test_units_behind(Word bits, Word unit, const Word* fail) {
  const Matching& m = state_.matching;
  if (unit == 1) return;
  store_position();
  const auto otherwise = [&] { go_to(fail); };
  if (unit == 8 && m.now.is_aligned && (m.now.ahead + bits) % 8 == 0) {
    if (m.is_of_bytes) return;
    require(Condition::kBitsClear, {m.size}, 7, otherwise);
    state_.matching.is_of_bytes = true;
    return;
  }
  const ValueId left = word_of(Op::kDifference, {m.size, position(m.now.ahead + bits)});
  if (is_power_of_two(unit)) return require(Condition::kBitsClear, {left}, unit - 1, otherwise);
  const ValueId rest = invoke(callees::remainder, {left, number(unit)});
  require(Condition::kSame, {rest}, 0, otherwise);
}

void Builder::test_tail(const Part& p) {
  const auto o = code_.operands(p);
  const Word bits = o[1].value;
  match_in(get(o[0]));
  store_position();
  Matching& m = state_.matching;
  if (m.now.there > bits) return go_to(o[2].target());
  require(Condition::kSame, {m.size, position(m.now.ahead + bits)}, 0, [&] { go_to(o[2].target()); });
  state_.matching.now.there = bits;
}

void Builder::ensure(const Part& p) {
  const auto o = code_.operands(p);
  match_in(get(o[0]));
  require_bits(o[1].value, o[3].target());
  test_units_behind(o[1].value, o[2].value, o[3].target());
}

/// A size as a word of so many bits, which are there.
ValueId Builder::bits_of_size(ValueId size, Word unit, const Word* fail) {
  const auto otherwise = [&] { go_to(fail); };
  if (!type(size).is(Type::kSmall)) {
    if (!type(size).may_be(Type::kSmall)) return otherwise(), kNone;
    require(Condition::kIsSmall, {size}, 0, otherwise);
    narrow(size, Type::of(std::uint16_t{Type::kSmall}));
  }
  if (type(size).low < 0) require(Condition::kAtLeast, {size}, Term::small(0).raw(), otherwise);
  ValueId bits = untagged(size);
  if (unit == 8) bits = word_of(Op::kJoin, {bits, number(0)}, 3);
  require(Condition::kAtLeast, {bits_left(), bits}, 0, otherwise);
  return bits;
}

/// The bits of a size that is a constant; kNone: it is not, or it is too large for here.
Word Builder::constant_bits(ValueId size, Word unit) const {
  if (!g_.is_const(size)) return kNone;
  const Term t = Term::from_raw(g_.imms[size]);
  if (!t.is_small() || t.small_value() < 0 || t.small_value() > static_cast<SWord>(kFarAhead)) return kNone;
  const Word bits = static_cast<Word>(t.small_value()) * unit;
  return bits < kFarAhead ? bits : kNone;
}

void Builder::get_part(const Part& p) {
  const auto o = code_.operands(p);
  const Word* const fail = o[6].target();
  const Word unit = o[3].value;
  const ValueId context = get(o[0]), size = get(o[2]);
  const Word constant = constant_bits(size, unit);
  if (constant == kNone && unit != 1 && unit != 8) return leave();
  match_in(context);
  store_position();
  need(o[5].value);
  if (constant != kNone) require_bits(constant, fail);
  const ValueId bits = constant != kNone ? number(constant) : bits_of_size(size, unit, fail);
  if (block_ == kNone) return;
  const ValueId part = invoke(callees::extract, {context, bits}, Type::of(kOfBits));
  if (constant != kNone) advance(constant);
  else advance_by(bits, unit == 8);
  set(o[1], part);
}

void Builder::get_rest(const Part& p) {
  const auto o = code_.operands(p);
  const bool advances = p.family == Family::bs_get_all;
  const ValueId context = get(o[0]);
  match_in(context);
  store_position();
  need(o[advances ? 4 : 3].value);
  if (advances) test_units_behind(0, o[2].value + 1, o[5].target());
  const ValueId part = invoke(callees::extract, {context, bits_left()}, Type::of(kOfBits));
  Matching& m = state_.matching;
  if (advances) m.now = {m.size, 0, m.is_of_bytes, 0, kNone};
  set(o[1], part);
}

void Builder::skip(const Part& p) {
  const auto o = code_.operands(p);
  match_in(get(o[0]));
  if (p.family == Family::bs_skip) {
    require_bits(o[1].value, o[2].target());
    return advance(o[1].value);
  }
  const Word unit = o[2].value;
  if (unit != 1 && unit != 8) return leave();
  store_position();
  const ValueId bits = bits_of_size(get(o[1]), unit, o[3].target());
  if (block_ != kNone) advance_by(bits, unit == 8);
}

// ---- Larger and other fields --------------------------------------------------------------------

void Builder::get_integer(const Part& p) {
  const auto o = code_.operands(p);
  const Word* const fail = o[6].target();
  const Word flags = o[4].value;
  const ValueId context = get(o[0]), size = get(o[2]);
  match_in(context);
  store_position();
  std::vector<Incoming> edges;
  std::vector<ValueId> values;
  const bool is_word = constant_bits(size, o[3].value) == 64;
  if (is_word) require_bits(64, fail);
  const Place before = state_.matching.now;
  if (is_word && !(flags & kBitsSigned) && before.ahead % 8 == 0 && require_aligned(p)) {
    // Most of them are small.
    unsigned count = 8;
    const ValueId word = bytes_ahead(before.ahead / 8, &count, !(flags & kBitsLittle));
    branch(Condition::kSame, {word_of(Op::kShift, {word}, Shift{0, 59, false, false}.imm())}, 0);
    const BlockId large = block().otherwise;
    const State kept = state_;
    block_ = block().to;
    values.push_back(emit(Op::kShift, field_type(59, false), {word}, Shift{4, 0, false, true}.imm()));
    advance(64);
    store_position();
    edges.push_back({block_, kept});  // what is known on both ways
    block_ = large;
    state_ = kept;
  }
  const ValueId made = invoke(callees::get_integer, {context, size, number(o[3].value | flags << 16)},
                              Type::of(std::uint16_t{Type::kSmall | Type::kBig}));
  position_is_unknown();
  require(
      Condition::kDiffers, {made}, kLeave, [&] { leave_as_asked(); }, true);
  if (!is_word) require(Condition::kDiffers, {made}, 0, [&] { go_to(fail); });
  values.push_back(made);
  edges.push_back({block_, state_});
  const ValueId result = join(edges, values);
  position_is_unknown();
  set(o[1], result);
}

void Builder::get_float(const Part& p) {
  const auto o = code_.operands(p);
  const Word* const fail = o[7].target();
  const Word flags = o[4].value;
  const ValueId context = get(o[0]), size = get(o[2]);
  match_in(context);
  store_position();
  need(o[6].value);
  const Type type = Type::of(std::uint16_t{Type::kFloat});
  if (constant_bits(size, o[3].value) == 64) {
    require_bits(64, fail);
    if (state_.matching.now.ahead % 8 == 0 && require_aligned(p)) {
      unsigned count = 8;
      const ValueId word = bytes_ahead(state_.matching.now.ahead / 8, &count, !(flags & kBitsLittle));
      constexpr Word kNotFinite = 0x7FF;
      const ValueId exponent = word_of(Op::kShift, {word}, Shift{1, 53, false, false}.imm());
      require(Condition::kDiffers, {exponent}, kNotFinite, [&] { go_to(fail); });
      advance(64);
      return set(o[1], emit(Op::kPutTuple, type, {word}, Term::header(Term::Sub::kFloat, 1).raw()));
    }
  }
  const ValueId made = invoke(callees::get_float, {context, size, number(o[3].value | flags << 16)}, type);
  position_is_unknown();
  require(Condition::kDiffers, {made}, 0, [&] { go_to(fail); });
  set(o[1], made);
}

/// A character of one byte is taken here.
void Builder::get_utf8(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId context = get(o[0]);
  match_in(context);
  store_position();
  Matching& m = state_.matching;
  const bool was_aligned = m.now.is_aligned && m.now.ahead % 8 == 0;
  const Matching before = m;
  std::vector<Incoming> others, edges;
  const auto otherwise = [&] {
    others.push_back({block_, state_});
    block_ = kNone;
  };
  const ValueId end = position(m.now.ahead + 8);
  if (m.now.there < 8) require(Condition::kAtLeast, {m.size, end}, 0, otherwise, true);
  if (!was_aligned) {
    require(Condition::kBitsClear, {position(m.now.ahead)}, 7, otherwise, true);
    m.now = {position(m.now.ahead), 0, true, 0, kNone};
  }
  const ValueId byte = load_bytes(m.now.ahead / 8, 1, false);
  require(Condition::kBitsClear, {byte}, 0x80, otherwise);
  const Type type = Type::small(0, 0x10FFFF);
  const ValueId ascii = emit(Op::kShift, type, {byte}, Shift{4, 0, false, true}.imm());
  const auto position_at = kPositionField * sizeof(Word) - kBoxedTag;
  act(Op::kStoreWord, {context, end}, position_at);
  edges.push_back({block_, state_});
  join(others);
  const ValueId other = invoke(callees::get_utf8, {context}, type);
  require(Condition::kDiffers, {other}, 0, [&] { go_to(o[2].target()); });
  const ValueId behind = load(context, kBoxedTag, kPositionField, Type::of(kRaw));
  edges.push_back({block_, state_});
  const ValueId result = join(edges, {ascii, other});
  const ValueId now = g_.value(Op::kParam, Type::of(kRaw), kNone);
  block().params.push_back(now);
  g_.blocks[edges[0].block].args.push_back(end);
  g_.blocks[edges[1].block].args.push_back(behind);
  m = before;  // what is known on both ways
  m.now = m.stored = {now, 0, was_aligned, 0, kNone};
  set(o[1], result);
}

void Builder::get_character(const Part& p, const Callee& callee) {
  const auto o = code_.operands(p);
  const ValueId context = get(o[0]);
  match_in(context);
  store_position();
  const ValueId v = invoke(callee, {context, number(o[2].value)}, Type::small(0, 0x10FFFF));
  position_is_unknown();
  require(Condition::kDiffers, {v}, 0, [&] { go_to(o[3].target()); });
  set(o[1], v);
}

void Builder::get_position(const Part& p) {
  const auto o = code_.operands(p);
  match_in(get(o[0]));
  Matching& m = state_.matching;
  const ValueId v =
      emit(Op::kShift, Type::small(0, Type::kMost), {position(m.now.ahead)}, Shift{4, 0, false, true}.imm());
  m.marks.emplace_back(v, m.now);
  set(o[1], v);
}

void Builder::set_position(const Part& p) {
  const auto o = code_.operands(p);
  match_in(get(o[0]));
  const ValueId v = get(o[1]);
  Matching& m = state_.matching;
  for (const auto& [mark, place] : m.marks)
    if (mark == v) {
      m.now = place;
      return;
    }
  m.now = {untagged(v), 0, false, 0, kNone};
}

// ---- Guards -------------------------------------------------------------------------------------

/// Goes on where a bit string has whole bytes, of which the word behind its header says how many.
/// Match contexts, and what has other bits as well, are asked by the function; they have an edge of
/// their own then.
template <class Ask>
void Builder::look_at_bits(ValueId v, std::vector<Incoming>* edges, const Operand& fail, Ask ask) {
  const auto otherwise = [&] { fail_to(fail); };
  const bool is_rare = !fail.value;
  if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, otherwise, is_rare);
  std::vector<Incoming> simple;
  const auto aside_if = [&](Condition c, Word imm) {
    branch(c, {v}, imm);
    simple.push_back({block().to, state_});
    block_ = block().otherwise;
  };
  aside_if(Condition::kHeaderMasked, masked(kHeapOrRefcMask, sub_header(Term::Sub::kRefcBinary)));
  if (!type(v).is(kOfBits)) require(Condition::kIsBitString, {v}, 0, otherwise, is_rare);
  std::vector<Incoming> odd;
  constexpr Look kHeader{-static_cast<std::int32_t>(kBoxedTag), kSubBinaryHeader};
  require(Condition::kWordIs, {v}, kHeader.imm(), [&] { odd.push_back({block_, state_}); });
  constexpr Look kBits{3 * sizeof(Word) - kBoxedTag, 0xFF};
  require(Condition::kWordHas, {v}, kBits.imm(), [&] { simple.push_back({block_, state_}); });
  odd.push_back({block_, state_});
  join(odd);
  block().rare = true;
  ask();
  if (block_ != kNone) edges->push_back({block_, state_});
  join(simple);
}

void Builder::size_of_bits(ValueId v, const Operand& dst, const Operand& fail, const Callee& callee,
                           unsigned shift) {
  if (!type(v).may_be(kOfBits)) return fail_to(fail);
  std::vector<Incoming> edges;
  std::vector<ValueId> sizes;
  const Type size = Type::small(0, SWord{1} << 56);
  look_at_bits(v, &edges, fail, [&] { sizes.push_back(invoke(callee, {v}, size)); });
  const ValueId bytes = load(v, kBoxedTag, 1, Type::of(kRaw));
  const Shift by{static_cast<std::uint8_t>(4 + shift), 0, false, true};
  sizes.push_back(emit(Op::kShift, size, {bytes}, by.imm()));
  edges.push_back({block_, state_});
  set(dst, join(edges, sizes));
  narrow(v, Type::of(kOfBits));
}

void Builder::test_binary(ValueId v, const Operand& fail) {
  if (!type(v).may_be(kOfBits)) return fail_to(fail);
  std::vector<Incoming> edges;
  look_at_bits(v, &edges, fail, [&] {
    const ValueId is_so = invoke(callees::is_binary, {v});
    require(Condition::kDiffers, {is_so}, 0, [&] { fail_to(fail); });
  });
  edges.push_back({block_, state_});
  join(edges);
  narrow(v, Type::of(kOfBits));
}

void Builder::test_bitstring(ValueId v, const Operand& fail) {
  if (!type(v).may_be(kOfBits)) return fail_to(fail);
  require_boxed(
      v, kOfBits, Condition::kIsBitString, 0, [&] { fail_to(fail); }, false);
}

void Builder::build_matching(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::bs_start_match: return start_match(p);
    case Family::bs_get_byte: return get_field(p, 8, 0);
    case Family::bs_get_integer_small: return get_field(p, o[2].value, o[3].value ? kBitsSigned : 0);
    case Family::bs_get_integer_other: return get_field(p, o[2].value, o[3].value);
    case Family::bs_get_integer: return get_integer(p);
    case Family::bs_get_float: return get_float(p);
    case Family::bs_get_bits: return get_part(p);
    case Family::bs_get_all:
    case Family::bs_get_tail: return get_rest(p);
    case Family::bs_skip:
    case Family::bs_skip_var: return skip(p);
    case Family::bs_test_tail: return test_tail(p);
    case Family::bs_test_unit: match_in(get(o[0])); return test_units_behind(0, o[1].value, o[2].target());
    case Family::bs_test_unit8: match_in(get(o[0])); return test_units_behind(0, 8, o[1].target());
    case Family::bs_ensure: return ensure(p);
    case Family::bs_match_word: return match_word(p);
    case Family::bs_match_string: return match_string(p);
    case Family::bs_get_position: return get_position(p);
    case Family::bs_set_position: return set_position(p);
    case Family::bs_get_utf8: return get_utf8(p);
    case Family::bs_get_utf16: return get_character(p, callees::get_utf16);
    case Family::bs_get_utf32: return get_character(p, callees::get_utf32);
    case Family::byte_size: return size_of_bits(get(o[0]), o[1], o[2], callees::byte_size, 0);
    case Family::is_binary: return test_binary(get(o[0]), o[1]);
    case Family::is_bitstr: return test_bitstring(get(o[0]), o[1]);
    default: return build_construction(p);
  }
}

}  // namespace vmrun::jit
