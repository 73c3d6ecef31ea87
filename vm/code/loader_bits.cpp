// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"

#include <algorithm>
#include <bit>

#include "vm/code/instruction_support.hpp"
#include "vm/code/segments.hpp"
#include "vm/term/bits_fields.hpp"

/// Bit strings: matching and construction.
namespace vmrun {
namespace {

constexpr Word kWordBits = 56;  // so many are in one word, wherever they begin

}  // namespace

bool Loader::string_at(Word offset, Word bytes, const char** out) {
  if (offset > m_.strings.size() || bytes > m_.strings.size() - offset)
    return fail("string outside chunk StrT");
  *out = m_.strings.data() + offset;
  return true;
}

bool Loader::constant_bits(const Operand& size, Word unit, Word* bits) {
  if (!size.is_const()) return false;
  const Term t = Term::from_raw(size.value);
  if (!t.is_small() || t.small_value() < 0 || t.small_value() > (1 << 20)) return false;
  *bits = static_cast<Word>(t.small_value()) * unit;
  return *bits < (1u << 30);
}

void Loader::get_integer(Operand ctx, Operand size, Word unit, Word flags, Operand dst, Word live,
                         Operand otherwise) {
  flags = resolve_bit_flags(static_cast<unsigned>(flags)) & (kBitsLittle | kBitsSigned);
  Word bits;
  if (constant_bits(size, unit, &bits) && ctx.is_reg() && bits > 0 && bits <= 59) {
    ctx = context(ctx);
    if (bits == 8 && !(flags & kBitsSigned)) return e_.emit(Family::bs_get_byte, {ctx, dst, otherwise});
    return e_.emit(
        bits <= 56 && !(flags & kBitsLittle) ? Family::bs_get_integer_small : Family::bs_get_integer_other,
        {ctx, dst, number(bits), number(flags), otherwise});
  }
  e_.emit(Family::bs_get_integer, {ctx, dst, size, number(unit), number(flags), number(live), otherwise});
}

void Loader::get_binary(Operand ctx, Operand size, Word unit, Operand dst, Word live, Operand otherwise) {
  if (size.is_const() && Term::from_raw(size.value) == atoms::all) {
    const bool is_mask = std::has_single_bit(unit);
    if (!is_mask) test_unit(ctx, unit, otherwise);
    return e_.emit(Family::bs_get_all,
                   {ctx, dst, number(is_mask ? unit - 1 : 0), number(live), need(kExtractWords), otherwise});
  }
  e_.emit(Family::bs_get_bits, {ctx, dst, size, number(unit), number(live), need(kExtractWords), otherwise});
}

void Loader::skip(Operand ctx, Operand size, Word unit, Operand otherwise) {
  Word bits;
  ctx = context(ctx);
  if (constant_bits(size, unit, &bits)) e_.emit(Family::bs_skip, {ctx, number(bits), otherwise});
  else e_.emit(Family::bs_skip_var, {ctx, size, number(unit), otherwise});
}

void Loader::test_unit(Operand ctx, Word unit, Operand otherwise) {
  if (unit == 8) e_.emit(Family::bs_test_unit8, {context(ctx), otherwise});
  else if (unit != 1) e_.emit(Family::bs_test_unit, {context(ctx), number(unit), otherwise});
}

bool Loader::bs_match(const Arg* a) {
  const Operand otherwise = operand(a[0]), ctx = in_register(a[1]);
  const Arg* m = members(a[2]);
  const Word n = a[2].count;
  auto unsigned_at = [&](Word i) {
    return i < n && (m[i].kind == Arg::Kind::kUnsigned || (m[i].is_const() && m[i].term().is_small()));
  };
  // No binary has so many bits, so nothing that follows is reached.
  auto beyond_at = [&](Word i) { return i < n && m[i].kind == Arg::Kind::kBeyond; };
  auto value_at = [&](Word i) {
    return m[i].kind == Arg::Kind::kUnsigned ? m[i].value : static_cast<Word>(m[i].term().small_value());
  };
  for (Word i = 0; i < n;) {
    if (!m[i].is_const() || !m[i].term().is_atom()) return fail("bad match command");
    const std::string_view command = atom_text(m[i].term());
    if (command == "ensure_at_least" && unsigned_at(i + 1) && unsigned_at(i + 2) && value_at(i + 2)) {
      const Word bits = value_at(i + 1), unit = value_at(i + 2);
      if (bits) e_.emit(Family::bs_ensure, {context(ctx), number(bits), number(unit), otherwise});
      else test_unit(ctx, unit, otherwise);
      i += 3;
    } else if (command == "ensure_exactly" && unsigned_at(i + 1)) {
      e_.emit(Family::bs_test_tail, {context(ctx), number(value_at(i + 1)), otherwise});
      i += 2;
    } else if (command == "ensure_at_least" && beyond_at(i + 1) && unsigned_at(i + 2)) {
      e_.emit(Family::jump, {otherwise});
      i += 3;
    } else if ((command == "ensure_exactly" || command == "skip") && beyond_at(i + 1)) {
      e_.emit(Family::jump, {otherwise});
      i += 2;
    } else if ((command == "integer" || command == "binary") && i + 5 < n && beyond_at(i + 3)) {
      e_.emit(Family::jump, {otherwise});
      i += 6;
    } else if ((command == "integer" || command == "binary") && i + 5 < n && unsigned_at(i + 1) &&
               value_at(i + 1) <= kMaxXRegisters && unsigned_at(i + 3) && unsigned_at(i + 4) &&
               is_register(m[i + 5])) {
      Word flags = 0;
      if (!flag_list(m[i + 2], &flags)) return false;
      const Operand size = Operand::constant(Term::small(static_cast<SWord>(value_at(i + 3))));
      if (command == "integer")
        get_integer(ctx, size, value_at(i + 4), flags, operand(m[i + 5]), value_at(i + 1), otherwise);
      else get_binary(ctx, size, value_at(i + 4), operand(m[i + 5]), value_at(i + 1), otherwise);
      i += 6;
    } else if (command == "skip" && unsigned_at(i + 1)) {
      e_.emit(Family::bs_skip, {context(ctx), number(value_at(i + 1)), otherwise});
      i += 2;
    } else if (command == "get_tail" && i + 3 < n && unsigned_at(i + 1) &&
               value_at(i + 1) <= kMaxXRegisters && is_register(m[i + 3])) {
      e_.emit(Family::bs_get_tail, {ctx, operand(m[i + 3]), number(value_at(i + 1)), need(kExtractWords)});
      i += 4;
    } else if (command == "=:=" && unsigned_at(i + 2) && unsigned_at(i + 3) &&
               value_at(i + 3) <= static_cast<Word>(Term::kSmallMax)) {
      const Word bits = value_at(i + 2), expected = value_at(i + 3);
      if (bits && bits <= kWordBits && !(expected >> bits)) {
        e_.emit(Family::bs_match_word,
                {context(ctx), number(bits), number(expected << (64 - bits)), otherwise});
      } else {
        const Operand size = Operand::constant(Term::small(static_cast<SWord>(bits)));
        get_integer(ctx, size, 1, 0, Operand::x(kScratch), kNoCollect, otherwise);
        const Operand value = Operand::constant(Term::small(static_cast<SWord>(expected)));
        e_.emit(Family::is_eq_exact, {Operand::x(kScratch), value, otherwise});
      }
      i += 4;
    } else {
      return fail("unknown match command " + std::string(command));
    }
  }
  return true;
}

bool Loader::flag_list(const Arg& a, Word* flags) {
  *flags = 0;
  if (a.kind == Arg::Kind::kUnsigned) return *flags = a.value, true;
  if (!is_source(a) || is_register(a)) return fail("bad flags");
  Term l = constant(a);
  for (; l.is_list(); l = l.tail()) {
    if (!l.head().is_atom()) continue;
    const std::string_view name = atom_text(l.head());
    *flags |= name == "little"   ? kBitsLittle
              : name == "signed" ? kBitsSigned
              : name == "native" ? kBitsNative
                                 : 0;
  }
  return l.is_nil() || fail("bad flags");
}

void Loader::add_segment(std::vector<ListWord>* segments, BinarySegment type, Word flags, Word unit,
                         Word position, Word source, Word size) {
  segments->push_back({static_cast<Word>(type) | (resolve_bit_flags(static_cast<unsigned>(flags)) & 7) << 8 |
                       unit << 16 | position << 32});
  segments->push_back({source});
  segments->push_back({size});
}

bool Loader::create_bin(const Arg* a) {
  const Arg* m = members(a[5]);
  std::vector<ListWord> words;
  if (a[5].count % 6) return fail("bad segment list");
  for (Word i = 0; i < a[5].count; i += 6, m += 6) {
    if (!m[0].is_const() || !m[0].term().is_atom() || m[2].kind != Arg::Kind::kUnsigned || m[2].value > 256)
      return fail("bad segment");
    if (m[1].kind != Arg::Kind::kUnsigned || m[1].value > UINT32_MAX) return fail("bad segment");
    const auto* name = std::ranges::find(kSegmentNames, atom_text(m[0].term()));
    if (name == std::end(kSegmentNames))
      return fail("unknown segment type " + std::string(atom_text(m[0].term())));
    const auto type = static_cast<BinarySegment>(name - kSegmentNames);
    if (type >= BinarySegment::kAppend && i) return fail("append is not the first segment");
    Word flags = 0, source, size;
    if (!flag_list(m[3], &flags)) return false;
    if (type == BinarySegment::kString) {
      const char* text = nullptr;
      if (m[4].kind != Arg::Kind::kUnsigned || !m[5].is_const() || !m[5].term().is_small())
        return fail("bad string segment");
      const auto bytes = m[5].term().small_value();
      if (bytes < 0 || !string_at(m[4].value, static_cast<Word>(bytes), &text))
        return fail("bad string segment");
      source = reinterpret_cast<Word>(text);
      size = static_cast<Word>(bytes);
    } else {
      if (!is_source(m[4]) || !is_source(m[5])) return fail("bad segment");
      source = any(m[4]);
      size = any(m[5]);
    }
    add_segment(&words, type, flags, m[2].value, m[1].value, source, size);
  }
  construct(operand(a[4]), a[2].value, heap_words(a[1]), operand(a[0]), words);
  return true;
}

bool Loader::bits_instruction(std::uint8_t opcode, const Arg* a) {
  switch (opcode) {
    case generic::k_bs_start_match3:
    case generic::k_bs_start_match4: {
      const Operand otherwise = a[0].kind == Arg::Kind::kLabel ? operand(a[0]) : Operand::label(0);
      const Arg& live = opcode == generic::k_bs_start_match3 ? a[2] : a[1];
      const Arg& src = opcode == generic::k_bs_start_match3 ? a[1] : a[2];
      e_.emit(Family::bs_start_match,
              {in_register(src), operand(a[3]), number(live.value), need(kContextWords), otherwise});
      return true;
    }
    case generic::k_bs_get_integer2:
      get_integer(operand(a[1]), operand(a[3]), a[4].value, a[5].value, operand(a[6]), a[2].value,
                  operand(a[0]));
      return true;
    case generic::k_bs_get_float2:
      e_.emit(Family::bs_get_float, {operand(a[1]), operand(a[6]), operand(a[3]), number(a[4].value),
                                     number(resolve_bit_flags(static_cast<unsigned>(a[5].value)) & 7),
                                     number(a[2].value), need(2), operand(a[0])});
      return true;
    case generic::k_bs_get_binary2:
      get_binary(operand(a[1]), operand(a[3]), a[4].value, operand(a[6]), a[2].value, operand(a[0]));
      return true;
    case generic::k_bs_skip_bits2:
      if (operand(a[2]).is_const() && constant(a[2]) == atoms::all) {  // everything, if it is whole units
        if (a[3].value == 0) return fail("unit 0");
        e_.emit(Family::bs_test_unit, {context(operand(a[1])), number(a[3].value), operand(a[0])});
        return true;
      }
      skip(operand(a[1]), operand(a[2]), a[3].value, operand(a[0]));
      return true;
    case generic::k_bs_test_tail2:
      if (a[2].kind == Arg::Kind::kBeyond) e_.emit(Family::jump, {operand(a[0])});  // no binary has so many
      else e_.emit(Family::bs_test_tail, {context(operand(a[1])), number(a[2].value), operand(a[0])});
      return true;
    case generic::k_bs_test_unit:
      if (a[2].value == 0) return fail("unit 0");
      test_unit(operand(a[1]), a[2].value, operand(a[0]));
      return true;
    case generic::k_bs_match_string: {
      const char* text = nullptr;
      const Word bits = a[2].value;
      if (!string_at(a[3].value, (bits + 7) / 8, &text)) return false;
      if (bits && bits <= kWordBits) {
        const Word value = top_bits(reinterpret_cast<const std::uint8_t*>(text), 0, bits);
        e_.emit(Family::bs_match_word, {context(operand(a[1])), number(bits), number(value), operand(a[0])});
        return true;
      }
      e_.emit(Family::bs_match_string,
              {context(operand(a[1])), number(a[2].value), Operand::pointer(text), operand(a[0])});
      return true;
    }
    case generic::k_bs_get_utf8:
      e_.emit(Family::bs_get_utf8, {context(operand(a[1])), operand(a[4]), operand(a[0])});
      return true;
    case generic::k_bs_skip_utf8:
      e_.emit(Family::bs_get_utf8, {context(operand(a[1])), Operand::x(kScratch), operand(a[0])});
      return true;
    case generic::k_bs_get_utf16:
    case generic::k_bs_get_utf32:
      e_.emit(opcode == generic::k_bs_get_utf16 ? Family::bs_get_utf16 : Family::bs_get_utf32,
              {context(operand(a[1])), operand(a[4]),
               number(resolve_bit_flags(static_cast<unsigned>(a[3].value)) & 7), operand(a[0])});
      return true;
    case generic::k_bs_skip_utf16:
    case generic::k_bs_skip_utf32:
      e_.emit(opcode == generic::k_bs_skip_utf16 ? Family::bs_get_utf16 : Family::bs_get_utf32,
              {context(operand(a[1])), Operand::x(kScratch),
               number(resolve_bit_flags(static_cast<unsigned>(a[3].value)) & 7), operand(a[0])});
      return true;
    case generic::k_bs_get_tail:
      e_.emit(Family::bs_get_tail,
              {in_register(a[0]), operand(a[1]), number(a[2].value), need(kExtractWords)});
      return true;
    case generic::k_bs_get_position:
      e_.emit(Family::bs_get_position, {context(operand(a[0])), operand(a[1])});
      return true;
    case generic::k_bs_set_position:
      e_.emit(Family::bs_set_position, {context(operand(a[0])), operand(a[1])});
      return true;
    case generic::k_bs_match: return bs_match(a);
    case generic::k_bs_init_writable: e_.emit(Family::bs_init_writable, {}); return true;
    case generic::k_bs_create_bin: return create_bin(a);
    default: return old_instruction(opcode, a);
  }
}

}  // namespace vmrun
