// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Ports select descriptors. When one is ready (vm/sched/poll.hpp) the port gets a task that calls
/// ready_input or ready_output.
///
/// A descriptor stays registered level-triggered. It is taken out only when it reports again while
/// its task has not run yet. Drivers can also register it edge-triggered, once.
namespace vmrun {

struct Port;

/// driver_select. Holder only. Returns 0, or -1 for what is not a descriptor.
int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on);
/// driver_select for a driver that reads (or writes) in its callback until nothing is left, or that
/// otherwise calls note_ready when something may be left. The descriptor costs one epoll_ctl in its
/// life. Given up with driver_select and ERL_DRV_USE.
int select_by_edges(Port& p, ErlDrvEvent event, int mode, bool on);
/// Tells whether these directions are ready, as far as the driver knows: false before trying them
/// outside of their callback; true afterwards if something may be left. A task follows once they
/// are wanted.
void note_ready(ErlDrvEvent event, int mode, bool ready);
/// driver_event; without data the event is not waited for any more.
int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data);

// ---- For reports about the machine --------------------------------------------------------------

struct SelectedDescriptors {
  Word known = 0;   // in use by ports, or still registered
  Word closed = 0;  // those of them that are not open files
  Word active = 0;  // reported, and the port's task has not run yet
  Word bytes = 0;   // memory for their state
};
/// Counts them; the numbers may be of different moments.
SelectedDescriptors selected_descriptors();

}  // namespace vmrun
