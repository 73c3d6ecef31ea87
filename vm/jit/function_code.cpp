// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/function_code.hpp"

#include <algorithm>

#include "vm/code/walk.hpp"

namespace vmrun::jit {
namespace {

using Kind = Operand::Kind;

Operand decode(char kind, const Word* at, unsigned offset) {
  switch (kind) {
    case 'x': return {Kind::kX, field<std::uint16_t>(at, offset)};
    case 'y': return {Kind::kY, field<std::uint16_t>(at, offset)};
    case 'l': return {Kind::kFloat, field<std::uint16_t>(at, offset)};
    case 'k': return {Kind::kTerm, field<std::uint32_t>(at, offset)};
    case 'c': return {Kind::kTerm, field<Word>(at, offset)};
    case 'i': {
      const SWord shifted = field<std::int32_t>(at, offset);
      return {Kind::kTerm, static_cast<Word>(shifted) | Term::kSmallTag};
    }
    case 'S': return source_of(field<Word>(at, offset));
    case 'D': return destination_of(field<std::uint16_t>(at, offset));
    case 'u': return {Kind::kNumber, field<std::uint16_t>(at, offset)};
    case 'q':
    case '*': return {Kind::kNumber, field<std::uint32_t>(at, offset)};
    case 'f': {
      const SWord distance = field<std::int32_t>(at, offset);
      return {Kind::kTarget, distance ? reinterpret_cast<Word>(at + distance) : 0};
    }
    default: return {Kind::kWord, field<Word>(at, offset)};
  }
}

}  // namespace

Operand source_of(Word encoded) {
  if (encoded & 3) return {Kind::kTerm, encoded};
  return {encoded & 4 ? Kind::kY : Kind::kX, encoded >> 4};
}

Operand destination_of(Word encoded) {
  if (encoded & kDestinationY) return {Kind::kY, encoded & ~Word{kDestinationY}};
  return {Kind::kX, encoded};
}

FunctionCode::FunctionCode(const FunctionHeader& function, const Word* end) : function_(function), end_(end) {
  each_instruction(function.entry(), end, [&](const Word* at, const InstructionRow&) { add(at); });
}

void FunctionCode::add(const Word* at) {
  const std::uint16_t operation = operation_at(at);
  const InstructionRow& row = op::kInstructions[operation];
  const Word* const next = next_instruction(at, row);
  unsigned k = 0;
  for (unsigned n = op::kPartStart[operation]; n < op::kPartStart[operation + 1]; ++n) {
    const PartRow& part = op::kParts[n];
    Part p{part.family,
           n == op::kPartStart[operation],
           n + 1 == op::kPartStart[operation + 1],
           part.operands,
           static_cast<std::uint32_t>(operands_.size()),
           at,
           next,
           {}};
    for (unsigned i = 0; i < part.operands; ++i, ++k) {
      operands_.push_back(decode(row.kinds[k], at, row.fields[k]));
      if (row.kinds[k] == '*') p.list = {at + row.words, operands_.back().value};
    }
    // The distance to the instruction itself means no target elsewhere.
    if (p.family == op::Family::call || p.family == op::Family::call_only || p.family == op::Family::wait ||
        p.family == op::Family::wait_timeout)
      if (Operand& to = operands_[p.first_operand]; to.value == 0) to.value = reinterpret_cast<Word>(at);
    parts_.push_back(p);
  }
}

std::size_t FunctionCode::part_at(const Word* at) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(parts_, at, {}, &Part::at) - parts_.begin());
}

}  // namespace vmrun::jit
