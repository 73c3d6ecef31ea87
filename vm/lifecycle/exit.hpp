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

/// Calls hook in the dying process's thread, before its links and monitors are told, until it
/// returns true. What the process leaves behind elsewhere may be so much that it takes many calls,
/// between which other processes run. Register before processes run.
void add_exit_hook(bool (*hook)(Process& p));

/// Gives back what the process has set for the whole machine as long as it lives
/// (Extra::holds_flags). Filled in by runtime/bif before main begins.
using ReleaseFlags = void (*)(Process& p);
extern constinit ReleaseFlags release_flags;

/// Sets where crash reports go. By default they are printed to standard error; the runtime sends
/// them to the process `logger` when there is one.
void set_crash_reporter(void (*reporter)(Process& p, Term reason));

}  // namespace vmrun
