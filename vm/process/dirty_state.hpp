// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// A process that waits for a dirty scheduler, or whose native code runs there. The schedulers go
/// on handling its signals meanwhile, so it can be killed, linked to and sent requests at once,
/// however long all dirty schedulers are busy or the native code takes.
///
/// The dirty thread owns the heap and the registers of the process, and nothing else; nobody uses
/// them while the process waits for that thread. Everything else belongs to the thread that would
/// own it if the process waited in a receive: to no thread while the mailbox is parked, otherwise
/// to the scheduler that was woken. That scheduler does nothing that needs the heap: it does not
/// collect, and fragments join the heap later.
///
///   kNone        neither
///   kQueued      the process waits for a dirty thread
///   kRunning     native code runs
///   kWantsBack   the thread has taken the process, or native code has returned: the thread waits
///                for a scheduler to let go
///   kHandedBack  a scheduler has let go: the dirty thread owns the process, now or on return
///   kExited      the process has ended except for its memory, which the native code still uses, or
///                the queue; the dirty thread frees the rest when it takes it or the code returns
namespace vmrun {

/// From here on the schedulers handle p's signals. Calls `make_runnable` if some are there already.
/// state: kRunning, called by the dirty thread, or kQueued, by the scheduler that sends p there.
void enter_dirty(Process& p, DirtyState state, void (*make_runnable)(Process& p));
/// The process has been taken, or its native code has returned: p belongs to the dirty thread, all
/// of it. Returns false if p has ended; its memory must be freed then (end_more, on a scheduler).
/// Called by the dirty thread.
[[nodiscard]] bool leave_dirty(Process& p);

// ---- For the scheduler that handles the signals of such a process ----

/// Whether p is such a process.
inline bool is_with_dirty(const Process& p) { return p.wait_kind == WaitKind::kDirty; }
/// Whether it still waits for a dirty thread.
inline bool is_queued_for_dirty(const Process& p) {
  return p.dirty_state.load(std::memory_order_relaxed) == DirtyState::kQueued;
}
/// Returns true if the dirty thread wants p back: it belongs to the dirty thread from here on.
[[nodiscard]] bool hand_back_if_wanted(Process& p);
/// p belongs to the dirty thread from here on, whose work the signals wait for.
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
