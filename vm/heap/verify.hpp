#pragma once

#include "vm/heap/collector.hpp"

/// Checking a heap by walking all that is reachable. In the thread that owns it.
namespace vmrun {

/// Stops the VM naming the first bad word. owner: the pid to name it by; the other roots as for a
/// Collector.
void verify_heap(const Heap& heap, Term owner, const Term* regs, unsigned live,
                 Collector::ListRoots list_roots, void* roots_of);

}  // namespace vmrun
