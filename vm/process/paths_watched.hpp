#pragma once

#include "vm/probes/fire.hpp"
#include "vm/process/process.hpp"

/// Whether probes of messages or run queues are enabled, as of the beginning of a process's slice.
/// It is kPathsWatched in Process::observed, which sending and receiving test anyway, so it costs
/// them nothing. A slice that began before the probes were enabled does not fire them, for messages
/// as for calls. Owned by the process; called by the thread that runs it.
namespace vmrun {

/// Keeps the bit set while a process runs.
class PathsWatched {
 public:
  explicit PathsWatched(Process& p) : p_(p) {
    if (probe::sending_watched() || probe::receiving_watched() || probe::run_queue_watched())
      p.observed |= kPathsWatched;
  }
  ~PathsWatched() { p_.observed &= ~kPathsWatched; }
  PathsWatched(const PathsWatched&) = delete;

 private:
  Process& p_;
};

}  // namespace vmrun
