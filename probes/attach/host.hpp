#pragma once

#include "probes/engine/host.hpp"

/// The machine as the D engine sees it. One for the VM, made when the first tracer comes and never
/// freed. What is called from firing threads neither blocks nor allocates, and only reads.
namespace vmrun {
struct Process;
}

namespace vmrun::attach {

d::Host& machine_host();

/// How a probe's arguments are handed over, by its number. The machine_host has been made.
extern const d::ArgumentKind* const* kinds_by_probe;
/// Fired where a slice begins or ends: where the process is is known then, whatever instructions
/// it runs.
bool fires_between_slices(std::uint32_t probe);
/// The name of a function that fires by name, by its number: module, NUL, function.
std::string function_text(std::uint64_t number);
/// Of the process that runs in this thread, or else of the thread.
std::uint64_t self_key();
/// What proc_lib:set_label has set for the process, or how it began. By the thread that has its
/// state to itself.
d::EncodedArgument label_of(const Process& p, char* out, std::size_t room);

}  // namespace vmrun::attach
