// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// A process whose native code runs on a dirty scheduler. The schedulers go on handling its signals
/// meanwhile, so it can be killed, linked to and sent requests at once, however long the native
/// code takes.
///
/// The dirty thread owns the heap and the registers of the process, and nothing else. Everything
/// else belongs to the thread that would own it if the process waited in a receive: to no thread
/// while the mailbox is parked, otherwise to the scheduler that was woken. That scheduler does
/// nothing that needs the heap: it does not collect, and fragments join the heap later.
///
///   kNone        no native code of the process runs on a dirty scheduler
///   kRunning     native code runs
///   kWantsBack   native code has returned, and the dirty thread waits for a scheduler to let go
///   kHandedBack  a scheduler has let go: the dirty thread owns the process, now or on return
///   kExited      the process has ended except for its memory, which the native code still uses;
///                the dirty thread frees the rest when the native code returns
namespace vmrun {

/// From here on the schedulers handle p's signals. Calls `make_runnable` if some are there already.
/// Called by the dirty thread.
void enter_dirty(Process& p, void (*make_runnable)(Process& p));
/// The native code has returned, and p belongs to the dirty thread again. Returns false if p has
/// ended; its memory must be freed then (end_more, on a scheduler). Called by the dirty thread.
[[nodiscard]] bool leave_dirty(Process& p);

// ---- For the scheduler that handles the signals of such a process ----

inline bool is_running_dirty(const Process& p) { return p.wait_kind == WaitKind::kDirty; }
/// Returns true if the native code has returned: p belongs to the dirty thread from here on.
[[nodiscard]] bool hand_back_if_wanted(Process& p);
/// p belongs to the dirty thread from here on. Its signals wait until the native code returns.
void hand_back(Process& p);
/// For a process that has ended. Returns true if its native code still runs; the dirty thread does
/// the rest then.
[[nodiscard]] bool leave_to_dirty_thread(Process& p);
/// p owns the terms of the fragment from here on. The fragment joins the heap at once, or in
/// let_join if native code runs.
void take_over(Process& p, Fragment* f);
/// Joins the fragments that take_over has kept to the heap.
void let_join(Process& p);

}  // namespace vmrun
