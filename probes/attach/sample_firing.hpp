// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "probes/attach/sampled_threads.hpp"

/// Fires the samples that threads have noted. A thread does it itself where a slice ends
/// (vm/process/sampled.hpp), or the controlling thread does it.
namespace vmrun::attach {

/// Finds out what only loaded code can tell: the built-in function, the caller where the
/// instruction is the machine's own, the address that stands for an activity.
void resolve(Sample& s);
/// Fires the samples that wait, unless another thread is doing so. owner: the process, if the
/// caller has it to itself. until_ns: younger samples wait.
void take_out(SampledThread& thread, const Process* owner, std::uint64_t until_ns);

// What vm/process/sampled.hpp calls, in the thread that has been sampled.

void deliver_samples(const Process* p);
void note_sampled_process(const Process& p);

/// Returns the text of an address that stands for an activity in a stack, or nullptr for any other
/// address. Any thread may call it.
const char* activity_at(std::uint64_t address);

}  // namespace vmrun::attach
