// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

namespace vmrun {

/// Answers system_info(cpu_topology): the detected tree of nodes, packages, cores and threads, or
/// undefined when the system does not tell.
Term cpu_topology(Process& p);

}  // namespace vmrun
