// SPDX-License-Identifier: Apache-2.0
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

}  // namespace vmrun
