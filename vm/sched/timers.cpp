// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/timers.hpp"

#include "vm/base/clock.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/sched/sched_upcalls.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {
namespace {

void fire_timer(const TimerWheel::Expired& expired) {
  if (expired.message) {
    const Term pid = expired.target.is_atom() ? whereis(expired.target) : expired.target;
    if (pid) send_from_vm(pid, expired.message);
    else Fragment::destroy(expired.message);
  } else if (expired.target.is_local_port()) {
    sched_upcalls.port_timer_fired(expired.target);
  } else if (Process* p = process_table.find(expired.target)) {
    if (p->mailbox.notify()) make_runnable(*p);
  }
}

}  // namespace

[[gnu::no_stack_protector]] void fire_due_timers(Scheduler& of) {
  if (!of.timers.empty()) of.timers.advance(monotonic_tick(), fire_timer);
}

}  // namespace vmrun
