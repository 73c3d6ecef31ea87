// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "vm/code/instructions.hpp"
#include "vm/hot/known.hpp"
#include "vm/hot/loop_code.hpp"

/// What the processor would compute, where all that it depends on is known: our instruction's
/// address, its operands, and what has been computed from these.
namespace vmrun {

/// The one of ours that is gone through.
struct CurrentInstruction {
  const Word* at = nullptr;
  const Word* next = nullptr;
  const InstructionRow* row = nullptr;

  bool next_is_entry() const { return row->flags & InstructionRow::kEntry; }
  /// Where its words end that never change: the last one may belong to the next instruction.
  const Word* end_of_operands() const { return next - next_is_entry(); }
};

class Evaluator {
 public:
  /// The function whose instructions are gone through.
  Evaluator(const LoopCode& loop, const Word* begin, const Word* end)
      : loop_(loop), begin_(begin), end_(end) {}

  CurrentInstruction current;

  /// True: what the instruction does is known, and nothing is left to be done; s tells it.
  bool evaluate(const x86::Instruction& in, x86::State& s);
  /// The value of an operand, as wide as the operand is; nothing: not known.
  std::optional<Word> value_of(const x86::State& s, const ZydisDecodedOperand& o);

 private:
  std::optional<Word> address_of(const x86::State& s, const ZydisDecodedOperand& o);
  bool is_constant(Word address, unsigned bytes) const;
  bool may_be_instruction(Word address) const;
  bool evaluate_operator(const x86::Instruction& in, x86::State& s, int r);

  const LoopCode& loop_;
  const Word *const begin_, *const end_;
  bool of_operands_ = false;  // what was asked for last depends on our instruction
};

}  // namespace vmrun
