#pragma once

#include <vector>

#include "vm/process/process.hpp"

/// process_info. In the thread of the process asked about: its own BIF call, or between two slices
/// for somebody else. But for process_info_now.
namespace vmrun {

/// {Item, Value} in `out`, or the non-value when there is no such item. `running`: it asks about
/// itself.
Term process_info_item(Process& p, Term item, Heap& out, bool running);
/// For `what`: an item, a list of items, or `true`: those of process_info/1. The non-value when
/// there is an unknown one.
Term process_info(Process& p, Term what, Heap& out, bool running);
/// Answers for a process that another thread may be running, but not for `true`. The non-value too
/// when only the process itself can tell. Any thread.
Term process_info_now(Process& p, Term what, Heap& out);
/// An item that only erts_debug:get_internal_state/1 asks for: is_process_info does not know it.
/// Before processes run.
void add_inner_item(Term name, Term (*value)(Process& p, Heap& out));
/// Whether the answer goes through parts of the heap that native code prolongs.
bool looks_through_heap(Term what);
/// Whether `what` names known items only.
bool is_process_info(Term what);
/// All items.
std::vector<Term> process_info_items();
/// {Address, Bytes, References}
Term binary_info(Heap& out, const Binary& binary);
/// Everything the process takes, bytes.
Word process_memory_bytes(Process& p);

}  // namespace vmrun
