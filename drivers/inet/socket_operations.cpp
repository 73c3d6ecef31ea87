// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/socket_operations.hpp"

#include <algorithm>
#include <atomic>

namespace vmrun::inet {

Deadline now_ms() { return erl_drv_monotonic_time(ERL_DRV_MSEC); }

Deadline deadline_after(std::uint32_t timeout_ms) {
  return timeout_ms == ~std::uint32_t{0} ? kNever : now_ms() + timeout_ms;
}

std::uint16_t next_operation_id() {
  static std::atomic<std::uint16_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void Operations::add(const Operation& op) {
  waiting_.push_back(op);
  timed_ += op.deadline != kNever;
}

Operation Operations::take(std::list<Operation>::iterator op) {
  const Operation taken = *op;
  waiting_.erase(op);
  timed_ -= taken.deadline != kNever;
  return taken;
}

Operation Operations::take() { return take(waiting_.begin()); }

std::optional<Operation> Operations::take_overdue(Deadline now) {
  if (!timed_) return {};
  const auto op = std::ranges::find_if(waiting_, [&](const Operation& o) { return o.deadline <= now; });
  if (op == waiting_.end()) return {};
  return take(op);
}

std::optional<Operation> Operations::take_of(const ErlDrvMonitor& monitor) {
  const auto op = std::ranges::find_if(waiting_, [&](const Operation& o) {
    return o.monitor && driver_compare_monitors(&*o.monitor, &monitor) == 0;
  });
  if (op == waiting_.end()) return {};
  return take(op);
}

Deadline Operations::earliest() const {
  Deadline first = kNever;
  if (timed_)
    for (const Operation& op : waiting_) first = std::min(first, op.deadline);
  return first;
}

}  // namespace vmrun::inet
