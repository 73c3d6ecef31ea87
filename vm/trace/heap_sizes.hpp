#pragma once

#include "vm/process/process.hpp"

namespace vmrun {

/// [{Name, Words}] of a process's heap, as events of collections and process_info tell them.
/// messages: words of messages that count as part of the heap and lie outside of it.
Term heap_sizes(const Process& p, Word messages, Heap& out);

}  // namespace vmrun
