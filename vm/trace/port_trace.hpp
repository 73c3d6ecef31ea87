#pragma once

#include "vm/trace/event.hpp"

/// Tracing of ports: what is traced of a port, and by whom, belongs to whoever holds the port.
/// Without it each step of a port pays a test of the port's own flags.
namespace vmrun {

/// Bits of the same word: what erlang:system_profile wants to know of ports.
inline constexpr std::uint32_t kPortProfiled = 1u << 30, kPortProfiledExclusive = 1u << 31;

struct PortTracing {
  std::atomic<std::uint32_t> flags{0};  // those of tracing change by the holder; any thread reads
  Tracer* tracer = nullptr;             // with one of kTraceAll
  bool is_on(std::uint32_t wanted) const { return flags.load(std::memory_order_relaxed) & wanted; }
  ~PortTracing() {
    if (tracer) tracer->release();
  }
};

/// Changes what is traced; switching on needs a tracer. False when there is another one already.
bool set_port_tracing(PortTracing& tracing, Term port, bool on, std::uint32_t flags, Tracer* tracer);
/// A port that begins is traced for what all new ones are.
[[gnu::cold, gnu::noinline]] void trace_as_new_port(PortTracing& tracing, Term port);
inline void trace_new_port(PortTracing& tracing, Term port) {
  if (new_ports.any()) [[unlikely]]
    trace_as_new_port(tracing, port);
}
/// The flags as a number, or the tracer as trace_info shows it.
Term port_trace_info(PortTracing& tracing, Term port, Term item, Heap& out);

/// {trace, Port, Event, What [, Extra]}.
[[gnu::cold, gnu::noinline]] void tell_of_port(PortTracing& tracing, Term port, Term event, Term what,
                                               Term extra = kNonValue);
/// A message of the port. The patterns for messages are not asked, as in OTP.
[[gnu::cold, gnu::noinline]] void tell_port_send(PortTracing& tracing, Term port, Term to, Term message,
                                                 bool exists = true);
/// {Port, {What, Bytes}} as the answer to one who has called.
[[gnu::cold, gnu::noinline]] void tell_port_answer(PortTracing& tracing, Term port, Term to, Term what,
                                                   const char* bytes, std::size_t size);
/// {From, What}; {From, {What, Argument}}; {From, {What, Bytes}}; {From, {What, {Number, Bytes}}}.
[[gnu::cold, gnu::noinline]] void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what,
                                                    Term argument = kNonValue);
[[gnu::cold, gnu::noinline]] void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what,
                                                    const char* bytes, std::size_t size);
[[gnu::cold, gnu::noinline]] void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what,
                                                    unsigned number, const char* bytes, std::size_t size);

/// open, closed, link and so on.
inline void trace_port(PortTracing& tracing, Term port, Term event, Term what, Term extra = kNonValue) {
  if (tracing.is_on(kTracePorts)) [[unlikely]]
    tell_of_port(tracing, port, event, what, extra);
}
/// It starts running or stops. where: the operation or callback; 0: a turn of its own.
inline void trace_port_running(PortTracing& tracing, Term port, bool in, Term where = Term::small(0)) {
  if (tracing.is_on(kTraceRunningPorts)) [[unlikely]]
    tell_of_port(tracing, port, in ? atoms::in : atoms::out, where);
}

}  // namespace vmrun
