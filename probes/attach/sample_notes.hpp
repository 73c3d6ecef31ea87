#pragma once

#include <cstddef>

#include "probes/attach/sampling.hpp"

/// What a sampled thread notes when a clock's signal interrupts it. All of it is safe in a signal
/// handler: no lock, no allocation, and memory that may have been given back is read by the kernel.
namespace vmrun::attach {

/// Before the first clock starts; the controlling thread.
void install_handler();

/// Words of a stack that are searched for return addresses, of a process that has this heap.
std::size_t stack_words(const Term* stack, const Heap& h);
/// The calls that a stack holds, behind the frames that the sample has.
void add_callers(Sample& s, const Term* stack, std::size_t count);

}  // namespace vmrun::attach
