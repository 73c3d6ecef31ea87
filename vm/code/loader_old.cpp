// SPDX-License-Identifier: Apache-2.0
#include "vm/code/instruction_support.hpp"
#include "vm/code/loading.hpp"
#include "vm/term/bits.hpp"

/// Instructions that compilers of OTP 22 to 24 write and later ones do not. In old code one
/// instruction begins a binary, with a size that has been added up before, and one instruction for
/// each segment follows right behind it. Here all of them become the single instruction that later
/// compilers write, which adds up the size itself.
namespace vmrun {
namespace {

constexpr Word kFunWords = 5;  // besides the free variables, as test_heap counts them

}  // namespace

bool Loader::old_instruction(std::uint8_t opcode, const Arg* a) {
  switch (opcode) {
    case generic::k_make_fun2: return old_fun(a->value);
    case generic::k_bs_add:
      e_.emit(Family::bs_add, {operand(a[1]), operand(a[2]), operand(a[4]), operand(a[0])});
      return true;
    // Their result is used only by the instruction that begins a binary; yet a collection may see
    // the register.
    case generic::k_bs_utf8_size:
    case generic::k_bs_utf16_size:
      e_.emit(Family::move, {Operand::constant(Term::small(0)), operand(a[2])});
      return true;
    case generic::k_bs_init2:
    case generic::k_bs_init_bits: return old_construction(a[0], heap_words(a[2]), a[3].value, a[5], {});
    case generic::k_bs_append: {
      if (a[4].value > 256) return fail("bad unit");
      std::vector<ListWord> segments;
      add_segment(&segments, BinarySegment::kAppend, 0, a[4].value, 1, any(a[5]), atoms::all.raw());
      return old_construction(a[0], heap_words(a[2]), a[3].value, a[7], std::move(segments));
    }
    case generic::k_bs_private_append: {
      if (a[2].value > 256) return fail("bad unit");
      std::vector<ListWord> segments;
      add_segment(&segments, BinarySegment::kPrivateAppend, 0, a[2].value, 1, any(a[3]), atoms::all.raw());
      // It does not say which registers are live, since it never collected.
      return old_construction(a[0], 0, kNoCollect, a[5], std::move(segments));
    }
    case generic::k_bs_put_integer:
    case generic::k_bs_put_binary:
    case generic::k_bs_put_float:
    case generic::k_bs_put_string:
    case generic::k_bs_put_utf8:
    case generic::k_bs_put_utf16:
    case generic::k_bs_put_utf32: return fail("no binary has been begun right before");
    default: return fail("this machine has no such instruction");
  }
}

/// Adds a segment. For an instruction that is not a segment it returns true and adds nothing.
bool Loader::old_segment(std::uint8_t opcode, const Arg* a, std::vector<ListWord>* segments) {
  const Word position = segments->size() / 3 + 1;
  const auto sized = [&](BinarySegment type) {
    if (a[2].value > 256) return fail("bad unit");
    add_segment(segments, type, a[3].value, a[2].value, position, any(a[4]), any(a[1]));
    return true;
  };
  const auto code_point = [&](BinarySegment type) {
    add_segment(segments, type, a[1].value, 0, position, any(a[2]), atoms::undefined.raw());
    return true;
  };
  switch (opcode) {
    case generic::k_bs_put_integer: return sized(BinarySegment::kInteger);
    case generic::k_bs_put_binary: return sized(BinarySegment::kBinary);
    case generic::k_bs_put_float: return sized(BinarySegment::kFloat);
    case generic::k_bs_put_utf8: return code_point(BinarySegment::kUtf8);
    case generic::k_bs_put_utf16: return code_point(BinarySegment::kUtf16);
    case generic::k_bs_put_utf32: return code_point(BinarySegment::kUtf32);
    case generic::k_bs_put_string: {
      const char* text = nullptr;
      if (!string_at(a[1].value, a[0].value, &text)) return false;
      add_segment(segments, BinarySegment::kString, 0, 8, position, reinterpret_cast<Word>(text), a[0].value);
      return true;
    }
    default: return true;
  }
}

/// Consumes the instructions up to the last segment.
bool Loader::old_construction(const Arg& fail_label, Word words, Word live, const Arg& dst,
                              std::vector<ListWord> segments) {
  const Operand to = operand(dst), otherwise = operand(fail_label);
  for (std::size_t k = at_ + 1; k < f_.code.size(); ++k) {
    if (f_.code[k].opcode == generic::k_line) continue;
    const std::size_t before = segments.size();
    if (!old_segment(f_.code[k].opcode, f_.args(f_.code[k]), &segments)) return false;
    if (segments.size() == before) break;
    at_ = k;
  }
  if (segments.empty())
    add_segment(&segments, BinarySegment::kString, 0, 8, 1, reinterpret_cast<Word>(m_.strings.data()), 0);
  construct(to, live, words, otherwise, segments);
  return true;
}

bool Loader::old_fun(Word index) {
  if (index >= f_.lambdas.size()) return fail("fun " + std::to_string(index) + " does not exist");
  const Word variables = f_.lambdas[index].free_count;
  if (variables > kMaxXRegisters) return fail("too many free variables");
  std::vector<ListWord> words;
  for (Word i = 0; i < variables; ++i) words.push_back({encode_any_x(i)});
  e_.emit(Family::test_heap, {number(variables), need(kFunWords + variables)});
  e_.emit(Family::make_fun, {Operand::pointer(m_.funs[index]), Operand::x(0)}, words);
  return true;
}

}  // namespace vmrun
