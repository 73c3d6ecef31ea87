#pragma once

#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Ports select descriptors; when one is ready (vm/sched/poll.hpp) the port gets a task that calls
/// ready_input or ready_output.
///
/// A descriptor stays registered level-triggered; it is taken out only when it reports again while
/// its task has not run yet.
namespace vmrun {

struct Port;

/// driver_select. Holder only. 0, or -1 for what is no descriptor.
int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on);
/// driver_event: no data: no longer.
int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data);

}  // namespace vmrun
