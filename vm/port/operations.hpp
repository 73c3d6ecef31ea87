// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/receiver.hpp"
#include "vm/port/port.hpp"
#include "vm/process/process.hpp"

/// Operations of processes on ports, called in the thread that runs the process. Functions that
/// return a term follow the rules of built-in functions (vm/process/bif.hpp). They return kNonValue
/// after an exception was raised, or when they are to be called again with the same arguments: the
/// port was busy, or it is running and will answer.
namespace vmrun {

/// `Port ! Message`. A message to a port that is gone is lost.
SendResult send_to_port(Process& p, Term port, Term message, bool nosuspend = false);

/// port_command/2,3: returns true, or false when it would have to wait and nosuspend is set.
Term command_port(Process& p, Port& port, Term data, bool force, bool nosuspend);
/// enif_port_command: like command_port, but it never waits, and the port gets the command later.
/// p: nullptr in callbacks without a process. Any thread, under ProcessPointers; if there is a p,
/// the thread that runs p. Returns false when the driver does not take the command.
[[nodiscard]] bool queue_command_of(Process* p, Port& port, Term data);
Term close_port_of(Process& p, Port& port);
Term connect_port(Process& p, Port& port, Term new_owner);
Term control_port(Process& p, Port& port, unsigned command, Term data);
Term call_port(Process& p, Port& port, unsigned command, Term data);
/// Returns all items (item: the non-value) or one; [] for a name if the port has none; undefined
/// for a port that is gone.
Term port_info(Process& p, Term port, Term item);
Term set_port_data(Process& p, Port& port, Term data);
Term get_port_data(Process& p, Port& port);

bool is_open_port(Term port);
/// An event of tracing, one run of bytes, for a port that traces; it does not matter whether the
/// port is busy. False: it is gone. Any thread.
bool send_trace_event_to_port(Term port, const std::string& bytes);

/// Reports to the port's tracer that the port has got a name or lost it.
void trace_port_name(Term port, Term event, Term name);
/// erlang:trace/3 in a session: returns true, or false when another tracer traces the port. Takes
/// over a reference to the tracer.
Term trace_port_of(Process& p, Port& port, const SessionRef& session, bool on, std::uint32_t flags,
                   Tracer* tracer);
/// Returns the flags in that session, as a number, or the tracer, or the sessions; undefined when
/// the port is gone.
Term trace_info_of(Process& p, Port& port, Word session, Term item);
/// Some sessions have ended: the port's part of them is removed. Any thread.
void forget_ended_sessions_of_port(Term id);

/// Does open_port once the driver is known: starts it. Returns the port's id, or raises the reason
/// of the failure. Takes over the driver's reference (acquire_driver).
struct PortOptions;
Term open_port(Process& p, struct Driver& driver, const PortOptions& options);

}  // namespace vmrun
