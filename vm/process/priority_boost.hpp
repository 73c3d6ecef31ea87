#pragma once

#include "vm/process/process.hpp"

/// What a process of higher priority asks of one of lower priority (message/request.hpp) is
/// answered at the priority of who asks: else it would wait for all that is between the two. The
/// process is lifted: it waits on the queue of that priority until it has answered, and does
/// nothing else there; it is let down before it runs. Nobody pays for this who is not asked so:
/// what is looked at is Process::priority, the queue's number, and to let down belongs to
/// answering.
///
/// Who asks does not know which queue the process waits on. If that has been parked the asker has
/// it now, and lifts it. Otherwise it notes the priority in requested_priority, behind the question,
/// and asks all schedulers to look for such processes on their queues (request_boost_scan). Who has a
/// process in hand that goes from one scheduler to another looks at it itself: so none slips
/// through.
namespace vmrun {

inline bool is_boosted(const Process& p) {
  return p.priority != p.own_priority.load(std::memory_order_relaxed);
}

/// By who has p: whether there is a question that it has not answered.
bool has_question(const Process& p);

/// By who has p, and is about to put it on a queue: it is lifted as far as has been asked for.
inline void boost_as_requested(Process& p) {
  const std::uint8_t asked = p.requested_priority.load(std::memory_order_seq_cst);
  if (asked > p.priority && has_question(p)) [[unlikely]]
    p.priority = asked;
}

/// By who has p, which has answered. What has been asked meanwhile may lift it again.
void end_boost(Process& p);

/// By who has pushed a question into p's mailbox, and has not woken it: `priority` is its own.
void request_boost(Process& p, std::uint8_t priority);

/// Every scheduler is to call boost_as_requested for what waits on it: between two slices, before it
/// picks the next. vm/sched/scheduler.cpp has it.
void request_boost_scan();

}  // namespace vmrun
