// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/machine_code.hpp"
#include "vm/jit/allocation.hpp"

namespace vmrun::jit {

/// The slots of kFrame: values', then this one: where the interpreter's float registers are.
inline constexpr unsigned kFloatsSlot = kSlots;

}  // namespace vmrun::jit
