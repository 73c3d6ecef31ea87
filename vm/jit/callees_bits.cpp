// SPDX-License-Identifier: Apache-2.0
#include "vm/code/construction.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/jit/callees.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/process/process.hpp"
#include "vm/term/bits_append.hpp"
#include "vm/term/bits_fields.hpp"

/// Functions on bit strings that machine code calls.
namespace vmrun::jit {
namespace {

template <class F>
const void* address(F* function) {
  return reinterpret_cast<const void*>(function);
}

Word start_match_of(Process& p, Term source) {
  Term* const h = p.heap.top;
  start_match(h, source);
  p.heap.top = h + sizeof(MatchContext) / sizeof(Term);
  return Term::boxed(h).raw();
}
Word extract_of(Process& p, Term context, Word bits) {
  Term* const h = p.heap.top;
  p.heap.top = extract(h, *match_context(context), bits);
  return Term::boxed(h).raw();
}
Word top_bits_of(const std::uint8_t* base, Word position, Word bits) {
  return top_bits(base, position, bits);
}
Word get_field_of(Process& p, Term context, Word how) {
  return bs_get_integer(p.heap, *match_context(context), how & 0xFFFF, static_cast<unsigned>(how >> 16))
      .raw();
}
bool has_room(const Process& p, Word words) {
  return p.heap.free_words() >= words + kStackReserveWords && !p.heap.gc_desired() &&
         !gc_modes.collect_always;
}
Word get_integer_of(Process& p, Term context, Term size, Word how) {
  MatchContext& m = *match_context(context);
  Word bits;
  if (field_bits(size, how & 0xFFFF, &bits) != FieldSize::kOk || bits > bits_left(m)) return 0;
  if (bits > 59 && !has_room(p, bits / 64 + 3)) return kLeave;
  return bs_get_integer(p.heap, m, bits, static_cast<unsigned>(how >> 16)).raw();
}
Word get_float_of(Process& p, Term context, Term size, Word how) {
  Word bits;
  if (field_bits(size, how & 0xFFFF, &bits) != FieldSize::kOk) return 0;
  return bs_get_float(p.heap, *match_context(context), bits, static_cast<unsigned>(how >> 16)).raw();
}
Word get_utf8_of(Term context) { return bs_get_utf8(*match_context(context)).raw(); }
Word get_utf16_of(Term context, Word flags) {
  return bs_get_utf16(*match_context(context), static_cast<unsigned>(flags)).raw();
}
Word get_utf32_of(Term context, Word flags) {
  return bs_get_utf32(*match_context(context), static_cast<unsigned>(flags)).raw();
}
Word bits_are_same(const std::uint8_t* base, Word position, const std::uint8_t* bytes, Word bits) {
  return compare_bits(base, position, bytes, 0, bits) == 0;
}
Word remainder_of(Word a, Word b) { return a % b; }
Word byte_size_of(Term t) { return Term::small(static_cast<SWord>((bit_size_of(t) + 7) / 8)).raw(); }
Word size_in_bits(Term t) { return Term::small(static_cast<SWord>(bit_size_of(t))).raw(); }
Word has_whole_bytes(Term t) { return (bit_size_of(t) & 7) == 0; }
std::uint8_t* put_binary_at(std::uint8_t* out, const std::uint8_t* limit, Term source, Term size, Word how) {
  return put_binary({out, limit, 0}, how >> 16, source, size, how & 0xFFFF);
}
std::uint8_t* put_utf8_at(std::uint8_t* out, const std::uint8_t* limit, Word at, Term value) {
  return put_utf8({out, limit, 0}, at, value);
}
/// What it takes of the heap itself, whatever it makes.
constexpr Word kMostOwnWords = 16;
Word create_binary_of(Process& p, Term* x, const Word* segments, Word count, Word need) {
  if (!has_room(p, need + kMostOwnWords)) return 0;
  return create_binary(p, segments, static_cast<unsigned>(count), need, x, kNoCollect).raw();
}
Word append_bits_of(Process& p, Term source, Word word, Word how) {
  const Appended appended = how >> 8 ? Appended::kItself : Appended::kAnother;
  return append_few_bits(p.heap, source, word, how & 0xFF, appended).raw();
}
Word begin_writable_of(Process& p, Term size) { return bs_init_writable(p.heap, size).raw(); }

}  // namespace

namespace callees {
const Callee start_match{address(&start_match_of), true};
const Callee extract{address(&extract_of), true};
const Callee top_bits{address(&top_bits_of)};
const Callee get_field{address(&get_field_of), true};
const Callee get_integer{address(&get_integer_of), true};
const Callee get_float{address(&get_float_of), true};
const Callee get_utf8{address(&get_utf8_of)};
const Callee get_utf16{address(&get_utf16_of)};
const Callee get_utf32{address(&get_utf32_of)};
const Callee same_bits{address(&bits_are_same)};
const Callee remainder{address(&remainder_of)};
const Callee byte_size{address(&byte_size_of)};
const Callee bit_size{address(&size_in_bits)};
const Callee is_binary{address(&has_whole_bytes)};
const Callee put_binary{address(&put_binary_at)};
const Callee put_utf8{address(&put_utf8_at)};
const Callee create_binary{address(&create_binary_of), true};
const Callee append_bits{address(&append_bits_of), true};
const Callee begin_writable{address(&begin_writable_of), true};
}  // namespace callees

}  // namespace vmrun::jit
