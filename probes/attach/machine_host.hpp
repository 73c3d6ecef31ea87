// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/engine/host.hpp"

/// The machine as the D engine sees it. There is one host, made when the first tracer comes and
/// never freed. Functions that firing threads call neither block nor allocate, and only read.
namespace vmrun {
struct Process;
}

namespace vmrun::attach {

d::Host& machine_host();

/// How a probe's arguments are handed over, by its number. It is valid once machine_host() has been
/// called.
extern const d::ArgumentKind* const* kinds_by_probe;
/// Whether the probe fires where a slice begins or ends. The place of the process is known then,
/// whatever instructions the process runs.
bool fires_between_slices(std::uint32_t probe);
/// Returns the name of a function by its number in function probes: module, NUL, function.
std::string function_text(std::uint64_t number);
/// Returns the key of the process that runs in this thread, or else of the thread.
std::uint64_t self_key();
/// Returns what proc_lib:set_label has set for the process, or how it began. The calling thread
/// must have the process's state to itself.
d::EncodedArgument label_of(const Process& p, char* out, std::size_t room);

}  // namespace vmrun::attach
