// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "vm/base/word.hpp"

namespace vmrun {

struct FunctionHeader;

/// Machine code that has been made of a function, before it has a place in memory.
struct HotFunction {
  struct Place {
    const Word* at;  // the instruction
    std::uint32_t offset;
  };
  struct Fixup {
    std::uint32_t at;  // offset of four bytes, the processor's distance to the target is put into
    const void* target;
  };
  /// From here on so many words lie between the beginning of the frame (DWARF's CFA) and the top of
  /// the thread's stack. The first are so many of the caller's registers (jit::kSavedInDwarf).
  struct FrameSize {
    std::uint32_t offset;
    unsigned words, registers;
  };
  std::vector<std::uint8_t> code;
  // Where it can be entered from the loop; the operation in their CodePrefix is missing.
  std::vector<Place> entries;
  std::uint32_t fun_entry = 0;  // where calls of a fun come, which is in a register; 0: nowhere
  std::vector<Fixup> fixups;
  std::vector<Place> places;  // whose code begins where; ways to the side have some of their own
  /// From there on it is the code of an inlined call that returns to `at`, which is not on the
  /// stack; nullptr: it is no such code.
  std::vector<Place> inlined_calls;
  std::vector<const FunctionHeader*> inlined;  // functions of the module whose code is part of it
  std::vector<FrameSize> frame_sizes;          // where it is not jit::kFrameSize; in the order of offsets
  std::size_t unwinding_bytes = 0;             // at the end of the code, for perf (vm/hot/unwinding.hpp)
};

}  // namespace vmrun
