// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/destination.hpp"
#include "vm/process/process_state.hpp"

/// Links, monitors and names of a process of this node, as built-in functions and signals change
/// them. Called by the process's own thread.
namespace vmrun {

/// Answers a link of `from` to `to`, which does not exist: an exit signal noproc.
void link_failed(Term from, Term to);

void set_links(Process& a, Process& b);
bool is_linked(Process& p, Term other);
/// p is about to link to another process, which is traced too if p's flags say so. That comes
/// before the link, so that the other process reports it.
void trace_as_linked(Process& p, Term other);
/// Traces that this process or another one has got or lost a name. event is register or unregister.
void trace_name(Process& p, Term who, Term event, Term name);

/// Options of monitor/3. tag: in place of 'DOWN', or the non-value.
struct MonitorOptions {
  Term tag = kNonValue;
  AliasMode alias = AliasMode::kNone;
  bool priority = false;  // its message goes in front of ordinary ones
};

/// The result of starting a monitor. With kRefused there is no monitor, and no key.
struct StartedMonitor {
  Reached reached;
  RefKey key;
};
/// monitor(time_offset, clock_service).
RefKey watch_clock(Process& p, Term tag, AliasMode alias);
/// erlang:monitor of a port (is_port) or a process. The caller makes the reference.
StartedMonitor start_monitor(Process& p, const Destination& of, bool is_port, const MonitorOptions& options);
/// Returns whether there was such a monitor.
bool stop_monitor(Process& p, RefKey key);

}  // namespace vmrun
