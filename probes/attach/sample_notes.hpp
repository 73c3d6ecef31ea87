#pragma once

#include <cstddef>

#include "probes/attach/sampling.hpp"

/// What a sampled thread notes when a clock's signal interrupts it. All of it is safe in a signal
/// handler: no lock, no allocation, and memory that may have been given back is read by the kernel.
namespace vmrun::attach {

/// Before the first clock starts; the controlling thread.
void install_handler();
/// Whether clocks may send SIGTRAP: this kernel delivers it as it should, and it is nobody else's.
/// After install_handler.
bool may_trap();

// Words of a stack that are searched for return addresses. Of a deeper one both ends are: where it
// is now, and where it came from.
constexpr std::size_t kMostStackWords = 4096, kBottomWords = 512;

/// act(part, words) for what is searched of the stack of a process that has this heap.
template <class Act>
void each_stack_part(const Term* stack, const Heap& h, Act&& act) {
  const Term* const bottom = h.end - 1;  // where the machine's own code goes on
  if (stack >= bottom) return;
  const auto words = static_cast<std::size_t>(bottom - stack);
  if (words <= kMostStackWords) return act(stack, words);
  act(stack, kMostStackWords - kBottomWords);
  act(bottom - kBottomWords, kBottomWords);
}
/// The calls that a stack holds, behind the frames that the sample has.
void add_callers(Sample& s, const Term* stack, std::size_t count);

}  // namespace vmrun::attach
