// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/system_monitor.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/bif/support.hpp"
#include "runtime/bif/trace_flags.hpp"
#include "vm/base/release.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/big.hpp"

/// erlang:system_monitor: which process gets messages, and about what. See
/// vm/trace/system_monitor.hpp.
namespace vmrun {
namespace {

constexpr Word kLeastLargeHeapWords = 16384;

Term long_message_queue() {
  static const Term name = intern_atom("long_message_queue");
  return name;
}

/// The options with a number. system_monitor/0 lists them from the last to the first, and the
/// events before them likewise.
struct Limit {
  Term name;
  Word SystemMonitor::*value;
  Word least;
};
constexpr Limit kLimits[] = {
    {atoms::long_gc, &SystemMonitor::long_gc_ms, 1},
    {atoms::long_schedule, &SystemMonitor::long_schedule_ms, 1},
    {atoms::large_heap, &SystemMonitor::large_heap_words, kLeastLargeHeapWords},
};
struct Event {
  Term name;
  bool SystemMonitor::*wanted;
};
constexpr Event kEvents[] = {{atoms::busy_port, &SystemMonitor::busy_port},
                             {atoms::busy_dist_port, &SystemMonitor::busy_dist_port}};

/// {Short, Long}: the lengths at which a queue is not long any more, and at which it is long.
bool read_queue_limits(Term value, SystemMonitor* to) {
  SWord low, high;
  if (!value.is_tuple() || value.tuple_arity() != 2 ||
      !small_in_range(value.element(0), 0, Term::kSmallMax, &low) ||
      !small_in_range(value.element(1), low + 1, Term::kSmallMax, &high))
    return false;
  to->short_queue = static_cast<Word>(low);
  to->long_queue = static_cast<Word>(high);
  return true;
}

bool is_queue_event(Term name) {
  return name == long_message_queue() && release_has(Trait::kLongMessageQueue);
}

bool read_limit(Term option, SystemMonitor* to) {
  SWord value;
  if (option.tuple_arity() != 2 || !option.element(0).is_atom()) return false;
  if (is_queue_event(option.element(0))) return read_queue_limits(option.element(1), to);
  if (!small_in_range(option.element(1), 0, Term::kSmallMax, &value)) return false;
  for (const Limit& limit : kLimits)
    if (option.element(0) == limit.name) {
      to->*limit.value = std::max(static_cast<Word>(value), limit.least);
      return true;
    }
  return false;
}

bool read_option(Term option, SystemMonitor* to) {
  if (option.is_tuple()) return read_limit(option, to);
  if (!option.is_atom()) return false;
  for (const Event& event : kEvents)
    if (option == event.name) {
      to->*event.wanted = true;
      return true;
    }
  return false;
}

/// Reads what a session's monitor changes: {Event, Value}, with false for what is not wanted.
bool read_change(Term change, SystemMonitor* to) {
  if (!change.is_tuple() || change.tuple_arity() != 2) return false;
  const Term name = change.element(0), value = change.element(1);
  for (const Event& event : kEvents)
    if (name == event.name) {
      to->*event.wanted = value == atoms::true_;
      return value == atoms::true_ || value == atoms::false_;
    }
  if (value != atoms::false_) return read_limit(change, to);
  for (const Limit& limit : kLimits)
    if (name == limit.name) {
      to->*limit.value = 0;
      return true;
    }
  if (!is_queue_event(name)) return false;
  to->long_queue = to->short_queue = 0;
  return true;
}

/// Reads a list by that function. Returns false when it is no list of what the function reads.
bool read_all(Term list, bool (*read)(Term, SystemMonitor*), SystemMonitor* to) {
  for (; list.is_list(); list = list.tail())
    if (!read(list.head(), to)) return false;
  return list.is_nil();
}

/// {Pid, Options} or undefined.
Term monitor_term(Process& p, const SystemMonitor& m) {
  return m.to ? new_tuple(p.heap, m.to, monitor_options(p, m)) : atoms::undefined;
}

constexpr Word kDefaultSession = 0;

Term set_monitor(Process& p, Term to, Term options, Word session = kDefaultSession) {
  SystemMonitor wanted;
  if (to != atoms::undefined && !options.is_nil()) {
    wanted.to = to;
    if (!to.is_local_pid() || !process_table.find(to) || !read_all(options, read_option, &wanted))
      return raise_badarg(p);
  }
  return monitor_term(p, set_system_monitor(session, wanted));
}

/// A session that has ended meanwhile keeps no monitor.
void drop_if_ended(const TraceSession& session) {
  if (!session.is_alive.load(std::memory_order_acquire)) set_system_monitor(session.number, {});
}

Term legacy() {
  static const Term name = intern_atom("legacy");
  return name;
}

}  // namespace

Term monitor_options(Process& p, const SystemMonitor& m) {
  ListBuilder list(p.heap);
  for (std::size_t i = std::size(kEvents); i-- > 0;)
    if (m.*kEvents[i].wanted) list.add(kEvents[i].name);
  for (std::size_t i = std::size(kLimits); i-- > 0;)
    if (const Word value = m.*kLimits[i].value)
      list.add(new_tuple(p.heap, kLimits[i].name, Term::small(static_cast<SWord>(value))));
  if (m.long_queue)
    list.add(new_tuple(p.heap, long_message_queue(),
                       new_tuple(p.heap, Term::small(static_cast<SWord>(m.short_queue)),
                                 Term::small(static_cast<SWord>(m.long_queue)))));
  return list.finish();
}

Term bif_erlang_system_monitor_0(Process& p, const Term*) {
  return monitor_term(p, system_monitor(kDefaultSession));
}
Term bif_erlang_system_monitor_1(Process& p, const Term* a) {
  if (a[0] == atoms::undefined) return set_monitor(p, a[0], Term::nil());
  if (!a[0].is_tuple() || a[0].tuple_arity() != 2) return raise_badarg(p);
  return set_monitor(p, a[0].element(0), a[0].element(1));
}
Term bif_erlang_system_monitor_2(Process& p, const Term* a) { return set_monitor(p, a[0], a[1]); }

/// The monitor of a session, or of the default session: legacy.
Term bif_erts_internal_system_monitor_1(Process& p, const Term* a) {
  if (a[0] == legacy()) return monitor_term(p, system_monitor(kDefaultSession));
  const SessionRef session = named_session(a[0]);
  return session ? monitor_term(p, system_monitor(session->number)) : raise_badarg(p);
}

/// (legacy, Pid, Options) or (Session, session, [{Event, Value}]). The monitor of a session is its
/// tracer; one without a tracer is like legacy.
Term bif_erts_internal_system_monitor_3(Process& p, const Term* a) {
  static const Term of_session = intern_atom("session");
  if (a[0] == legacy()) return set_monitor(p, a[1], a[2]);
  const SessionRef session = named_session(a[0]);
  if (session && !session->tracer) {
    const Term before = set_monitor(p, a[1], a[2], session->number);
    drop_if_ended(*session);
    return before;
  }
  if (!session || a[1] != of_session || session->tracer->to.is_atom()) return raise_badarg(p);
  SystemMonitor wanted = system_monitor(session->number);
  if (!read_all(a[2], read_change, &wanted)) return raise_badarg(p);
  wanted.to = session->tracer->to;
  set_system_monitor(session->number, wanted);
  drop_if_ended(*session);
  return atoms::ok;
}
Term no_cause(Process&, unsigned, const Term*) { return kNonValue; }

}  // namespace vmrun
