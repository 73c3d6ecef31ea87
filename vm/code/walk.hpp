// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "vm/code/instructions.hpp"
#include "vm/code/patches.hpp"

/// Goes through code from one instruction to the next. The thread must hold an epoch.
namespace vmrun {

template <class T>
T field(const Word* instruction, unsigned offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(instruction) + offset, sizeof value);
  return value;
}

inline const Word* next_instruction(const Word* at, const InstructionRow& row) {
  const char* list = std::strchr(row.kinds, '*');
  return at + row.words + (list ? field<std::uint32_t>(at, row.fields[list - row.kinds]) : 0);
}

/// Calls see(instruction, its row) for the instructions from `at` up to `end`.
template <class See>
void each_instruction(const Word* at, const Word* end, See see) {
  while (at < end) {
    const InstructionRow& row = op::kInstructions[operation_at(at)];
    see(at, row);
    at = next_instruction(at, row);
  }
}

}  // namespace vmrun
