#include "runtime/bif/support.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/send.hpp"
#include "vm/process/table.hpp"

/// Sending, and registered names.
namespace vmrun {

Term bif_erlang_bang_2(Process& p, const Term* a) { return send_message(p, a[0], a[1]) ? a[1] : kNonValue; }
Term bif_erlang_send_2(Process& p, const Term* a) { return send_message(p, a[0], a[1]) ? a[1] : kNonValue; }
Term bif_erlang_send_3(Process& p, const Term* a) {
  Term list = a[2];
  for (; list.is_list(); list = list.tail())
    if (list.head() != atoms::nosuspend && list.head() != atoms::noconnect) return raise_badarg(p);
  if (!list.is_nil()) return raise_badarg(p);
  return send_message(p, a[0], a[1]) ? atoms::ok : kNonValue;
}

Term bif_erlang_register_2(Process& p, const Term* a) {
  if (!a[0].is_atom() || a[0] == atoms::undefined || !a[1].is_local_pid()) return raise_badarg(p);
  return register_name(a[0], a[1]) == RegisterResult::kOk ? atoms::true_ : raise_badarg(p);
}
Term bif_erlang_unregister_1(Process& p, const Term* a) {
  return a[0].is_atom() && unregister_name(a[0]) ? atoms::true_ : raise_badarg(p);
}
Term bif_erlang_whereis_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  const Term pid = whereis(a[0]);
  return pid && process_table.find(pid) ? pid : atoms::undefined;
}
Term bif_erlang_registered_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for_each_name([](void* context, Term name) { static_cast<ListBuilder*>(context)->add(name); }, &list);
  return list.finish();
}

}  // namespace vmrun
