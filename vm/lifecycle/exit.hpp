#pragma once

#include "vm/process/process.hpp"

/// The end of a process, and what hangs on to it.
namespace vmrun {

/// Ends p: fires process-exit, answers links and monitors, gives up name, timers and heap. `reason`
/// is the final one ({Reason,Stack} for errors, {{nocatch,T},Stack} for throws). With `report`
/// (uncaught errors and throws) the crash is logged first. The caller, who runs in p's own thread,
/// then returns RunResult::kExited at once; the scheduler frees p.
void exit_process(Process& p, Term reason, bool report);

/// A process with a great many links, monitors, messages or tables is not through when exit_process
/// returns: the scheduler goes on, a piece at a time, before it frees the structure. Of a process
/// that exits: whether there is more.
inline bool is_ending(const Process& p) { return p.extra || p.mailbox.first; }
void end_more(Process& p);

/// Calls hook in the dying process's thread, before its links and monitors are told, until it
/// returns true: what the process leaves behind elsewhere may be so much that it takes many calls,
/// between which others run. Register before processes run.
void add_exit_hook(bool (*hook)(Process& p));

/// Gives back what the process has set for the whole machine as long as it lives
/// (Extra::holds_flags). Filled in by runtime/bif before main begins.
using ReleaseFlags = void (*)(Process& p);
extern constinit ReleaseFlags release_flags;

/// Where crash reports go: by default printed to standard error; the runtime sends them to the
/// process `logger` when there is one.
void set_crash_reporter(void (*reporter)(Process& p, Term reason));

}  // namespace vmrun
