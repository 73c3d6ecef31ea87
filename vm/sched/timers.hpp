// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vmrun {

struct Scheduler;

/// Fires the timers that are due on `of`'s wheel. The calling scheduler, which may be another one,
/// has entered an epoch. Processes that it wakes go to its own queue.
void fire_due_timers(Scheduler& of);

}  // namespace vmrun
