// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

/// What vm/heap needs of higher layers. Any thread.
struct HeapUpcalls {
  /// The process that the calling thread works for, as probes show it; the non-value when it works
  /// for none.
  Upcall<Term()> current_process_id;
};
inline constinit HeapUpcalls heap_upcalls;

}  // namespace vmrun
