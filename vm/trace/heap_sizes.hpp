// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

namespace vmrun {

/// Returns [{Name, Words}] of a process's heap, as events of collections and process_info report
/// it. messages: words of messages that count as part of the heap but lie outside of it.
Term heap_sizes(const Process& p, Word messages, Heap& out);

}  // namespace vmrun
