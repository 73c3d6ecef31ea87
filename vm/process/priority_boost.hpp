// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"
#include "vm/process/process_upcalls.hpp"

/// Priority inheritance. A process that is asked something by one of higher priority
/// (message/request.hpp) answers at the asker's priority; otherwise the asker would wait for every
/// process between the two. The boosted process waits on the queue of that priority until it has
/// answered. It does nothing else there: the boost ends before it runs.
///
/// A boost costs nothing unless a request is pending: the scheduler reads Process::priority, the
/// number of the queue, and the boost ends where the request is answered.
///
/// The asker does not know which queue the process waits on. If the process was parked, the asker
/// owns it now and boosts it. Otherwise the asker stores its priority in requested_priority, after
/// the request itself, and asks all schedulers to scan their queues (request_boost_scan). A thread
/// that moves a process from one scheduler to another checks that process itself, so none is
/// missed.
namespace vmrun {

inline bool is_boosted(const Process& p) {
  return p.priority != p.own_priority.load(std::memory_order_relaxed);
}

/// Whether p has a request that it has not answered. The caller owns p.
bool has_question(const Process& p);

/// Raises p's priority as far as has been requested. The caller owns p and is about to enqueue it.
inline void boost_as_requested(Process& p) {
  const std::uint8_t asked = p.requested_priority.load(std::memory_order_seq_cst);
  if (asked > p.priority && has_question(p)) [[unlikely]]
    p.priority = asked;
}

/// Restores the priority of p, which has answered. Requests that came meanwhile may boost it again.
/// The caller owns p.
void end_boost(Process& p);

/// Asks for a boost to `priority`, the caller's own. The caller has pushed a request into p's
/// mailbox and has not woken p.
void request_boost(Process& p, std::uint8_t priority);

/// Has every scheduler call boost_as_requested for the processes on its queue, between two slices,
/// before it picks the next one. Defined in vm/sched/scheduler.cpp.
inline void request_boost_scan() { process_upcalls.request_boost_scan(); }

}  // namespace vmrun
