// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/process/process.hpp"

/// process_info. Called in the thread that runs the process: in its own BIF call, or between two
/// slices for another process. Only process_info_now may be called in any thread.
namespace vmrun {

/// Returns {Item, Value} in `out`, or the non-value when there is no such item. running: whether
/// the process asks about itself.
Term process_info_item(Process& p, Term item, Heap& out, bool running);
/// A limit of the heap, as programs see it.
Term max_heap_term(Heap& out, MaxHeap max_heap);
/// what: an item, a list of items, or `true` for those of process_info/1. Returns the non-value
/// when an item is unknown.
Term process_info(Process& p, Term what, Heap& out, bool running);
/// Answers for a process that another thread may be running, but not for `true`. Also returns the
/// non-value when only the process itself can answer. Any thread.
Term process_info_now(Process& p, Term what, Heap& out);
/// Whether the answer goes through parts of the heap that native code extends.
bool looks_through_heap(Term what);
/// Whether `what` names only known items.
bool is_process_info(Term what);
/// Returns all items.
std::vector<Term> process_info_items();
/// {Address, Bytes, References}
Term binary_info(Heap& out, const Binary& binary);
/// Returns all memory that the process takes, in bytes.
Word process_memory_bytes(Process& p);

}  // namespace vmrun
