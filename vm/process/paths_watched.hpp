#pragma once

#include "vm/probes/fire.hpp"
#include "vm/process/process.hpp"

/// Whether someone looks at messages or run queues, as of the beginning of a process's slice: a bit
/// of Process::observed, so that sending and receiving, which test that word anyway, pay nothing
/// for it. A slice that began before somebody looked goes on without telling of its messages, as it
/// goes on without telling of its calls. Owned by the process; called by the thread that runs it.
namespace vmrun {

/// A bit of Process::observed, above that of run_queue_wait.hpp.
inline constexpr std::uint32_t kPathsWatched = 1u << 30;

/// Holds the bit while a process runs.
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
