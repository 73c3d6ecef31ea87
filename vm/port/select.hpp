#pragma once

#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Ports select descriptors; when one is ready (vm/sched/poll.hpp) the port gets a task that calls
/// ready_input or ready_output.
///
/// A descriptor stays registered level-triggered; it is taken out only when it reports again while
/// its task has not run yet. Or it is registered edge-triggered, once, by drivers that say so.
namespace vmrun {

struct Port;

/// driver_select. Holder only. 0, or -1 for what is no descriptor.
int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on);
/// driver_select for a driver that reads (writes) on in its callback until nothing more is to be
/// had, or else says with note_ready that there may be: the descriptor costs one epoll_ctl in its
/// life. Given up with driver_select and ERL_DRV_USE.
int select_by_edges(Port& p, ErlDrvEvent event, int mode, bool on);
/// Whether these directions are ready, as far as is known: before trying them outside of their
/// callback, false; afterwards true if something may be left. A task follows once they are wanted.
void note_ready(ErlDrvEvent event, int mode, bool ready);
/// driver_event: no data: no longer.
int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data);

// ---- For who looks into the machine -------------------------------------------------------------

struct SelectedDescriptors {
  Word known = 0;   // to ports, or still registered
  Word closed = 0;  // of those: no open files
  Word active = 0;  // reported, and the port has not come to it yet
  Word bytes = 0;   // what is kept of them takes
};
/// Of some moment.
SelectedDescriptors selected_descriptors();

}  // namespace vmrun
