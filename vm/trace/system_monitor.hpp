#pragma once

#include "vm/process/code_view.hpp"

/// erlang:system_monitor: one process of the whole machine is told of collections and slices that
/// take long, of large heaps, and of processes that wait for a busy port or connection. Whoever has
/// the event in hand asks whether it is wanted and hands it over; the message is sent at once, from
/// the thread of the process it is about. The monitoring process itself is never told of. Once it
/// is dead, nobody monitors. Any thread.
namespace vmrun {

/// What is wanted; 0 and false: not.
struct SystemMonitor {
  Term to;  // local pid; a non-value: nobody monitors
  Word long_gc_ms = 0, large_heap_words = 0, long_schedule_ms = 0;
  bool busy_port = false, busy_dist_port = false;
};
SystemMonitor system_monitor();
/// Returns what was wanted before.
SystemMonitor set_system_monitor(const SystemMonitor& wanted);

// ---- Events -------------------------------------------------------------------------------------

/// Whether collections matter to the monitor or to microstate accounting; read once by each.
extern std::atomic<bool> collections_monitored;
/// For tests: each takes so much longer.
extern std::atomic<Word> monitored_collections_take_ms;
/// When it begins: the time.
Word begin_monitored_collection();
/// That of p is done, or was not to be, for p is killed; its heap has its final size.
[[gnu::cold]] void end_monitored_collection(Process& p, Word begun_ns, bool killed);
/// Somebody has begun or ended to measure microstates.
void note_measured_collections();

/// p begins to wait for a busy port, or for a connection: its controller.
[[gnu::cold]] void monitor_busy_port(Process& p, Term port);
[[gnu::cold]] void monitor_busy_connection(Process& p, Term controller);

/// Whether slices, and turns of ports, are timed.
bool slices_monitored();
/// The port has been at work on one thing since then. operation: PortTask::kind.
[[gnu::cold]] void monitor_port_task(Term port, Term operation, Word begun_ns);

/// Times a slice. While slices matter, the probes' group `slice` is raised, so that they all come
/// to a cold path: that one makes one of these, other slices know nothing of it.
class SliceMonitor {
 public:
  explicit SliceMonitor(const Process& p);
  /// p is at rest again; or has_ended.
  void finish(Process& p, bool has_ended) const;

 private:
  Word begun_ns_ = 0;  // 0: nobody wants to know
  FunctionName in_;
};

}  // namespace vmrun
