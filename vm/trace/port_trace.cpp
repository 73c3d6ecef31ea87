// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/port_trace.hpp"

#include "vm/base/release.hpp"
#include "vm/heap/build.hpp"
#include "vm/term/bits.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

void sum_flags(PortTracing& tracing) {
  const std::uint32_t wanted = tracing.sessions ? tracing.sessions->flags() : 0;
  tracing.flags.fetch_or(wanted, std::memory_order_relaxed);
  tracing.flags.fetch_and(wanted | ~kTraceAll, std::memory_order_relaxed);
}

/// Returns a session's part; nullptr when it does not trace the port (any more).
Tracing* tracing_of(PortTracing& tracing, Word session) {
  if (!tracing.sessions || !tracing.sessions->find(session)) return nullptr;
  Tracing* t = tracing.sessions->find_alive(session);
  if (!t) sum_flags(tracing);
  return t;
}

void forget_session(PortTracing& tracing, Word session) {
  tracing.sessions->drop(session);
  sum_flags(tracing);
}

}  // namespace

bool set_port_tracing(PortTracing& tracing, Term port, const SessionRef& session, bool on,
                      std::uint32_t flags, Tracer* tracer) {
  if (on && !tracing.sessions) tracing.sessions = std::make_unique<Tracings>();
  if (!tracing.sessions) return true;
  const bool done = tracing.sessions->set(session, port, on, flags, tracer);
  sum_flags(tracing);
  return done;
}

void forget_ended_sessions(PortTracing& tracing) {
  if (!tracing.sessions) return;
  tracing.sessions->drop_ended();
  sum_flags(tracing);
  if (tracing.sessions->empty()) tracing.sessions = nullptr;
}

void trace_as_new_port(PortTracing& tracing, Term port) {
  for (const SessionRef& session : all_sessions()) {
    if (!session->new_ports.any()) continue;
    std::uint32_t flags;
    const KeptTracer tracer = session->new_ports.get(&flags);
    if (tracer.get()) set_port_tracing(tracing, port, session, true, flags, tracer.get());
  }
}

Term port_trace_info(PortTracing& tracing, Term port, Word session, Term item, Heap& out) {
  static const Term sessions = intern_atom("session");
  if (item == sessions) return tracing.sessions ? sessions_term(*tracing.sessions, out) : Term::nil();
  const Tracing* t = tracing_of(tracing, session);
  if (t && !still_traces(*t->tracer, port)) {
    forget_session(tracing, session);
    t = nullptr;
  }
  return item == atoms::tracer ? tracer_term(t ? t->tracer : nullptr, out) : Term::small(t ? t->flags : 0);
}

// ---- Events -------------------------------------------------------------------------------------

void tell_of_port(PortTracing& tracing, Term port, std::uint32_t flag, Term event, Term what, Term extra) {
  if (!tracing.sessions) return;
  tracing.sessions->each(flag, [&](const Tracing& part) {
    const Word session = part.session->number;
    if (flag == kTraceSend && release_has(Trait::kPortSendPattern) && sends_are_off(*part.session)) return;
    const Tracing* t = tracing_of(tracing, session);
    if (t && !tell(*t->tracer, {port, t->flags, event, what, extra, kNonValue}))
      forget_session(tracing, session);
  });
}

void tell_port_send(PortTracing& tracing, Term port, Term to, Term message, bool exists) {
  tell_of_port(tracing, port, kTraceSend, exists ? atoms::send : atoms::send_to_non_existing_process, message,
               to);
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
  tell_of_port(tracing, port, kTraceReceive, atoms::receive, new_tuple(arena, from, what));
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
