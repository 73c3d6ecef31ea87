#pragma once

#include "vm/message/receiver.hpp"
#include "vm/port/port.hpp"
#include "vm/process/process.hpp"

/// What processes do to ports, in the calling process's thread. Those that return a term follow the
/// rules of built-in functions (vm/process/bif.hpp): kNonValue after an exception was raised, or to
/// be called again with the same arguments (the port was busy, or is at work and will answer).
namespace vmrun {

/// `Port ! Message`. A port that is gone takes any message.
SendResult send_to_port(Process& p, Term port, Term message, bool nosuspend = false);

/// port_command/2,3: true; false when it would have to wait and nosuspend is asked for.
Term command_port(Process& p, Port& port, Term data, bool force, bool nosuspend);
/// enif_port_command: as command_port, but never waits, and the port takes it later. p: nullptr in
/// callbacks of no process. Any thread, under ProcessPointers; p's, if there is one. False when the
/// driver does not take it.
[[nodiscard]] bool queue_command_of(Process* p, Port& port, Term data);
Term close_port_of(Process& p, Port& port);
Term connect_port(Process& p, Port& port, Term new_owner);
Term control_port(Process& p, Port& port, unsigned command, Term data);
Term call_port(Process& p, Port& port, unsigned command, Term data);
/// All items (item: the non-value) or one; [] for a name it has not got; undefined for a port that
/// is gone.
Term port_info(Process& p, Term port, Term item);
Term set_port_data(Process& p, Port& port, Term data);
Term get_port_data(Process& p, Port& port);

/// The port has got a name or lost it, to who traces the port.
void trace_port_name(Term port, Term event, Term name);
/// erlang:trace/3: true, or false when another one traces it. Takes over a reference to the tracer.
Term trace_port_of(Process& p, Port& port, bool on, std::uint32_t flags, Tracer* tracer);
/// flags, as a number, or the tracer; undefined when it is gone.
Term trace_info_of(Process& p, Port& port, Term item);

/// open_port once the driver is known: starts it. The port's id; or raises what became of it. Takes
/// over the driver's reference (acquire_driver).
struct PortOptions;
Term open_port(Process& p, struct Driver& driver, const PortOptions& options);

}  // namespace vmrun
