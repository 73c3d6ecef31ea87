#pragma once

#include "vm/port/port.hpp"

/// What happens to ports but for operations of processes: signals (signals.cpp implements
/// receivers.port, see message/receiver.hpp), timers, the end of the machine.
namespace vmrun {

/// The timer of driver_set_timer. By a scheduler.
void port_timer_fired(Term port);
/// Closes all ports as halt does: reason killed, but what is queued is flushed. Returns when they
/// are gone. No process may run any more; not for a scheduler.
void close_all_ports();
/// Of a port that has just been published, which the caller holds: it closes with the others where
/// that has begun (a slice that had not ended, a driver's callback).
void close_if_all_are(Port& p);

}  // namespace vmrun
