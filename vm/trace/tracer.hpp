#pragma once

#include <atomic>
#include <string>

#include "vm/heap/heap.hpp"

/// What all tracing by messages shares: time stamps, and the delivery of an event to the tracing
/// process. Any scheduler thread.
namespace vmrun {

enum class TraceStamp : std::uint8_t { kNone, kNow, kMonotonic, kStrictMonotonic };

/// Returns {Mega, Sec, Micro}, a monotonic time, or {MonotonicTime, UniqueInteger}. Not for kNone.
Term make_trace_stamp(Heap& heap, TraceStamp stamp);

/// While set, kNow is the processor time that the machine has used.
extern std::atomic<bool> cpu_stamps;

/// Whether the tracer, a local pid or port, exists.
bool tracer_is_there(Term to);
/// Sends a copy of `event` to a process, as a message of the machine's own, or to a port, in the
/// external format. Returns false when there is no such process or port.
bool deliver_trace_event(Term to, Term event);

/// How messages of the machine's own are sent (send_from_vm in message/send.hpp); filled in by
/// vm/message before main begins.
using SendTraceEvent = bool (*)(Term pid, Fragment* f);
extern constinit SendTraceEvent send_trace_event;

/// Ports that trace; filled in by vm/port before main begins.
struct PortTracer {
  bool (*is_there)(Term port) = [](Term) { return false; };
  bool (*send)(Term port, const std::string& bytes) = [](Term, const std::string&) { return false; };
};
extern constinit PortTracer port_tracer;

/// The number of this thread's scheduler, 0 for other threads; filled in by vm/sched before main
/// begins.
using SchedulerNumber = unsigned (*)();
extern constinit SchedulerNumber scheduler_number;

}  // namespace vmrun
