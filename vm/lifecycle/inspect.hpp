// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// What a debugger sees of a suspended process: its frames, the slots of its stack, and its x
/// registers (erl_debugger).
namespace vmrun {

enum class Inspected : unsigned { kFrames, kSlot, kRegisterCount, kRegister };

/// question: {What, Frame, Slot, Most words}, small integers; kRegister takes the register as slot.
/// Returns a term in `out`, which may refer to the heap of p: `running` if p is not suspended,
/// `undefined` if there is no such thing. In the thread of p, between two slices.
Term inspect(Process& p, Term question, Heap& out);

}  // namespace vmrun
