// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

#include "vm/code/machine_code.hpp"
#include "vm/jit/allocation.hpp"
#include "vm/jit/processor.hpp"
#include "vm/process/core.hpp"

namespace vmrun::jit {

/// The slots of kFrame: values', then where the interpreter's float registers are, then what
/// registers have while a C++ function is called.
inline constexpr unsigned kFloatsSlot = kSlots, kKeptSlot = kFloatsSlot + 1,
                          kKeptFloatsSlot = kKeptSlot + kGeneral,
                          kFrameWords = (kKeptFloatsSlot + kFloats) | 1;

/// The size of the frame, with the caller's registers, while machine code of functions runs: a
/// multiple of 16 bytes.
inline constexpr unsigned kFrameSize = (kFrameWords + std::size(kSavedInDwarf) + 1) / 2 * 2;

/// Where an x register is in memory, from kXRegisters on, which points to the frame record in front
/// of them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
inline constexpr SWord kFirstX = offsetof(Core, x) - offsetof(Core, interpreter_frame);
#pragma GCC diagnostic pop
inline constexpr SWord x_at(std::size_t n) { return kFirstX + static_cast<SWord>(n * sizeof(Word)); }

}  // namespace vmrun::jit
