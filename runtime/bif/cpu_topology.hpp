#pragma once

#include "vm/process/process.hpp"

namespace vmrun {

/// system_info(cpu_topology): the processors as a tree of nodes, packages, cores and threads, as it
/// is detected; undefined when the system does not tell.
Term cpu_topology(Process& p);

}  // namespace vmrun
