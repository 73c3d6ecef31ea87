// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/own_totals.hpp"

#include "probes/attach/attach_upcalls.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/epoch.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun::attach {

d::Totals machine_totals() {
  d::Totals out;
  out.at_ns = monotonic_ns();
  for (unsigned i = 0; i < schedulers_started(); ++i) {
    const Scheduler& s = scheduler_at(i);
    const auto idle = s.idle_time.read();
    out.schedulers.push_back({s.queue_length.load(std::memory_order_relaxed), idle.elapsed_ns, idle.at_ns});
  }
  if (!attach_upcalls.each_total) return out;
  const EpochGuard guard;
  attach_upcalls.each_total([&out](const char* name, Word value, Word limit) {
    out.totals.push_back({name, value, limit});
  });
  return out;
}

}  // namespace vmrun::attach
