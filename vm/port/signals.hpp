#pragma once

#include "vm/port/port.hpp"

/// Signals that go to ports: what links, monitors, exits and timers do to them. Senders are
/// schedulers (or hold an EpochGuard). Each becomes a task of the port; for a port that is gone it
/// is answered as a dead process answers.
namespace vmrun {

/// As the signals of processes of these names (process/signal.hpp).
void link_port(Term port, Term pid);
void unlink_port(Term port, Term pid);
void monitor_port(Term port, Term watcher, RefKey key, Term name);
void demonitor_port(Term port, RefKey key);
/// by_link: dropped unless linked.
void send_exit_to_port(Term from, Term port, Term reason, bool by_link);
/// A process that a driver monitors has ended.
void send_down_to_port(Term port, RefKey key);
/// The timer of driver_set_timer. By a scheduler.
void port_timer_fired(Term port);
/// Closes all ports as halt does: reason killed, but what is queued is flushed. Returns when they
/// are gone. No process may run any more; not for a scheduler.
void close_all_ports();
/// Of a port that has just been published, which the caller holds: it closes with the others where
/// that has begun (a slice that had not ended, a driver's callback).
void close_if_all_are(Port& p);

}  // namespace vmrun
