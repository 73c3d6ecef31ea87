#pragma once

#include "vm/heap/heap.hpp"

/// What all tracing by messages shares: time stamps, and the way of an event to the process that
/// traces. Any scheduler thread.
namespace vmrun {

enum class TraceStamp : std::uint8_t { kNone, kNow, kMonotonic, kStrictMonotonic };

/// {Mega, Sec, Micro}, a monotonic time, or {MonotonicTime, UniqueInteger}. Not for kNone.
Term make_trace_stamp(Heap& heap, TraceStamp stamp);

/// Sends a copy of `event` as a message of the machine's own. False when there is no such process.
bool deliver_trace_event(Term pid, Term event);

/// How messages of the machine's own are sent (send_from_vm in message/send.hpp); filled in by
/// vm/message before main begins.
using SendTraceEvent = bool (*)(Term pid, Fragment* f);
extern constinit SendTraceEvent send_trace_event;

}  // namespace vmrun
