// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// The end of a process, and the work that follows from it.
namespace vmrun {

/// Ends p: fires process-exit, answers links and monitors, gives up name, timers and heap. `reason`
/// is the final one ({Reason,Stack} for errors, {{nocatch,T},Stack} for throws). With `report`
/// (uncaught errors and throws) the crash is logged first. The caller runs p; it returns
/// RunResult::kExited at once, and the scheduler frees p.
void exit_process(Process& p, Term reason, bool report);

/// A process with a great many links, monitors, messages or tables has not ended when exit_process
/// returns. The scheduler goes on, a piece at a time, before it frees the structure. Returns, for a
/// process that exits, whether there is more to do.
inline bool is_ending(const Process& p) { return p.extra || p.mailbox.first; }
void end_more(Process& p);

}  // namespace vmrun
