// SPDX-License-Identifier: Apache-2.0
#include "vm/process/priority_boost.hpp"

namespace vmrun {

bool has_question(const Process& p) {
  if (p.deferred_requests) return true;
  for (const Fragment* f = p.mailbox.newest_arrival(); f; f = f->next)
    if (f->kind == static_cast<Word>(SignalKind::kRequest)) return true;
  return false;
}

void end_boost(Process& p) {
  p.priority = p.own_priority.load(std::memory_order_relaxed);
  // The priority is stored after its request. So either the request is seen below, or the priority
  // is stored after this exchange, and then its asker has the schedulers scan their queues.
  const std::uint8_t asked = p.requested_priority.exchange(0, std::memory_order_acq_rel);
  if (asked > p.priority && has_question(p)) p.priority = asked;
}

void request_boost(Process& p, std::uint8_t priority) {
  std::uint8_t asked = p.requested_priority.load(std::memory_order_relaxed);
  while (asked < priority && !p.requested_priority.compare_exchange_weak(
                                 asked, priority, std::memory_order_seq_cst, std::memory_order_relaxed)) {}
  request_boost_scan();
}

}  // namespace vmrun
