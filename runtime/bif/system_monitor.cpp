// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/system_monitor.hpp"

#include "runtime/bif/support.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/big.hpp"

/// erlang:system_monitor: which process gets messages, and about what. See
/// vm/trace/system_monitor.hpp.
namespace vmrun {
namespace {

constexpr Word kLeastLargeHeapWords = 16384;

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

bool read_limit(Term option, SystemMonitor* to) {
  SWord value;
  if (option.tuple_arity() != 2 || !option.element(0).is_atom() ||
      !small_in_range(option.element(1), 0, Term::kSmallMax, &value))
    return false;
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

/// {Pid, Options} or undefined.
Term monitor_term(Process& p, const SystemMonitor& m) {
  if (!m.to) return atoms::undefined;
  ListBuilder list(p.heap);
  for (std::size_t i = std::size(kEvents); i-- > 0;)
    if (m.*kEvents[i].wanted) list.add(kEvents[i].name);
  for (std::size_t i = std::size(kLimits); i-- > 0;)
    if (const Word value = m.*kLimits[i].value)
      list.add(new_tuple(p.heap, kLimits[i].name, Term::small(static_cast<SWord>(value))));
  return new_tuple(p.heap, m.to, list.finish());
}

Term set_monitor(Process& p, Term to, Term options) {
  SystemMonitor wanted;
  if (to != atoms::undefined && !options.is_nil()) {
    wanted.to = to;
    if (!to.is_local_pid() || !process_table.find(to) || !options.is_list()) return raise_badarg(p);
    for (; options.is_list(); options = options.tail())
      if (!read_option(options.head(), &wanted)) return raise_badarg(p);
    if (!options.is_nil()) return raise_badarg(p);
  }
  return monitor_term(p, set_system_monitor(wanted));
}

}  // namespace

Term bif_erlang_system_monitor_0(Process& p, const Term*) { return monitor_term(p, system_monitor()); }
Term bif_erlang_system_monitor_1(Process& p, const Term* a) {
  if (a[0] == atoms::undefined) return set_monitor(p, a[0], Term::nil());
  if (!a[0].is_tuple() || a[0].tuple_arity() != 2) return raise_badarg(p);
  return set_monitor(p, a[0].element(0), a[0].element(1));
}
Term bif_erlang_system_monitor_2(Process& p, const Term* a) { return set_monitor(p, a[0], a[1]); }

}  // namespace vmrun
