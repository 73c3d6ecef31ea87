// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/code_view.hpp"

/// erlang:system_monitor and trace:system: a process or port is told of collections and slices that
/// take long, of large heaps, of long message queues, and of processes that wait for a busy port or
/// connection. Each trace session may have one such monitor, which is its tracer; that of the
/// default session is erlang:system_monitor's. The code where the event happens asks whether any
/// monitor wants it, and reports it; the message is sent at once, in the thread of the process it
/// is about. The monitoring process's own events are not reported to it. A monitor that is dead is
/// dropped. Any thread.
namespace vmrun {

/// What is wanted; 0 and false: not wanted.
struct SystemMonitor {
  Term to;  // local pid or port; a non-value: there is no monitor
  Word long_gc_ms = 0, large_heap_words = 0, long_schedule_ms = 0;
  Word long_queue = 0, short_queue = 0;  // messages at which a queue is long, and is not any more
  bool busy_port = false, busy_dist_port = false;
};
/// Returns the monitor of the session of this number.
SystemMonitor system_monitor(Word session);
/// Returns what was wanted before.
SystemMonitor set_system_monitor(Word session, const SystemMonitor& wanted);

// ---- Events -------------------------------------------------------------------------------------

/// Whether the monitor or microstate accounting wants collections. Each collection reads it once.
extern std::atomic<bool> collections_monitored;
/// For tests: each collection takes this much longer.
extern std::atomic<Word> monitored_collections_take_ms;
/// Called when a collection begins. Returns the time.
Word begin_monitored_collection();
/// Called when the collection of p is done, or is not made because p is killed. Its heap has its
/// final size.
[[gnu::cold]] void end_monitored_collection(Process& p, Word begun_ns, bool killed);
/// Called when microstates begin or end to be measured.
void note_measured_collections();

/// p begins to wait for a busy port, or for a connection with this controller.
[[gnu::cold]] void monitor_busy_port(Process& p, Term port);
[[gnu::cold]] void monitor_busy_connection(Process& p, Term controller);

/// Whether slices, and turns of ports, are timed.
bool slices_monitored();
/// The port has worked on one thing since then. operation: PortTask::kind.
[[gnu::cold]] void monitor_port_task(Term port, Term operation, Word begun_ns);

/// Whether lengths of message queues are monitored.
bool queues_monitored();
/// Called in a slice that is observed, when p has got messages, and when it has run.
[[gnu::cold, gnu::noinline]] void monitor_queue(Process& p);

/// Times a slice. While slices or queues are monitored, the group `slice` is raised, so that all
/// slices take a cold path; that path makes one of these. Other slices pay nothing for it.
class SliceMonitor {
 public:
  explicit SliceMonitor(const Process& p);
  /// Called when p does not run any more. has_ended: whether p has ended.
  void finish(Process& p, bool has_ended) const;

 private:
  Word begun_ns_ = 0;  // 0: not wanted
  FunctionName in_;
};

}  // namespace vmrun
