#pragma once

#include "vm/base/inbox.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/term.hpp"

/// What happens to a port (task.hpp says who runs it).
namespace vmrun {

struct Port;

/// What becomes of a task whose turn comes while its port is busy.
enum class WhenBusy : std::uint8_t {
  kRuns,
  kInOrder,  // waits if what its sender has sent before waits
  kWaits     // until the port is not busy
};

/// A signal of a process, or an event. Made by the sender, owned by the queue, destroyed by whoever
/// runs or drops it.
struct PortTask {
  PortTask* next = nullptr;
  Term from;       // a process's pid, or a port; the non-value for events
  Word bytes = 0;  // counted in Port::queued_bytes
  WhenBusy when_busy = WhenBusy::kInOrder;
  explicit PortTask(Term from = kNonValue) : from(from) {}
  virtual ~PortTask() = default;
  /// With the port held, which is open or closing (kClosing).
  virtual void run(Port& p) = 0;
  /// In place of run when the port is gone: answers what a dead port answers.
  virtual void drop(Term port_id) {}
  /// What long_schedule of system_monitor calls it: proc_sig, timeout, input, output, dist_cmd.
  virtual Term kind() const { return intern_atom("proc_sig"); }
};

using PortTaskInbox = Inbox<PortTask, &PortTask::next>;

}  // namespace vmrun
