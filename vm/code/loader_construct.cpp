// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "vm/code/construction.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/loading.hpp"
#include "vm/term/bits_fields.hpp"

/// Construction of bit strings by segments: those that the loop can do without create_binary (see
/// construction.hpp).
namespace vmrun {
namespace {

constexpr Word kLongestText = 64, kMostFixedBytes = 1000;  // more is copying and little else

Operand operand_of(Word w) {
  if (w & 3) return Operand::constant(Term::from_raw(w));
  return w & 4 ? Operand::y(w >> 4) : Operand::x(w >> 4);
}

}  // namespace

/// Emits the instructions for the segments of one construction. Before that it is asked whether it
/// can, and how much all of them take; then nothing is emitted.
class Loader::Construction {
 public:
  Construction(Emitter& e, const std::vector<ListWord>& segments, Operand slow)
      : e_(e), segments_(segments), slow_(slow) {}

  bool can() {
    if (appends() && (unit(0) != 1 && unit(0) != 8)) return false;
    emits_ = false;
    const bool are_simple = go();
    emits_ = true;
    return are_simple && at_ <= (appends() ? kMostFixedBytes : kHeapBinaryMaxBytes) &&
           (at_ || variable_ || appends());
  }
  void emit() { (void)go(); }

  bool appends() const { return type(0) >= BinarySegment::kAppend; }
  bool is_private() const { return type(0) == BinarySegment::kPrivateAppend; }
  Operand source(std::size_t n) const { return operand_of(segments_[3 * n + 1].value); }
  Word fixed() const { return at_; }  // bytes of the segments of fixed size
  bool all_fixed() const { return !variable_; }

 private:
  BinarySegment type(std::size_t n) const {
    return static_cast<BinarySegment>(segments_[3 * n].value & 0xFF);
  }
  Word flags(std::size_t n) const { return segments_[3 * n].value >> 8 & 0xFF; }
  Word unit(std::size_t n) const { return segments_[3 * n].value >> 16 & 0xFFFF; }
  Word size(std::size_t n) const { return segments_[3 * n + 2].value; }

  void emit(Family family, std::initializer_list<Operand> operands) {
    if (emits_) e_.emit(family, operands);
  }

  bool go() {
    at_ = 0;
    variable_ = false;
    const std::size_t count = segments_.size() / 3;
    for (std::size_t n = appends() ? 1 : 0; n < count;) {
      const std::size_t taken = type(n) == BinarySegment::kInteger ? integers(n, count) : other(n);
      if (!taken) return false;
      n += taken;
    }
    return true;
  }

  /// The bits of an integer of fixed size; 0: that is not simple.
  Word bits(std::size_t n) const {
    Word bits;
    return type(n) == BinarySegment::kInteger && constant_bits(operand_of(size(n)), unit(n), &bits) &&
                   bits <= 64
               ? bits
               : 0;
  }

  /// As many integers as are whole bytes together. Returns how many; 0: that is not simple.
  std::size_t integers(std::size_t first, std::size_t count) {
    Word all = 0;
    std::size_t end = first;
    do {
      if (end == count || !bits(end) || (all += bits(end)) > 64) return 0;
      ++end;
    } while (all % 8);
    const Operand at = number(at_), shift = number(64 - all);
    at_ += all / 8;
    const std::size_t last = end - 1;
    if (last == first) {
      if (flags(first) & kBitsLittle && all > 8) emit(Family::bs_put_little, {source(first), at, slow_});
      else emit(Family::bs_put_integer, {source(first), at, shift, slow_});
      return 1;
    }
    for (std::size_t n = first; n < end; ++n)
      if (flags(n) & kBitsLittle && bits(n) > 8) return 0;
    for (std::size_t n = first; n < last; ++n)
      emit(Family::bs_put_piece, {source(n), number(bits(n)), slow_});
    emit(Family::bs_put_last_piece, {source(last), at, number(bits(last)), shift, slow_});
    return end - first;
  }

  /// Returns whether it is simple.
  bool other(std::size_t n) {
    const Operand at = number(at_);
    switch (type(n)) {
      case BinarySegment::kString:
        return text(reinterpret_cast<const char*>(segments_[3 * n + 1].value), size(n));
      case BinarySegment::kFloat: {
        Word bits;
        if (!constant_bits(operand_of(size(n)), unit(n), &bits) || bits != 64 || flags(n) & kBitsLittle)
          return false;
        at_ += 8;
        emit(Family::bs_put_float, {source(n), at, slow_});
        return true;
      }
      case BinarySegment::kUtf8:
        variable_ = true;
        emit(Family::bs_put_utf8, {source(n), at, slow_});
        return true;
      case BinarySegment::kBinary: {
        const bool whole = size(n) == atoms::all.raw();
        if (whole && unit(n) != 1 && unit(n) != 8) return false;
        variable_ = true;
        emit(Family::bs_put_binary, {source(n), operand_of(size(n)), number(whole ? 0 : unit(n)), at, slow_});
        return true;
      }
      default: return false;
    }
  }
  bool text(const char* text, Word bytes) {
    if (bytes > kLongestText) return false;
    for (Word done = 0; done < bytes; done += 8) {
      Word piece = 0;
      std::memcpy(&piece, text + done, std::min<Word>(bytes - done, 8));
      emit(Family::bs_put_text, {number(at_ + done), number(piece)});
    }
    at_ += bytes;
    return true;
  }

  Emitter& e_;
  const std::vector<ListWord>& segments_;
  const Operand slow_;
  bool emits_ = true;
  Word at_ = 0;            // bytes of fixed size so far
  bool variable_ = false;  // others came as well
};

void Loader::construct(Operand dst, Word live, Word words, Operand otherwise,
                       const std::vector<ListWord>& segments) {
  const Operand slow = Operand::label(e_.new_label()), over = Operand::label(e_.new_label());
  Construction c(e_, segments, slow);
  const bool is_simple = live != kNoCollect && c.can();
  if (is_simple && c.appends()) {
    const Operand fixed = number(c.fixed());
    const Word own = c.is_private() ? 0 : sizeof(SubBinary) / sizeof(Word);
    e_.emit(Family::bs_begin_append,
            {c.source(0), number(live), need(words + own), number(c.fixed() + kFieldSlack), slow});
    c.emit();
    e_.emit(c.is_private() ? Family::bs_end_private_append : Family::bs_end_append,
            {c.source(0), dst, fixed, over});
  } else if (is_simple) {
    const Word own = c.all_fixed() ? 2 + words_for_bytes(c.fixed() + kFieldSlack) : kAnyHeapBinaryWords;
    e_.emit(Family::bs_begin, {number(live), need(words + own), number(kHeapBinaryMaxBytes - c.fixed())});
    c.emit();
    e_.emit(c.all_fixed() ? Family::bs_end_fixed : Family::bs_end, {dst, number(c.fixed()), over});
  }
  if (is_simple) e_.place_label(slow.value);
  e_.emit(Family::bs_create_bin, {dst, number(live), need(words), otherwise}, segments);
  if (is_simple) e_.place_label(over.value);
}

}  // namespace vmrun
