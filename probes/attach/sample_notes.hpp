// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "probes/attach/sampling.hpp"

/// What a sampled thread notes when a clock's signal interrupts it. All of it is safe in a signal
/// handler. It takes no lock and does not allocate, and the kernel reads memory that may have been
/// freed.
namespace vmrun::attach {

/// Called by the controlling thread before the first clock starts.
void install_handler();
/// Whether clocks may send SIGTRAP. That is so when this kernel delivers it as needed and nothing
/// else uses it. Called after install_handler.
bool may_trap();

// How many words of a stack are searched for return addresses. Of a deeper stack both ends are
// searched: the top, and the part where it began.
constexpr std::size_t kMostStackWords = 4096, kBottomWords = 512;

/// Calls act(part, words) for each part to be searched of the stack of a process with this heap.
template <class Act>
void each_stack_part(const Term* stack, const Heap& h, Act&& act) {
  const Term* const bottom = h.end - 1;  // where the machine's own code goes on
  if (stack >= bottom) return;
  const auto words = static_cast<std::size_t>(bottom - stack);
  if (words <= kMostStackWords) return act(stack, words);
  act(stack, kMostStackWords - kBottomWords);
  act(bottom - kBottomWords, kBottomWords);
}
/// Adds the calls that a stack holds, behind the frames that the sample has.
void add_callers(Sample& s, const Term* stack, std::size_t count);

}  // namespace vmrun::attach
