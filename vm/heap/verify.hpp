// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/collector.hpp"

/// Checks a heap by a walk over all that is reachable. Called by the thread that owns the heap.
namespace vmrun {

/// Stops the VM and names the first bad word. owner: the pid in the message. The other roots are as
/// for a Collector.
void verify_heap(const Heap& heap, Term owner, const Term* regs, unsigned live,
                 Collector::ListRoots list_roots, void* roots_of);

}  // namespace vmrun
