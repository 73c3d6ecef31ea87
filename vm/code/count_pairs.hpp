// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "vm/code/instructions.hpp"

/// Helps to decide which instructions to fuse. With -DVMRUN_COUNT_PAIRS the interpreter counts
/// which instruction follows which. At the end the pairs are written with their counts to the file
/// named by VMRUN_PAIRS. One scheduler only (+S 1).
namespace vmrun {

#ifdef VMRUN_COUNT_PAIRS

inline std::uint64_t pair_counts[op::kOpCount][op::kOpCount];
inline std::uint16_t previous_operation = 0;

inline void count_pair(std::uint16_t operation) {
  pair_counts[previous_operation][operation]++;
  previous_operation = operation;
}

inline void write_pair_counts() {
  const char* path = std::getenv("VMRUN_PAIRS");
  std::FILE* out = path ? std::fopen(path, "w") : nullptr;
  if (!out) return;
  for (unsigned a = 0; a < op::kOpCount; a++)
    for (unsigned b = 0; b < op::kOpCount; b++)
      if (pair_counts[a][b])
        std::fprintf(out, "%lu %s %s\n", static_cast<unsigned long>(pair_counts[a][b]),
                     op::kInstructions[a].name, op::kInstructions[b].name);
  std::fclose(out);
}

#else
inline void write_pair_counts() {}
#endif

}  // namespace vmrun
