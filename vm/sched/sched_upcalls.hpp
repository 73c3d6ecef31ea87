// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct Process;
struct RunnablePort;

/// What vm/sched needs of higher layers, in the thread of a scheduler.
struct SchedUpcalls {
  /// Runs what is queued for a port on the list, some at a time. Returns what that counts in
  /// reductions.
  Upcall<std::int32_t(RunnablePort& p)> run_port;
  /// The timer of driver_set_timer.
  Upcall<void(Term port)> port_timer_fired;
  /// Now and then: frees ports that epochs allow to be freed.
  Upcall<void()> reclaim_ports;
  /// Takes over a process that has left the interpreter with RunResult::kDirty.
  Upcall<void(Process& p)> run_dirty;
};
inline constinit SchedUpcalls sched_upcalls;

}  // namespace vmrun
