#include "runtime/bif/process_options.hpp"
#include "runtime/bif/support.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/signal.hpp"
#include "vm/port/port.hpp"
#include "vm/port/signals.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/table.hpp"
#include "vm/trace/trace.hpp"

/// Links, monitors, aliases.
namespace vmrun {
namespace {

Fragment* plain_signal(SignalKind kind, Term immediate) {
  Fragment* f = new_signal(kind, 0);
  f->message = immediate;
  return f;
}

/// The other side does not exist: an exit signal noproc, which without trapping shows as an error.
Term link_failed(Process& p, Term pid) {
  if (!p.trap_exit) return raise_error(p, atoms::noproc);
  Fragment* f = new_fragment(4);
  Term* hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::exit_upper, pid, atoms::noproc);
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  append_own_message(p, f);
  return atoms::true_;
}

Term monitor_term(Process& p, RefKey key, AliasMode alias) {
  Term* hp = p.heap.alloc(kAliasRefWords);
  return alias == AliasMode::kNone ? make_ref(hp, key) : make_alias_ref(hp, key, p.id);
}

Term monitor(Process& p, Term type, Term what, Term options) {
  Term tag = kNonValue;
  AliasMode alias = AliasMode::kNone;
  if (!read_monitor_options(options, &tag, &alias)) return raise_badarg(p);
  bump_reductions(p, 4);
  if (type == atoms::time_offset) {
    // The offset never changes here, so nothing will ever be reported.
    if (what != atoms::clock_service) return raise_badarg(p);
    return make_ref(p.heap);
  }
  if (type != atoms::process && type != atoms::port) return raise_badarg(p);
  const bool is_port = type == atoms::port;
  const Destination::Kind kind = find_destination(what).kind;
  if (kind == Destination::Kind::kNothing) return raise_badarg(p);
  if (kind == Destination::Kind::kElsewhere) {
    // Without distribution only a pid can be asked for; names of other nodes are refused.
    if (is_port || !what.is_pid()) return raise_badarg(p);
    return monitor_term(p, monitor_unreachable(p, what, tag, alias), alias);
  }
  if (what.is_tuple()) what = what.element(0);
  if (!what.is_atom() && !(is_port ? what.is_local_port() : what.is_local_pid())) return raise_badarg(p);
  return monitor_term(p, start_monitor(p, what, tag, alias, is_port), alias);
}

}  // namespace

Term bif_erlang_link_1(Process& p, const Term* a) {
  if (a[0].is_pid() && !a[0].is_local_pid()) return link_unreachable(p, a[0]);
  if (!a[0].is_local_pid() && !a[0].is_local_port()) return raise_badarg(p);
  if (a[0] == p.id) return atoms::true_;
  if (is_linked(p, a[0])) {
    trace_procs(p, atoms::link, a[0]);
    return atoms::true_;
  }
  bump_reductions(p, 4);
  if (a[0].is_local_port()) {
    if (!port_table.find_open(a[0])) return link_failed(p, a[0]);
    extra_of(p).links.insert(a[0], {});
    link_port(a[0], p.id);
    trace_procs(p, atoms::link, a[0]);
    return atoms::true_;
  }
  Process* q = process_table.find(a[0]);
  if (!q) return link_failed(p, a[0]);
  extra_of(p).links.insert(a[0], {});
  Fragment* f = plain_signal(SignalKind::kLink, p.id);
  if (push_signal(*q, f)) {
    trace_link(p, a[0]);
    return atoms::true_;
  }
  Fragment::destroy(f);
  p.extra->links.erase(a[0]);
  return link_failed(p, a[0]);
}

Term bif_erlang_unlink_1(Process& p, const Term* a) {
  if (!a[0].is_pid() && !a[0].is_local_port()) return raise_badarg(p);
  // An exit signal of the link that is under way finds no link any more and is dropped.
  if (!p.extra || !p.extra->links.erase(a[0])) return atoms::true_;
  trace_procs(p, atoms::unlink, a[0]);
  if (a[0].is_local_port()) {
    unlink_port(a[0], p.id);
    return atoms::true_;
  }
  if (Process* q = process_table.find(a[0])) {
    Fragment* f = plain_signal(SignalKind::kUnlink, p.id);
    if (!push_signal(*q, f)) Fragment::destroy(f);
  }
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
  const bool was_there = stop_monitor(p, ref_key(a[0]));
  if (flush && !was_there) flush_down_message(p, ref_key(a[0]));
  if (!info) return atoms::true_;
  // true only if the monitor was removed before it had anything to tell.
  return bool_term(was_there);
}

Term bif_erlang_alias_0(Process& p, const Term*) {
  const RefKey key = next_ref_key();
  extra_of(p).aliases.insert(key, AliasMode::kExplicitUnalias);
  return monitor_term(p, key, AliasMode::kExplicitUnalias);
}
Term bif_erlang_alias_1(Process& p, const Term* a) {
  AliasMode mode = AliasMode::kExplicitUnalias;
  Term list = a[0];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == atoms::explicit_unalias) mode = AliasMode::kExplicitUnalias;
    else if (list.head() == atoms::reply) mode = AliasMode::kReply;
    else return raise_badarg(p);
  }
  if (!list.is_nil()) return raise_badarg(p);
  const RefKey key = next_ref_key();
  extra_of(p).aliases.insert(key, mode);
  return monitor_term(p, key, mode);
}
Term bif_erlang_unalias_1(Process& p, const Term* a) {
  if (!a[0].is_ref()) return raise_badarg(p);
  return bool_term(a[0].is_local_ref() && p.extra && p.extra->aliases.erase(ref_key(a[0])));
}

}  // namespace vmrun
