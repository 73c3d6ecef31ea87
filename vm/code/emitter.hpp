// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "vm/code/instructions.hpp"

/// Turns families and operands into the machine's instructions: picks the variant, fuses
/// neighbours, lays the code out and resolves labels. Only the loader uses it, with one emitter for
/// each module. Errors stick: see `error`.
namespace vmrun {

struct Operand {
  enum class Kind : std::uint8_t { kX, kY, kConst, kFloat, kLabel, kNumber };
  Kind kind;
  Word value;

  static Operand x(Word n) { return {Kind::kX, n}; }
  static Operand y(Word n) { return {Kind::kY, n}; }
  static Operand constant(Term t) { return {Kind::kConst, t.raw()}; }
  static Operand label(Word l) { return {Kind::kLabel, l}; }
  static Operand number(Word n) { return {Kind::kNumber, n}; }
  static Operand pointer(const void* p) { return {Kind::kNumber, reinterpret_cast<Word>(p)}; }
  bool is_const() const { return kind == Kind::kConst; }
  bool is_reg() const { return kind == Kind::kX || kind == Kind::kY; }
  bool operator==(const Operand&) const = default;
};

/// A member of an instruction's list: a plain word, or a label whose distance is stored there.
struct ListWord {
  Word value;
  bool is_label = false;
};

class Emitter {
 public:
  /// instructions: the expected number of instructions.
  Emitter(std::uint32_t label_count, std::size_t instructions) : label_item_(label_count, kUnplaced) {
    items_.reserve(instructions);
    values_.reserve(instructions * 3);
  }

  void emit(op::Family family, std::initializer_list<Operand> operands,
            const std::vector<ListWord>& list = {});
  void emit(op::Family family, std::span<const Operand> operands, const std::vector<ListWord>& list = {});
  bool can_emit(op::Family family, std::initializer_list<Operand> operands) const;
  void place_label(Word label);
  /// Returns a label that the file does not have.
  Word new_label() {
    label_item_.push_back(kUnplaced);
    return label_item_.size() - 1;
  }
  void set_line(std::uint32_t line) { pending_line_ = line; }
  /// The number of instructions so far. It changes when something is emitted.
  std::size_t count() const { return items_.size(); }

  /// Lays out all code. Returns false if a label was never placed, or if a jump is too far.
  bool finish(std::vector<Word>* code);
  Word label_word(Word label) const { return items_[label_item_[label]].at; }
  /// Where the n-th instruction lies (see count).
  Word word_of(std::size_t n) const { return items_[n].at; }
  bool label_placed(Word label) const { return label_item_[label] != kUnplaced; }
  struct LineMark {
    std::uint32_t word, line;
  };
  const std::vector<LineMark>& lines() const { return lines_; }
  const std::string& error() const { return error_; }

 private:
  struct Item {
    std::uint16_t operation;
    bool target;
    std::uint32_t line;  // 0: none
    std::uint32_t first_value, first_list, list_count;
    std::uint32_t at;  // word offset once laid out
  };
  static constexpr std::uint32_t kUnplaced = ~0u;

  void emit(op::Family family, const Operand* operands, std::size_t count, const std::vector<ListWord>& list);
  bool try_fuse(std::uint16_t operation);
  void write(const Item& item, std::vector<Word>& code);
  bool distance(const Item& from, Word label, SWord* out);

  std::vector<Item> items_;
  std::vector<Word> values_;
  std::vector<ListWord> lists_;
  std::vector<std::uint32_t> label_item_;
  std::vector<LineMark> lines_;
  std::uint32_t pending_line_ = 0;
  bool next_is_target_ = false;
  std::string error_;
};

}  // namespace vmrun
