// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vm/code/instructions.hpp"
#include "vm/term/fun.hpp"

/// A function's loaded instructions, taken apart: fused ones are split into their parts again, and
/// operands are decoded. Made by one thread, which holds an epoch while it reads the code.
namespace vmrun::jit {

struct Operand {
  enum class Kind : std::uint8_t {
    kX,       // register number
    kY,       // register number
    kFloat,   // register number
    kTerm,    // the term's word
    kNumber,  // count, size, flags
    kTarget,  // address of an instruction; 0: none
    kWord,    // anything else of 64 bits
  };
  Kind kind;
  Word value;
  bool is_x() const { return kind == Kind::kX; }
  bool is_y() const { return kind == Kind::kY; }
  bool is_register() const { return is_x() || is_y(); }
  const Word* target() const { return reinterpret_cast<const Word*>(value); }
};

/// Decodes a source or destination of any kind, as it stands in a list of operands.
Operand source_of(Word encoded);
Operand destination_of(Word encoded);

struct Part {
  op::Family family;
  bool begins;  // it is the first part of its instruction
  bool ends;    // it is the last part
  std::uint16_t operand_count;
  std::uint32_t first_operand;
  const Word* at;    // the instruction
  const Word* next;  // the one behind it
  std::span<const Word> list;
};

class FunctionCode {
 public:
  /// end: where the function's instructions end.
  FunctionCode(const FunctionHeader& function, const Word* end);

  const FunctionHeader& function() const { return function_; }
  const Word* end() const { return end_; }
  std::span<const Part> parts() const { return parts_; }
  std::span<const Operand> operands(const Part& p) const {
    return {operands_.data() + p.first_operand, p.operand_count};
  }
  static OperandUse use(const Part& p) { return op::kOperandUses[static_cast<unsigned>(p.family)]; }
  bool holds(const Word* at) const { return at >= function_.entry() && at < end_; }
  /// Returns the first part of the instruction at an address in the function.
  std::size_t part_at(const Word* at) const;

 private:
  void add(const Word* at);

  const FunctionHeader& function_;
  const Word* end_;
  std::vector<Part> parts_;
  std::vector<Operand> operands_;
};

}  // namespace vmrun::jit
