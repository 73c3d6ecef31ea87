// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/port/port.hpp"

/// What happens to ports but for operations of processes: signals, timers, the end of the machine.
namespace vmrun {

/// Ports as receivers (message/receiver.hpp).
class Receiver;
Receiver& port_receiver();

// Names of ports. Any scheduler.

/// Where the port keeps its name; nullptr when it is gone.
std::atomic<std::uint32_t>* port_name(Term port);
/// Sequentially consistent: false once it has begun to close.
bool port_takes_name(Term port);

/// The timer of driver_set_timer has fired. Called by a scheduler.
void port_timer_fired(Term port);
/// Closes all ports as halt does: with reason killed, but queued data are flushed. Returns when
/// they are gone. No process may run any more. Must not be called by a scheduler.
void close_all_ports();
/// Called for a port that has just been published and that the caller holds: closes it if
/// close_all_ports has begun (in a slice that had not ended, or in a driver's callback).
void close_if_all_are(Port& p);

}  // namespace vmrun
