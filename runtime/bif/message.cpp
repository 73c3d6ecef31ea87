#include "runtime/bif/support.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/send.hpp"
#include "vm/port/operations.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/table.hpp"
#include "vm/trace/trace.hpp"

/// Sending, and registered names.
namespace vmrun {

Term bif_erlang_bang_2(Process& p, const Term* a) { return send_message(p, a[0], a[1]) ? a[1] : kNonValue; }
Term bif_erlang_send_2(Process& p, const Term* a) { return send_message(p, a[0], a[1]) ? a[1] : kNonValue; }

namespace {

/// `sent`, or `busy` in place of waiting until a port takes it.
Term send_without_waiting(Process& p, Term to, Term message, Term sent, Term busy) {
  const Destination destination = find_destination(to);
  if (destination.kind == Destination::Kind::kPort && !came_back(p))
    return send_to_port(p, destination.who, message, true) == PortSend::kBusy ? busy : sent;
  return send_message(p, to, message) ? sent : kNonValue;
}

}  // namespace

Term bif_erlang_send_3(Process& p, const Term* a) {
  bool nosuspend = false, noconnect = false;
  Term list = a[2];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == atoms::nosuspend) nosuspend = true;
    else if (list.head() == atoms::noconnect) noconnect = true;
    else return raise_badarg(p);
  }
  if (!list.is_nil()) return raise_badarg(p);
  if (noconnect && !a[0].is_port() && !came_back(p) &&
      find_destination(a[0]).kind == Destination::Kind::kElsewhere)
    return atoms::noconnect;
  if (nosuspend) return send_without_waiting(p, a[0], a[1], atoms::ok, atoms::nosuspend);
  return send_message(p, a[0], a[1]) ? atoms::ok : kNonValue;
}
Term bif_erlang_send_nosuspend_2(Process& p, const Term* a) {
  return send_without_waiting(p, a[0], a[1], atoms::true_, atoms::false_);
}
Term bif_erlang_send_nosuspend_3(Process& p, const Term* a) {
  Term list = a[2];
  while (list.is_list() && (list.head() == atoms::noconnect || list.head() == atoms::nosuspend))
    list = list.tail();
  return list.is_nil() ? bif_erlang_send_nosuspend_2(p, a) : raise_badarg(p);
}

Term bif_erlang_register_2(Process& p, const Term* a) {
  if (!a[0].is_atom() || a[0] == atoms::undefined || (!a[1].is_local_pid() && !a[1].is_local_port()))
    return raise_badarg(p);
  if (register_name(a[0], a[1]) != RegisterResult::kOk) return raise_badarg(p);
  if (a[1] == p.id) trace_procs(p, atoms::register_, a[0]);
  return atoms::true_;
}
Term bif_erlang_unregister_1(Process& p, const Term* a) {
  const bool own = a[0].is_atom() && whereis(a[0]) == p.id;
  if (!a[0].is_atom() || !unregister_name(a[0])) return raise_badarg(p);
  if (own) trace_procs(p, atoms::unregister, a[0]);
  return atoms::true_;
}
Term bif_erlang_whereis_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  const Term who = whereis(a[0]);
  if (!who) return atoms::undefined;
  return (who.is_local_port() ? port_table.find_open(who) != nullptr : process_table.find(who) != nullptr)
             ? who
             : atoms::undefined;
}
Term bif_erlang_registered_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for_each_name([](void* context, Term name) { static_cast<ListBuilder*>(context)->add(name); }, &list);
  return list.finish();
}

}  // namespace vmrun
