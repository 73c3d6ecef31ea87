#pragma once

namespace vmrun {

struct Scheduler;

/// Fires what is due on `of`'s wheel. The calling scheduler, which may be another one, has entered
/// an epoch; processes it wakes go to its own queue.
void fire_due_timers(Scheduler& of);

}  // namespace vmrun
