#pragma once

#include "vm/base/small_limits.hpp"
#include "vm/process/process.hpp"

/// Whether a process's stack is so deep that returning from all of it may take longer than a slice.
/// Ordinary slices do not count returns, because that would make each return more expensive. Slices
/// that begin with a deep stack run instructions that count them (interpreter.cpp). Owned by the
/// process; called by the thread that runs or collects it.
///
/// A stack that becomes deep is noticed at the end of the slice, because calls are counted, or by a
/// collection, because it needs room. So the beginning of a slice only tests a bit of
/// Process::observed, together with those of tracing.
namespace vmrun {

/// A bit of Process::observed, above those of trace.hpp.
inline constexpr std::uint32_t kStackDeep = 1u << 28;

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
