// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/probes/fire.hpp"
#include "vm/process/process.hpp"

/// Whether probes of messages or run queues are enabled, as of the beginning of a process's slice.
/// It is kPathsEnabled in Process::observed, which sending and receiving test anyway, so it costs
/// them nothing. A slice that began before the probes were enabled does not fire them, for messages
/// as for calls. Owned by the process; called by the thread that runs it.
namespace vmrun {

/// Keeps the bit set while a process runs.
class PathsEnabled {
 public:
  explicit PathsEnabled(Process& p) : p_(p) {
    if (probe::sending_enabled() || probe::receiving_enabled() || probe::run_queue_enabled())
      p.observed |= kPathsEnabled;
  }
  ~PathsEnabled() { p_.observed &= ~kPathsEnabled; }
  PathsEnabled(const PathsEnabled&) = delete;

 private:
  Process& p_;
};

}  // namespace vmrun
