// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "vm/base/processors.hpp"
#include "vm/process/process.hpp"

namespace vmrun {

/// Topologies of processors as terms: trees of nodes, packages, cores and threads.

/// Without places: undefined.
Term topology_term(Heap& heap, const std::vector<ProcessorPlace>& places);
/// Returns the places of a term that system_flag(cpu_topology, _) takes, sorted.
std::optional<std::vector<ProcessorPlace>> places_of_topology(Term topology);

/// Answers system_info(cpu_topology).
Term cpu_topology(Process& p);

}  // namespace vmrun
