#pragma once

#include "vm/process/process.hpp"

/// The interpreter loop.
namespace vmrun {

struct Scheduler;

enum class RunResult {
  kYielded,    // slice used up (or asked to yield): runnable
  kWaiting,    // in receive, mailbox looked through: not runnable until something arrives
  kDirty,      // goes to a dirty scheduler with its saved registers (see nif/dirty.hpp)
  kSuspended,  // waits for something other than a message (fiber, suspend)
  kExited,     // exit_process has run; the Process may be freed by its table any time now
};

/// Runs p on this scheduler until it leaves the core. p.reductions has been set by the caller.
RunResult interpret(Scheduler& s, Process& p);

}  // namespace vmrun
