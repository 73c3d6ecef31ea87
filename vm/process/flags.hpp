// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The bits of Process::observed, each with the header that says what it means. What makes a
/// process pay for something unusual stands in this one word, so that the usual process pays one
/// test for all of it: when it sends, when it receives, where a slice begins. Owned by the process.
namespace vmrun {

enum ObservedFlag : std::uint32_t {
  kHasToken = 1u << 0,       // a sequential-trace token: trace_state.hpp
  kHasTag = 1u << 1,         // a user tag of dyntrace: trace_state.hpp
  kCallsUnderWay = 1u << 2,  // calls of watched functions have not ended: trace/calls_under_way.hpp
  kTagSpreading = 1u << 3,   // the tag goes along with messages: trace_state.hpp
  kAwaitsReturns = 1u << 4,  // of traced calls: trace/call_trace.hpp
  kSavesCalls = 1u << 6,     // trace/saved_calls.hpp
  kHibernates = 1u << 7,     // and has given up the least size of its heap: lifecycle/gc.hpp

  // What erlang:trace traces: trace/event.hpp. Ports have these bits, too (trace/port_trace.hpp).
  kTraceSchedulerId = 1u << 5,
  kTraceSend = 1u << 8,
  kTraceReceive = 1u << 9,
  kTraceProcs = 1u << 10,
  kTracePorts = 1u << 11,
  kTraceRunning = 1u << 12,
  kTraceRunningProcs = 1u << 13,
  kTraceRunningPorts = 1u << 14,
  kTraceExiting = 1u << 15,
  kTraceGc = 1u << 16,
  kTraceCall = 1u << 17,
  kTraceReturnTo = 1u << 18,
  kTraceArity = 1u << 19,
  kTraceSilent = 1u << 20,
  kTraceSetOnSpawn = 1u << 21,
  kTraceSetOnFirstSpawn = 1u << 22,
  kTraceSetOnLink = 1u << 23,
  kTraceSetOnFirstLink = 1u << 24,
  kTraceNow = 1u << 25,
  kTraceStrictMonotonic = 1u << 26,
  kTraceMonotonic = 1u << 27,

  kStackDeep = 1u << 28,         // deep_stack.hpp
  kWaitObserved = 1u << 29,      // Process::runnable_since is in use: sched/run_queue_wait.hpp
  kPathsEnabled = 1u << 30,      // paths_enabled.hpp
  kBoundToScheduler = 1u << 31,  // Extra::bound_to counts: scheduler_binding.hpp
};

inline constexpr std::uint32_t kHasTokenOrTag = kHasToken | kHasTag;
inline constexpr std::uint32_t kTraceAll = ((1u << 28) - (1u << 8)) | kTraceSchedulerId;

}  // namespace vmrun
