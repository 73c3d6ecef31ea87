// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

class Heap;
struct Process;

/// What vm/lifecycle needs of higher layers, in the thread of the process. Those of runtime/ may
/// stay empty: a machine without it has neither tables nor a logger.
struct LifecycleUpcalls {
  // ---- A process ends; called in this order before its links and monitors are told ----
  //
  // What it leaves behind may take many calls, between which others run: true when it is done.

  /// What it has set up with monitor_node; the node's name, if it is net_kernel.
  Upcall<bool(Process& p)> leave_distribution;
  Upcall<bool(Process& p)> give_up_tables;
  Upcall<bool(Process& p)> end_connections;
  /// What it has set for the whole machine as long as it lives (Extra::holds_flags).
  Upcall<void(Process& p)> release_flags;

  // ---- Reports ----

  Upcall<void(Process& p, Term reason)> report_crash;
  /// A process has passed its max_heap_size and wants that logged.
  Upcall<void(Process& p, Word total_words)> report_max_heap;

  /// An item of process_info that only erts_debug:get_internal_state/1 asks for; the non-value:
  /// there is no such item.
  Upcall<Term(Process& p, Term name, Heap& out)> inner_item;
};
inline constinit LifecycleUpcalls lifecycle_upcalls;

}  // namespace vmrun
