// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/flags.hpp"
#include "vm/trace/trace_session.hpp"

/// Tracing of ports: which sessions trace a port, and what for. Only the thread that holds the port
/// changes that. Without tracing, each step of a port costs a test of the port's own flags.
namespace vmrun {

/// Bits of the flags: what erlang:system_profile wants to know of ports.
inline constexpr std::uint32_t kPortProfiled = 1u << 30, kPortProfiledExclusive = 1u << 31;

struct PortTracing {
  // What all sessions together trace, and the bits above. The holder changes those of tracing; any
  // thread reads.
  std::atomic<std::uint32_t> flags{0};
  std::unique_ptr<Tracings> sessions;
  bool is_on(std::uint32_t wanted) const { return flags.load(std::memory_order_relaxed) & wanted; }
};

/// Changes what a session traces; switching on needs a tracer. Returns false when the port has
/// another tracer in this session already.
bool set_port_tracing(PortTracing& tracing, Term port, const SessionRef& session, bool on,
                      std::uint32_t flags, Tracer* tracer);
/// Some sessions have ended: removes their parts.
void forget_ended_sessions(PortTracing& tracing);
/// A new port is traced for what all new ports are traced for.
[[gnu::cold, gnu::noinline]] void trace_as_new_port(PortTracing& tracing, Term port);
inline void trace_new_port(PortTracing& tracing, Term port) {
  if (sessions_of_new_ports.load(std::memory_order_relaxed)) [[unlikely]]
    trace_as_new_port(tracing, port);
}
/// Returns what a session traces: the flags as a number, or the tracer as trace_info shows it. For
/// the item `session`: the sessions that trace the port.
Term port_trace_info(PortTracing& tracing, Term port, Word session, Term item, Heap& out);

/// Reports {trace, Port, Event, What [, Extra]} to the sessions that trace the port for that flag.
[[gnu::cold, gnu::noinline]] void tell_of_port(PortTracing& tracing, Term port, std::uint32_t flag,
                                               Term event, Term what, Term extra = kNonValue);
/// Reports a message of the port. The patterns for messages are not consulted, as in OTP.
[[gnu::cold, gnu::noinline]] void tell_port_send(PortTracing& tracing, Term port, Term to, Term message,
                                                 bool exists = true);
/// Reports {Port, {What, Bytes}}, the answer to a caller.
[[gnu::cold, gnu::noinline]] void tell_port_answer(PortTracing& tracing, Term port, Term to, Term what,
                                                   const char* bytes, std::size_t size);
/// Reports {From, What}; {From, {What, Argument}}; {From, {What, Bytes}}; {From, {What, {Number,
/// Bytes}}}.
[[gnu::cold, gnu::noinline]] void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what,
                                                    Term argument = kNonValue);
[[gnu::cold, gnu::noinline]] void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what,
                                                    const char* bytes, std::size_t size);
[[gnu::cold, gnu::noinline]] void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what,
                                                    unsigned number, const char* bytes, std::size_t size);

/// Reports open, closed, link and so on.
inline void trace_port(PortTracing& tracing, Term port, Term event, Term what, Term extra = kNonValue) {
  if (tracing.is_on(kTracePorts)) [[unlikely]]
    tell_of_port(tracing, port, kTracePorts, event, what, extra);
}
/// The port starts running or stops. where: the operation or callback; 0: a turn of its own.
inline void trace_port_running(PortTracing& tracing, Term port, bool in, Term where = Term::small(0)) {
  if (tracing.is_on(kTraceRunningPorts)) [[unlikely]]
    tell_of_port(tracing, port, kTraceRunningPorts, in ? atoms::in : atoms::out, where);
}

}  // namespace vmrun
