// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/nodes.hpp"
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/support.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/links.hpp"
#include "vm/message/priority.hpp"
#include "vm/message/receive.hpp"
#include "vm/process/process_state.hpp"
#include "vm/trace/trace.hpp"

/// Links, monitors, aliases.
namespace vmrun {
namespace {

/// The other side does not exist: the caller gets an exit signal noproc, or an error if it does not
/// trap exits.
Term no_such_link(Process& p, Term other) {
  if (!p.trap_exit) return raise_error(p, atoms::noproc);
  // A collection before the message is received does not look into it.
  Fragment* f = new_fragment(4 + copy_size_words(other));
  const Term copy = copy_into(*f, other);
  Term* hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::exit_upper, copy, atoms::noproc);
  f->from_vm = 1;
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  unmark_priority_link(p, other) ? insert_own_message(p, f) : append_own_message(p, f);
  return atoms::true_;
}

Term monitor_term(Process& p, RefKey key, AliasMode alias) {
  Term* hp = p.heap.alloc(kAliasRefWords);
  return alias == AliasMode::kNone ? make_ref(hp, key) : make_alias_ref(hp, key, p.id);
}

bool is_monitored_kind(Term type) {
  return type == atoms::process || type == atoms::port || type == atoms::time_offset;
}

}  // namespace

Term monitor_cause(Process&, unsigned arity, const Term* a) {
  static const Term badtype = intern_atom("badtype");
  MonitorOptions options;
  if (arity == 3 && !read_monitor_options(a[2], &options)) return atoms::badopt;
  return is_monitored_kind(a[0]) ? kNonValue : badtype;
}

namespace {

Term monitor(Process& p, Term type, Term what, Term list) {
  MonitorOptions options;
  if (!read_monitor_options(list, &options)) return raise_badarg(p);
  bump_reductions(p, 4);
  if (type == atoms::time_offset) {
    if (what != atoms::clock_service) return raise_badarg(p);
    const RefKey key = watch_clock(p, options.tag, options.alias);
    if (options.priority) mark_priority_monitor(p, key);
    return monitor_term(p, key, options.alias);
  }
  if (!is_monitored_kind(type)) return raise_badarg(p);
  const bool is_port = type == atoms::port;
  const Destination whom = find_destination(what);
  // A node that is not alive does not know names on other nodes.
  if (what.is_tuple() && whom.at == receivers.remote && !counts_as_alive(p)) return raise_badarg(p);
  const StartedMonitor started = start_monitor(p, whom, is_port, options);
  return started.reached == Reached::kRefused ? raise_badarg(p) : monitor_term(p, started.key, options.alias);
}

}  // namespace

namespace {

Term link(Process& p, Term other, bool priority) {
  if (other.is_port() && is_of_former_self(other)) return no_such_link(p, other);
  if (!other.is_pid() && !other.is_local_port()) return raise_badarg(p);
  if (other == p.id) return atoms::true_;
  if (priority || (p.extra && p.extra->priority)) mark_priority_link(p, other, priority);
  if (is_linked(p, other)) {
    trace_procs(p, atoms::link, other);
    return atoms::true_;
  }
  bump_reductions(p, 4);
  trace_as_linked(p, other);
  Links& links = extra_of(p).links;
  switch (receiver_of(other).link(other, p.id, links.set(other))) {
    case Reached::kYes: trace_procs(p, atoms::link, other); return atoms::true_;
    case Reached::kNobody: links.erase(other); return no_such_link(p, other);
    case Reached::kRefused: break;
  }
  links.erase(other);
  if (priority) unmark_priority_link(p, other);
  return raise_badarg(p);
}

}  // namespace

Term bif_erlang_link_1(Process& p, const Term* a) { return link(p, a[0], false); }
Term bif_erlang_link_2(Process& p, const Term* a) {
  bool priority = false;
  if (!read_link_options(a[1], &priority)) return raise_badarg(p);
  return link(p, a[0], priority);
}
Term link_cause(Process&, unsigned, const Term* a) {
  bool priority;
  return read_link_options(a[1], &priority) ? kNonValue : atoms::badopt;
}

Term bif_erlang_unlink_1(Process& p, const Term* a) {
  if (!a[0].is_pid() && !a[0].is_local_port()) return raise_badarg(p);
  // An exit signal of the link that is already on its way is dropped, because it finds no link.
  LinkSettings known;
  if (!p.extra || !p.extra->links.give_up(a[0], &known)) return atoms::true_;
  if (p.extra->priority) unmark_priority_link(p, a[0]);
  trace_procs(p, atoms::unlink, a[0]);
  receiver_of(a[0]).unlink(a[0], p.id, known);
  return atoms::true_;
}

Term bif_erlang_monitor_2(Process& p, const Term* a) { return monitor(p, a[0], a[1], Term::nil()); }
Term bif_erlang_monitor_3(Process& p, const Term* a) { return monitor(p, a[0], a[1], a[2]); }

Term bif_erlang_demonitor_1(Process& p, const Term* a) {
  if (!a[0].is_local_ref()) return raise_badarg(p);
  stop_monitor(p, ref_key(a[0]));
  return atoms::true_;
}
Term bif_erlang_demonitor_2(Process& p, const Term* a) {
  bool flush = false, info = false;
  Term list = a[1];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == atoms::flush) flush = true;
    else if (list.head() == atoms::info) info = true;
    else return raise_badarg(p);
  }
  if (!list.is_nil() || !a[0].is_local_ref()) return raise_badarg(p);
  const RefKey key = ref_key(a[0]);
  const MonitorOut* const monitor = p.extra ? p.extra->monitors.find(key) : nullptr;
  // A monitor of the clock may have sent several messages and still be active.
  const bool of_clock = monitor && monitor->target == atoms::clock_service && monitor->name.is_nil();
  const bool was_there = stop_monitor(p, key);
  if (flush && !was_there) flush_down_message(p, key);
  while (flush && of_clock && flush_down_message(p, key)) {}
  if (!info) return atoms::true_;
  // true only if the monitor was removed before it sent a message.
  return bool_term(was_there);
}

Term bif_erlang_alias_0(Process& p, const Term*) {
  const RefKey key = next_ref_key();
  extra_of(p).aliases.insert(key, AliasMode::kExplicitUnalias);
  return monitor_term(p, key, AliasMode::kExplicitUnalias);
}
Term bif_erlang_alias_1(Process& p, const Term* a) {
  AliasMode mode = AliasMode::kExplicitUnalias;
  bool priority = false;
  Term list = a[0];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == atoms::explicit_unalias) mode = AliasMode::kExplicitUnalias;
    else if (list.head() == atoms::reply) mode = AliasMode::kReply;
    else if (is_priority_option(list.head())) priority = true;
    else return raise_badarg(p);
  }
  if (!list.is_nil()) return raise_badarg(p);
  const RefKey key = next_ref_key();
  extra_of(p).aliases.insert(key, mode);
  if (priority) mark_priority_alias(p, key);
  return monitor_term(p, key, mode);
}
Term bif_erlang_unalias_1(Process& p, const Term* a) {
  if (!a[0].is_ref()) return raise_badarg(p);
  if (!a[0].is_local_ref() || !p.extra) return atoms::false_;
  const RefKey key = ref_key(a[0]);
  if (p.extra->priority) unmark_priority_alias(p, key);
  return bool_term(p.extra->aliases.erase(key));
}

}  // namespace vmrun
