// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/small_limits.hpp"
#include "vm/process/process.hpp"

/// Whether a process's stack is so deep that returning from all of it may take longer than a slice.
/// Returns are not counted in ordinary slices, for that would make each of them dearer; those that
/// begin with a deep stack run instructions that count them (interpreter.cpp). Owned by the
/// process; called by the thread that runs or collects it.
///
/// A stack that becomes deep is seen at the end of the slice, for calls are counted, or by a
/// collection, for it needs room; so nothing is looked at where a slice begins but
/// kStackDeep in Process::observed, together with the bits of tracing.
namespace vmrun {

/// Frames have at least one word. Returning from so many takes 0.2 ms at most.
inline constexpr Word kDeepStackWords = usual_or_small<Word>(32768, 128);

inline bool stack_is_deep(const Process& p) { return p.observed & kStackDeep; }

/// Sets the bit if the stack is deep. The stack pointer has been stored.
inline void note_deep_stack(Process& p) {
  if (p.heap.stack_words() > kDeepStackWords) [[unlikely]]
    p.observed |= kStackDeep;
}

/// Clears the bit if the stack is not deep any more.
inline void forget_deep_stack(Process& p) {
  if (p.heap.stack_words() <= kDeepStackWords) p.observed &= ~kStackDeep;
}

}  // namespace vmrun
