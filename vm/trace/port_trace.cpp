// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/port_trace.hpp"

#include "vm/heap/build.hpp"
#include "vm/term/bits.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

void forget_tracer(PortTracing& tracing) {
  tracing.flags.fetch_and(~kTraceAll, std::memory_order_relaxed);
  if (!tracing.tracer) return;
  tracing.tracer->release();
  tracing.tracer = nullptr;
}

Tracer* tracer_of(PortTracing& tracing) {
  if (tracing.tracer && !is_there(*tracing.tracer)) forget_tracer(tracing);  // it has died
  return tracing.tracer;
}

std::uint32_t flags_of(const PortTracing& tracing) {
  return tracing.flags.load(std::memory_order_relaxed) & kTraceAll;
}

}  // namespace

bool set_port_tracing(PortTracing& tracing, Term port, bool on, std::uint32_t flags, Tracer* tracer) {
  if (!on) {
    tracing.flags.fetch_and(~flags, std::memory_order_relaxed);
    if (!flags_of(tracing)) forget_tracer(tracing);
    return true;
  }
  const Tracer* old = tracer_of(tracing);
  if (old && !old->same(*tracer)) {
    if (still_traces(*old, port)) return false;
    forget_tracer(tracing);
  }
  if (!tracing.tracer) tracing.tracer = tracer->retain();
  tracing.flags.fetch_or(flags, std::memory_order_relaxed);
  return true;
}

void trace_as_new_port(PortTracing& tracing, Term port) {
  std::uint32_t flags;
  const KeptTracer tracer = new_ports.get(&flags);
  if (tracer.get()) set_port_tracing(tracing, port, true, flags, tracer.get());
}

Term port_trace_info(PortTracing& tracing, Term port, Term item, Heap& out) {
  const Tracer* tracer = tracer_of(tracing);
  if (tracer && !still_traces(*tracer, port)) forget_tracer(tracing);
  return item == atoms::tracer ? tracer_term(tracing.tracer, out) : Term::small(flags_of(tracing));
}

// ---- Events -------------------------------------------------------------------------------------

void tell_of_port(PortTracing& tracing, Term port, Term event, Term what, Term extra) {
  const Tracer* tracer = tracer_of(tracing);
  if (tracer && !tell(*tracer, {port, flags_of(tracing), event, what, extra, kNonValue}))
    forget_tracer(tracing);
}

void tell_port_send(PortTracing& tracing, Term port, Term to, Term message, bool exists) {
  tell_of_port(tracing, port, exists ? atoms::send : atoms::send_to_non_existing_process, message, to);
}

void tell_port_answer(PortTracing& tracing, Term port, Term to, Term what, const char* bytes,
                      std::size_t size) {
  Arena arena;
  const Term answer = new_tuple(arena, what, make_binary(arena, bytes, size));
  tell_port_send(tracing, port, to, new_tuple(arena, port, answer));
}

void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what, Term argument) {
  Arena arena;
  if (argument) what = new_tuple(arena, what, argument);
  tell_of_port(tracing, port, atoms::receive, new_tuple(arena, from, what));
}

void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what, const char* bytes,
                       std::size_t size) {
  Arena arena;
  tell_port_receive(tracing, port, from, what, make_binary(arena, bytes, size));
}

void tell_port_receive(PortTracing& tracing, Term port, Term from, Term what, unsigned number,
                       const char* bytes, std::size_t size) {
  Arena arena;
  const Term data = make_binary(arena, bytes, size);
  tell_port_receive(tracing, port, from, what, new_tuple(arena, Term::small(number), data));
}

}  // namespace vmrun
