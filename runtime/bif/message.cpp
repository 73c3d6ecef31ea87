// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/support.hpp"
#include "vm/message/links.hpp"
#include "vm/message/send.hpp"
#include "vm/port/operations.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/trace/trace.hpp"

/// Sending, and registered names.
namespace vmrun {

Term bif_erlang_bang_2(Process& p, const Term* a) { return send_message(p, a[0], a[1]) ? a[1] : kNonValue; }
Term bif_erlang_send_2(Process& p, const Term* a) { return send_message(p, a[0], a[1]) ? a[1] : kNonValue; }

namespace {

/// Returns false when the list has other options.
bool read_send_options(Term list, SendOptions* options) {
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == atoms::nosuspend) options->nosuspend = true;
    else if (list.head() == atoms::noconnect) options->noconnect = true;
    else if (is_priority_option(list.head())) options->priority = true;
    else return false;
  }
  return list.is_nil();
}

/// The result for each outcome of a send that does not wait.
struct SendAnswers {
  Term sent, busy, no_connection;
};
Term send(Process& p, Term to, Term message, SendOptions options, const SendAnswers& answers) {
  switch (send_with_options(p, to, message, options)) {
    case SendResult::kDone: return answers.sent;
    case SendResult::kBusy: return answers.busy;
    case SendResult::kNoConnection: return answers.no_connection;
    case SendResult::kWaits: return kNonValue;
    case SendResult::kTooLarge: return raise_system_limit(p);
    case SendResult::kBadArgument: break;
  }
  return raise_badarg(p);
}
constexpr SendAnswers kTrueOrFalse{atoms::true_, atoms::false_, atoms::false_};

}  // namespace

/// Called by a process that waits for a busy connection (dist/channel.hpp).
Term bif_erlang_bif_return_trap_2(Process& p, const Term* a) {
  return p.suspend_count ? yield_and_retry(p) : a[0];
}
Term bif_erts_internal_dsend_continue_trap_1(Process& p, const Term* a) {
  return bif_erlang_bif_return_trap_2(p, a);
}

Term bif_erlang_send_3(Process& p, const Term* a) {
  SendOptions options;
  if (!read_send_options(a[2], &options)) return raise_badarg(p);
  return send(p, a[0], a[1], options, {atoms::ok, atoms::nosuspend, atoms::noconnect});
}
Term send_cause(Process&, unsigned, const Term* a) {
  SendOptions options;
  return read_send_options(a[2], &options) ? kNonValue : atoms::badopt;
}
Term bif_erlang_send_nosuspend_2(Process& p, const Term* a) {
  return send(p, a[0], a[1], {.nosuspend = true}, kTrueOrFalse);
}
Term bif_erlang_send_nosuspend_3(Process& p, const Term* a) {
  SendOptions options{.nosuspend = true};
  if (!read_send_options(a[2], &options)) return raise_badarg(p);
  return send(p, a[0], a[1], options, kTrueOrFalse);
}

namespace {

bool may_be_name_of(Term name, Term who) {
  return name.is_atom() && name != atoms::undefined && (who.is_local_pid() || who.is_local_port());
}

void trace_name_of(Process& p, Term who, Term event, Term name) {
  if (who.is_local_port()) trace_port_name(who, event, name);
  else trace_name(p, who, event, name);
}

}  // namespace

Term bif_erlang_register_2(Process& p, const Term* a) {
  if (!may_be_name_of(a[0], a[1]) || register_name(a[0], a[1]) != RegisterResult::kOk) return raise_badarg(p);
  trace_name_of(p, a[1], atoms::register_, a[0]);
  return atoms::true_;
}
Term register_cause(Process&, unsigned, const Term* a) {
  static const Term has_ended = intern_atom("notalive"), has_name = intern_atom("registered_name");
  if (!may_be_name_of(a[0], a[1])) return kNonValue;
  switch (why_not_register(a[0], a[1])) {
    case RegisterResult::kNoProcess: return has_ended;
    case RegisterResult::kHasName: return has_name;
    case RegisterResult::kNameTaken:
    case RegisterResult::kOk: break;
  }
  return kNonValue;
}
Term bif_erlang_unregister_1(Process& p, const Term* a) {
  const Term who = a[0].is_atom() ? whereis(a[0]) : kNonValue;
  if (!who || !unregister_name(a[0])) return raise_badarg(p);
  trace_name_of(p, who, atoms::unregister, a[0]);
  return atoms::true_;
}
Term bif_erlang_whereis_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  const Term who = whereis(a[0]);
  if (!who) return atoms::undefined;
  if (who.is_local_pid()) return who;  // also of an ending process, while it has the name
  return receiver_of(who).is_there(who) ? who : atoms::undefined;
}
Term bif_erlang_registered_0(Process& p, const Term* a) {
  // A process or port has at most one name.
  if (came_back(p) || too_long(process_table.count() + port_table.count()))
    return run_on_dirty(p, bif_erlang_registered_0, a, 0);
  ListBuilder list(p.heap);
  for_each_name([](void* context, Term name) { static_cast<ListBuilder*>(context)->add(name); }, &list);
  return list.finish();
}

}  // namespace vmrun
