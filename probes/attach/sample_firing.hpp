#pragma once

#include <cstdint>

#include "probes/attach/sampled_threads.hpp"

/// Firing what threads have noted: by themselves where a slice ends (vm/process/sampled.hpp), or by
/// the controlling thread.
namespace vmrun::attach {

/// What only code can tell, while it is there: the built-in function, the caller where the
/// instruction is the machine's own, the address that stands for an activity.
void resolve(Sample& s);
/// Fires what waits, unless somebody else is at it. owner: the process, if the caller has it to
/// itself. until_ns: younger ones wait.
void take_out(SampledThread& thread, const Process* owner, std::uint64_t until_ns);

/// The text of an address that stands for an activity in a stack; nullptr: it is none. Any thread.
const char* activity_at(std::uint64_t address);

}  // namespace vmrun::attach
