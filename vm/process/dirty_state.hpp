#pragma once

#include "vm/process/process_state.hpp"

/// Native code of a process at work on a dirty scheduler, while the schedulers see to its signals:
/// it is killed, asked and linked to at once, however long the native code takes.
///
/// The dirty thread goes with the process's heap and registers, and with nothing else of it. The
/// rest belongs to whoever would have it if the process waited in a receive: nobody while its
/// mailbox is parked, else the scheduler that was woken. That one does nothing for which the heap
/// has to stand still: no collection, nothing joins the heap; such things wait.
///
///   kHome        the process has no native code away
///   kAway        it has
///   kWantsBack   that is done, and the dirty thread waits until a scheduler lets go of the process
///   kHandedBack  a scheduler has let go of it: it is the dirty thread's, now or when it is done
///   kLeft        the process has ended but for its memory, which the native code uses: whoever
///                finds this when it is done sees to the rest
namespace vmrun {

/// By the dirty thread: from here on schedulers see to its signals. `make_runnable` is called when
/// there are some already.
void enter_dirty(Process& p, void (*make_runnable)(Process& p));
/// By the dirty thread, when the native code is done. The process is its own again; false: it has
/// ended, and its memory has to be given back (end_more, on a scheduler).
[[nodiscard]] bool leave_dirty(Process& p);

// ---- By the scheduler that sees to its signals ----

inline bool is_running_dirty(const Process& p) { return p.wait_kind == WaitKind::kDirty; }
/// True: the native code is done, and the process belongs to the dirty thread from here on.
[[nodiscard]] bool hand_back_if_wanted(Process& p);
/// It belongs to the dirty thread from here on: its signals wait for the end of the native code.
void hand_back(Process& p);
/// A process that has ended: true when native code of it goes on, and its dirty thread does the
/// rest.
[[nodiscard]] bool leave_to_dirty_thread(Process& p);
/// The fragment's terms are the process's own from here on.
void take_over(Process& p, Fragment* f);
/// What take_over has kept joins the heap.
void let_join(Process& p);

}  // namespace vmrun
