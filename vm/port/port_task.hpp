// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/inbox.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/term.hpp"

/// Tasks of a port (task.hpp says where they run).
namespace vmrun {

struct Port;

/// What happens to a task whose turn comes while its port is busy.
enum class WhenBusy : std::uint8_t {
  kRuns,
  kInOrder,  // waits if an earlier task of its sender waits
  kWaits     // waits until the port is not busy
};

/// A signal of a process, or an event. The sender makes it, the queue owns it, and the thread that
/// runs or drops it destroys it.
struct PortTask {
  PortTask* next = nullptr;
  Term from;       // a process's pid, or a port; the non-value for events
  Word bytes = 0;  // counted in Port::queued_bytes
  WhenBusy when_busy = WhenBusy::kInOrder;
  explicit PortTask(Term from = kNonValue) : from(from) {}
  virtual ~PortTask() = default;
  /// Called with the port held; the port is open or closing (kClosing).
  virtual void run(Port& p) = 0;
  /// Called instead of run when the port is gone: answers what a dead port answers.
  virtual void drop(Term port_id) {}
  /// The name that long_schedule of system_monitor gives it: proc_sig, timeout, input, output,
  /// dist_cmd.
  virtual Term kind() const { return intern_atom("proc_sig"); }
};

using PortTaskInbox = Inbox<PortTask, &PortTask::next>;

}  // namespace vmrun
