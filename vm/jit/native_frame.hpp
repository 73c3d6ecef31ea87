// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/machine_code.hpp"
#include "vm/jit/allocation.hpp"

namespace vmrun::jit {

/// The slots of kFrame: values', then where the interpreter's float registers are, then what
/// registers have while a C++ function is called.
inline constexpr unsigned kFloatsSlot = kSlots, kKeptSlot = kFloatsSlot + 1,
                          kKeptFloatsSlot = kKeptSlot + kGeneral,
                          kFrameWords = (kKeptFloatsSlot + kFloats) | 1;

}  // namespace vmrun::jit
