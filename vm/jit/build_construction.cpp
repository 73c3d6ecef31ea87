// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>

#include "vm/code/construction.hpp"
#include "vm/jit/builder.hpp"
#include "vm/jit/callees.hpp"
#include "vm/term/bits_fields.hpp"
#include "vm/term/layout.hpp"

/// Construction of bit strings, by segments (vm/code/construction.hpp). Whatever is not as expected
/// leads to the instruction that builds all of it.
namespace vmrun::jit {

using op::Family;

namespace {

constexpr std::uint16_t kOfBits = Type::kBits;
enum : Word { kSizeField = 1, kOffsetField, kDetailsField, kOriginalField };             // of a sub-binary
enum : Word { kRefcSizeField = 1, kBinaryField = 3, kBytesField = 4, kFlagsField = 5 };  // of a refc binary
constexpr Word kSubBinary = Term::header(Term::Sub::kSubBinary, 4).raw();
constexpr Word kRefcBinary =
    Term::header(Term::Sub::kRefcBinary, sizeof(RefcBinary) / sizeof(Word) - 1).raw();

std::uint8_t room_for(Word bits) { return static_cast<std::uint8_t>(std::bit_ceil((bits + 7) / 8)); }

}  // namespace

void Builder::require_or_slow(const Part& p, Condition c, std::initializer_list<ValueId> args, Word imm) {
  const Word* const slow = code_.operands(p).back().target();
  require(
      c, args, imm, [&] { go_to(slow); }, true);
}

void Builder::require_small_or_slow(const Part& p, ValueId v) {
  if (type(v).is(Type::kSmall)) return;
  if (!type(v).may_be(Type::kSmall)) return go_to(code_.operands(p).back().target());
  require_or_slow(p, Condition::kIsSmall, {v});
  narrow(v, Type::of(std::uint16_t{Type::kSmall}));
}

ValueId Builder::out() {
  if (built_.out == kNone) built_.out = word_of(Op::kHeapTop, {}, offsetof(HeapBinary, data));
  return built_.out;
}

void Builder::put(ValueId word, Field f) {
  if (g_.is_const(word) && f.shift) {
    const Word w = g_.imms[word];
    word = number(f.shift > 0 ? w << f.shift : static_cast<Word>(static_cast<SWord>(w) >> -f.shift));
  }
  if (built_.out != kNone) return act(Op::kStoreBytes, {word, built_.out}, f.imm());
  f.displacement += offsetof(HeapBinary, data);
  act(Op::kStoreBytes, {word}, f.imm());
}

/// A small integer, as so many whole bytes, the most significant one first. More bytes are written
/// if that is easier.
void Builder::put_number(const Part& p, ValueId v, Word at, Word bits) {
  require_small_or_slow(p, v);
  if (block_ == kNone) return;
  const std::uint8_t bytes = room_for(bits);
  const Word behind = 8 * bytes - bits;
  put(v,
      {static_cast<std::int32_t>(at), bytes, true, static_cast<std::int8_t>(static_cast<int>(behind) - 4)});
}

/// A small integer's low bits, behind those of another word if there is one.
ValueId Builder::add_bits(ValueId before, ValueId small, Word bits) {
  const auto above = static_cast<std::uint8_t>(64 - bits);
  const ValueId piece = above >= 4
                            ? word_of(Op::kShift, {small},
                                      Shift{static_cast<std::uint8_t>(above - 4), above, false, false}.imm())
                            : word_of(Op::kShift, {untagged(small)}, Shift{above, above, false, false}.imm());
  return before == kNone ? piece : word_of(Op::kJoin, {before, piece}, bits);
}

void Builder::put_piece(const Part& p, bool is_last) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]);
  const Word bits = o[is_last ? 2 : 1].value;
  require_small_or_slow(p, v);
  if (block_ == kNone) return;
  ValueId& pieces = built_.pieces;
  pieces = add_bits(pieces, v, bits);
  if (!is_last) return;
  const Word all = 64 - o[3].value;
  Field f{static_cast<std::int32_t>(o[1].value), room_for(all), true};
  f.shift = static_cast<std::int8_t>(8 * f.bytes - all);
  put(pieces, f);
  pieces = kNone;
}

void Builder::put_float(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]);
  if (!type(v).may_be(Type::kFloat)) return go_to(o[2].target());
  if (!type(v).is(Type::kBoxed)) require_or_slow(p, Condition::kIsBoxed, {v});
  if (!type(v).is(Type::kFloat))
    require_or_slow(p, Condition::kHeaderIs, {v}, Term::header(Term::Sub::kFloat, 1).raw());
  put(load(v, kBoxedTag, 1, Type::of(kRaw)), {static_cast<std::int32_t>(o[1].value), 8, true});
}

void Builder::put_part(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]), size = get(o[1]);
  const ValueId how = number(o[2].value | o[3].value << 16);
  const ValueId behind = invoke(callees::put_binary, {out(), built_.limit, v, size, how});
  require_or_slow(p, Condition::kDiffers, {behind}, 0);
  built_.out = behind;
}

/// A character of one byte is put here.
void Builder::put_utf8(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]);
  const Word at = o[1].value;
  std::vector<Incoming> others, edges;
  const auto otherwise = [&] {
    others.push_back({block_, state_});
    block_ = kNone;
  };
  const ValueId from = out();
  if (!type(v).is(Type::kSmall)) {
    const ValueId shifted = word_of(Op::kOffset, {v}, -Term::kSmallTag);
    require(Condition::kBitsClear, {shifted}, ~Word{0x7F0}, otherwise);
  } else if (type(v).low < 0 || type(v).high > 127) {
    require(Condition::kBitsClear, {v}, ~Word{0x7FF}, otherwise);
  }
  require(Condition::kLess, {from, built_.limit}, 0, otherwise, true);
  put(v, {static_cast<std::int32_t>(at), 1, false, -4});
  const ValueId behind = word_of(Op::kOffset, {from}, 1);
  edges.push_back({block_, state_});
  join(others);
  const ValueId other = invoke(callees::put_utf8, {from, built_.limit, number(at), v});
  require_or_slow(p, Condition::kDiffers, {other}, 0);
  edges.push_back({block_, state_});
  built_.out = join(edges, {behind, other});
}

/// As begin_append in vm/code/construction.hpp.
void Builder::begin_append(const Part& p) {
  const auto o = code_.operands(p);
  const Type raw = Type::of(kRaw);
  const ValueId v = get(o[0]);
  need(o[2].value);
  if (!type(v).may_be(kOfBits)) return go_to(o[4].target());
  const auto require_word = [&](ValueId in, Word tag, Word field, Word word,
                                Condition c = Condition::kWordIs) {
    const auto at = static_cast<std::int32_t>(field * sizeof(Word) - tag);
    require_or_slow(p, c, {in}, Look{at, static_cast<std::int32_t>(word)}.imm());
  };
  if (!type(v).is(Type::kBoxed)) require_or_slow(p, Condition::kIsBoxed, {v});
  require_word(v, kBoxedTag, 0, kSubBinary);
  require_word(v, kBoxedTag, kDetailsField, kWritableBytes);
  built_ = {};
  const ValueId original = built_.original = load(v, kBoxedTag, kOriginalField);
  require_word(original, kBoxedTag, 0, kRefcBinary);
  require_word(original, kBoxedTag, kFlagsField, RefcBinary::kWritable, Condition::kWordHas);
  const ValueId binary = built_.binary = load(original, kBoxedTag, kBinaryField, raw);
  require_word(binary, 0, offsetof(Binary, references) / sizeof(Word), 1);
  built_.used =
      word_of(Op::kSum, {load(v, kBoxedTag, kOffsetField, raw), load(v, kBoxedTag, kSizeField, raw)});
  built_.begin = built_.out = word_of(Op::kSum, {load(original, kBoxedTag, kBytesField, raw), built_.used});
  const ValueId capacity = load(binary, 0, offsetof(Binary, capacity_bytes) / sizeof(Word), raw);
  built_.limit =
      word_of(Op::kOffset, {word_of(Op::kSum, {binary, capacity})}, offsetof(Binary, data) - o[3].value);
  require_or_slow(p, Condition::kAtLeast, {built_.limit, built_.out});
}

/// As end_append there, and what the instruction does behind it.
void Builder::end_append(const Part& p) {
  const auto o = code_.operands(p);
  const bool is_private = p.family == Family::bs_end_private_append;
  const Word* const over = o[3].target();
  const Word fixed = o[2].value;
  const ValueId v = get(o[0]), original = built_.original;
  const bool is_fixed = built_.out == built_.begin;
  const auto plus = [&](ValueId a, Word b) { return b ? word_of(Op::kOffset, {a}, b) : a; };
  const auto store = [&](ValueId to, Word tag, Word field, ValueId value) {
    act(Op::kStoreWord, {to, value}, field * sizeof(Word) - tag);
  };
  // So many bytes have come.
  const ValueId more =
      is_fixed ? number(fixed) : plus(word_of(Op::kDifference, {built_.out, built_.begin}), fixed);
  const auto grown = [&](ValueId from) {
    return is_fixed ? plus(from, fixed) : word_of(Op::kSum, {from, more});
  };
  const ValueId used = grown(built_.used);
  store(built_.binary, 0, offsetof(Binary, used_bytes) / sizeof(Word), used);
  store(original, kBoxedTag, kRefcSizeField, used);
  store(original, kBoxedTag, kFlagsField, number(RefcBinary::kWritable | RefcBinary::kActiveWriter));
  if (!fixed && !is_private) {
    branch(Condition::kSame, {more}, 0);
    const BlockId same = block().to, other = block().otherwise;
    const State kept = state_;
    block_ = same;
    set(o[1], v);
    go_to(over);
    block_ = other;
    state_ = kept;
  }
  if (!is_fixed) act(Op::kCharge, {word_of(Op::kShift, {more}, Shift{0, 10, false, false}.imm())});
  const ValueId size = grown(load(v, kBoxedTag, kSizeField, Type::of(kRaw)));
  if (is_private) {
    store(v, kBoxedTag, kSizeField, size);
    set(o[1], v);
    return go_to(over);
  }
  store(v, kBoxedTag, kDetailsField, number(0));
  const ValueId offset = load(v, kBoxedTag, kOffsetField, Type::of(kRaw));
  const ValueId made =
      emit(Op::kPutTuple, Type::of(kOfBits), {size, offset, number(kWritableBytes), original}, kSubBinary);
  set(o[1], made);
  go_to(over);
}

/// How many bits of small integers are appended to a bit string; 0: they are whole bytes, which
/// other instructions have tried, or it is something else.
Word Builder::bits_to_append(const Part& p) {
  Word all = 0;
  const auto type = [&](std::size_t n) { return static_cast<BinarySegment>(p.list[n] & 0xFF); };
  const auto unit = [&](std::size_t n) { return p.list[n] >> 16 & 0xFFFF; };
  if (type(0) < BinarySegment::kAppend || unit(0) != 1) return 0;
  for (std::size_t n = 3; n + 2 < p.list.size(); n += 3) {
    const Operand size = source_of(p.list[n + 2]);
    if (type(n) != BinarySegment::kInteger || size.is_register()) return 0;
    const Word bits = constant_bits(constant(size.value), unit(n));
    if (bits == kNone || bits == 0 || (p.list[n] >> 8 & kBitsLittle && bits > 8)) return 0;
    all += bits;
  }
  constexpr Word kMost = 56;
  return all > kMost || all % 8 == 0 ? 0 : all;
}

/// In place, if that can be done; otherwise it goes on with the other edges.
ValueId Builder::append_bits(const Part& p, Word bits, std::vector<Incoming>* others) {
  const auto o = code_.operands(p);
  const auto otherwise = [&] {
    others->push_back({block_, state_});
    block_ = kNone;
  };
  const bool is_private = static_cast<BinarySegment>(p.list[0] & 0xFF) == BinarySegment::kPrivateAppend;
  // All operands are read in front of the first branch, so that both ways know the same.
  const ValueId to = get(source_of(p.list[1]));
  for (std::size_t n = 3; n + 2 < p.list.size(); n += 3) get(source_of(p.list[n + 1]));
  need((o[2].value & ~Word{kNeedAlways}) + sizeof(SubBinary) / sizeof(Word));
  ValueId word = kNone;
  for (std::size_t n = 3; n + 2 < p.list.size(); n += 3) {
    const ValueId v = get(source_of(p.list[n + 1]));
    if (!type(v).is(Type::kSmall)) require(Condition::kIsSmall, {v}, 0, otherwise, true);
    word =
        add_bits(word, v, constant_bits(constant(source_of(p.list[n + 2]).value), p.list[n] >> 16 & 0xFFFF));
  }
  word = word_of(Op::kShift, {word}, Shift{static_cast<std::uint8_t>(64 - bits), 0, false, false}.imm());
  const ValueId made =
      invoke(callees::append_bits, {to, word, number(bits | Word{is_private} << 8)}, Type::of(kOfBits));
  require(Condition::kDiffers, {made}, 0, otherwise, true);
  return made;
}

/// The function finds the x registers in memory.
void Builder::create_binary(const Part& p) {
  const auto o = code_.operands(p);
  std::vector<Incoming> edges, others;
  std::vector<ValueId> values;
  if (const Word bits = bits_to_append(p)) {
    values.push_back(append_bits(p, bits, &others));
    edges.push_back({block_, std::move(state_)});
    join(others);
  }
  for (std::size_t n = 0; n + 2 < p.list.size(); n += 3)
    if (static_cast<BinarySegment>(p.list[n] & 0xFF) != BinarySegment::kString)
      for (const Operand& source : {source_of(p.list[n + 1]), source_of(p.list[n + 2])})
        if (source.is_x()) act(Op::kStoreX, {get(source)}, source.value);
  const ValueId made = invoke(callees::create_binary,
                              {word_of(Op::kAddressOfX, {}), number(reinterpret_cast<Word>(p.list.data())),
                               number(p.list.size()), number(o[2].value & ~Word{kNeedAlways})},
                              Type::of(kOfBits));
  require(
      Condition::kDiffers, {made}, 0, [&] { leave_as_asked(); }, true);
  values.push_back(made);
  edges.push_back({block_, std::move(state_)});
  set(o[0], join(edges, values));
}

void Builder::build_construction(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::bs_begin:
      need(o[1].value);
      built_ = {};
      built_.limit = word_of(Op::kHeapTop, {}, offsetof(HeapBinary, data) + o[2].value);
      return;
    case Family::bs_begin_append: return begin_append(p);
    case Family::bs_put_integer: return put_number(p, get(o[0]), o[1].value, 64 - o[2].value);
    case Family::bs_put_little: {
      const ValueId v = get(o[0]);
      require_small_or_slow(p, v);
      if (block_ == kNone) return;
      return put(v, {static_cast<std::int32_t>(o[1].value), 8, false, -4});
    }
    case Family::bs_put_piece: return put_piece(p, false);
    case Family::bs_put_last_piece: return put_piece(p, true);
    case Family::bs_put_float: return put_float(p);
    case Family::bs_put_text:
      return put(number(o[1].value), {static_cast<std::int32_t>(o[0].value), 8, false});
    case Family::bs_put_binary: return put_part(p);
    case Family::bs_put_utf8: return put_utf8(p);
    case Family::bs_end: {
      const ValueId begin = word_of(Op::kHeapTop, {}, offsetof(HeapBinary, data) - o[1].value);
      const ValueId size = word_of(Op::kDifference, {out(), begin});
      set(o[0], emit(Op::kPutBinary, Type::of(kOfBits), {size}));
      return go_to(o[2].target());
    }
    case Family::bs_end_fixed:
      set(o[0], emit(Op::kPutBinary, Type::of(kOfBits), {number(o[1].value)}));
      return go_to(o[2].target());
    case Family::bs_end_append:
    case Family::bs_end_private_append: return end_append(p);
    case Family::bs_create_bin: return create_binary(p);
    case Family::bs_init_writable:
      state_.x[0] = invoke(callees::begin_writable, {state_.x[0]}, Type::of(kOfBits));
      return collect_soon_if_left(p);
    case Family::bs_add:
      require_small(get(o[0]), get(o[1]));
      return set(o[2], constant(Term::small(0).raw()));
    default: return leave();
  }
}

}  // namespace vmrun::jit
