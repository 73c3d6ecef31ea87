// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/incoming.hpp"

#include <array>

#include "vm/dist/control.hpp"
#include "vm/dist/message.hpp"
#include "vm/dist/remote_spawn.hpp"
#include "vm/heap/build.hpp"
#include "vm/message/links.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/term/big.hpp"
#include "vm/trace/seq_trace.hpp"

namespace vmrun::dist {
namespace {

/// A control message that is being executed.
struct Incoming {
  const Route& route;
  const Term* e;  // its elements, the operation first
  Term token;     // nil for none
  EncodedPayload& payload;
};

bool is_remote_pid(Term t) { return t.is_pid() && !t.is_local_pid(); }

// ---- Messages -----------------------------------------------------------------------------------

void deliver(const Incoming& in, Term to) {
  if (Process* p = process_table.find(to)) give_message(*p, in.route, in.payload, in.token, Term::nil());
}

bool send(const Incoming& in) {
  if (in.e[2].is_local_pid()) deliver(in, in.e[2]);
  return in.e[2].is_pid();
}

bool reg_send(const Incoming& in) {
  if (!in.e[1].is_pid() || !in.e[3].is_atom()) return false;
  const Term to = whereis(in.e[3]);
  if (to && to.is_local_pid()) deliver(in, to);
  return true;
}

/// Whether an alias is one of this node, and not of an earlier life of it.
bool is_alias_here(Term ref) { return ref.is_local_ref() && is_alias(ref); }

void deliver_to_alias(const Incoming& in, Term alias, bool priority) {
  if (!is_alias_here(alias)) return;
  Process* p = process_table.find(ref_of(alias)->owner);
  if (p) give_message(*p, in.route, in.payload, in.token, alias, priority);
}

bool alias_send(const Incoming& in) {
  if (in.e[2].is_ref()) deliver_to_alias(in, in.e[2], false);
  return in.e[2].is_ref();
}

// ---- Links --------------------------------------------------------------------------------------

/// Answers a link with a process of an earlier life of this node. No relation is kept for it.
void linked_nobody(const Incoming& in, Term from, Term to) {
  if (in.route.can(flag::kExitPayload))
    transmit(in.route, to, Control(Operation::kPayloadExit, to, from), atoms::noproc);
  else transmit(in.route, to, Control(Operation::kExit, to, from, atoms::noproc));
}

bool link(const Incoming& in) {
  const Term from = in.e[1], to = in.e[2];
  if (!is_remote_pid(from) || !to.is_pid()) return false;
  if (!to.is_local_pid()) return linked_nobody(in, from, to), true;
  std::uint32_t signal = 0;
  in.route.channel->change(in.route, [&](Relations& r) {
    if (r.link_from_there(to, from)) signal = in.route.channel->link_signals().leaves(to, from);
  });
  if (signal && process_receiver.link(to, from, signal) == Reached::kNobody) link_failed(from, to);
  return true;
}

/// Ends the link for the other side. Returns the number of the signal to the process; 0: there was
/// no link. Called under the channel's lock.
std::uint32_t end_link_from_there(const Incoming& in, Relations& r, Term from, Term to) {
  return r.unlink_from_there(to, from) ? in.route.channel->link_signals().leaves(to, from) : 0;
}

bool unlink(const Incoming& in) {
  const Term from = in.e[1], to = in.e[2];
  if (!is_remote_pid(from) || !to.is_pid()) return false;
  if (!to.is_local_pid()) return true;
  std::uint32_t signal = 0;
  in.route.channel->change(in.route, [&](Relations& r) { signal = end_link_from_there(in, r, from, to); });
  if (signal) process_receiver.unlink(to, from, {.own = signal});
  return true;
}

/// The link ends here at the moment when the acknowledgement is queued. A link that the process
/// requests later follows the acknowledgement. If it came before it, the other side would take it
/// for the link that it has given up.
bool unlink_id(const Incoming& in) {
  const Term id = in.e[1], from = in.e[2], to = in.e[3];
  if (!id.is_integer() || !is_remote_pid(from) || !to.is_pid()) return false;
  std::uint32_t signal = 0;
  transmit(in.route, to, Control(Operation::kUnlinkIdAck, id, to, from), kNonValue, [&](Relations& r) {
    if (to.is_local_pid()) signal = end_link_from_there(in, r, from, to);
    return true;
  });
  if (signal) process_receiver.unlink(to, from, {.own = signal});
  return true;
}

bool unlink_id_ack(const Incoming& in) {
  const Term id = in.e[1], from = in.e[2], to = in.e[3];
  if (!id.is_integer() || !is_remote_pid(from) || !to.is_pid()) return false;
  if (id.is_small() && to.is_local_pid())
    in.route.channel->change(in.route, [&](Relations& r) {
      r.unlink_acknowledged(to, from, static_cast<Word>(id.small_value()));
    });
  return true;
}

// ---- Ends ---------------------------------------------------------------------------------------

/// send(to, signal) sends the signal with its reason.
template <class Send>
bool exit_with(const Incoming& in, bool by_link, Send send) {
  const Term from = in.e[1], to = in.e[2];
  if (!from.is_pid() || !to.is_pid()) return false;
  if (!to.is_local_pid()) return true;
  if (by_link) {
    if (!is_remote_pid(from)) return false;
    bool was_there = false;
    in.route.channel->change(in.route, [&](Relations& r) { was_there = r.end_link(to, from); });
    if (!was_there) return true;
  }
  return send(to, {.from = from, .reason = Term::nil(), .by_link = by_link, .token = in.token});
}

template <bool kByLink>
bool exit(const Incoming& in) {
  return exit_with(in, kByLink, [&](Term to, ExitSignal signal) {
    signal.reason = in.e[in.token.is_nil() ? 3 : 4];
    process_receiver.exit(to, signal);
    return true;
  });
}
template <bool kByLink>
bool payload_exit(const Incoming& in) {
  return exit_with(in, kByLink, [&](Term to, const ExitSignal& signal) {
    return give_exit(to, in.route, in.payload, signal);
  });
}

// ---- Alternate actions --------------------------------------------------------------------------

/// Returns the flags that have a meaning. Nodes of later releases may set others, in a number of
/// any size.
bool read_altact_flags(Term t, SWord* flags) {
  if (t.is_small() && t.small_value() >= 0) return *flags = t.small_value() & 0xff, true;
  if (!t.is_boxed_sub(Term::Sub::kPosBig)) return false;
  return *flags = reinterpret_cast<const BigObject*>(t.boxed_ptr())->limbs[0] & 0xff, true;
}

bool altact_send(const Incoming& in) {
  SWord flags;
  const Term from = in.e[2];
  Term to = in.e[3];
  if (!read_altact_flags(in.e[1], &flags) || !from.is_pid()) return false;
  if (flags & kAltactName) {
    if ((flags & kAltactAlias) || !to.is_atom()) return false;
    to = whereis(to);
    if (!to || !to.is_local_pid()) return true;
  } else if (flags & kAltactAlias ? !to.is_ref() : !to.is_pid()) {
    return false;
  }
  const bool priority = flags & kAltactPriority;
  if (flags & kAltactExit) {
    if (!to.is_local_pid() && !is_alias_here(to)) return true;
    return give_exit(to, in.route, in.payload,
                     {.from = from, .reason = Term::nil(), .priority = priority, .token = in.token});
  }
  if (to.is_ref()) deliver_to_alias(in, to, priority);
  else if (to.is_local_pid()) deliver(in, to);
  return true;
}

/// {37, Flags, From, To} or {37, Flags, From, To, Token}; nodes of later releases may add elements.
bool act_on_altact(const Route& route, Term control, EncodedPayload& payload) {
  const Term* e = control.tuple_elements();
  SWord flags;
  if (payload.empty() || control.tuple_arity() < 4 || !read_altact_flags(e[1], &flags)) return false;
  if (!(flags & kAltactToken)) return altact_send({route, e, Term::nil(), payload});
  return control.tuple_arity() >= 5 && is_seq_token(e[4]) && altact_send({route, e, e[4], payload});
}

// ---- Monitors -----------------------------------------------------------------------------------

/// The answer to MonitorP when there is no such process.
void monitored_nobody(const Incoming& in, Term watcher, Term what, Term ref) {
  if (in.route.can(flag::kExitPayload))
    transmit(in.route, what, Control(Operation::kPayloadMonitorPExit, what, watcher, ref), atoms::noproc);
  else transmit(in.route, what, Control(Operation::kMonitorPExit, what, watcher, ref, atoms::noproc));
}

bool monitor(const Incoming& in) {
  const Term watcher = in.e[1], what = in.e[2], ref = in.e[3];
  if (!is_remote_pid(watcher) || !ref.is_ref() || !(what.is_atom() || what.is_pid())) return false;
  const Term to = what.is_atom() ? whereis(what) : what;
  if (!to || !to.is_local_pid()) return monitored_nobody(in, watcher, what, ref), true;
  const Term name = what.is_atom() ? what : Term::nil();
  RefKey key;
  in.route.channel->change(in.route,
                           [&](Relations& r) { key = r.monitor_from_there(watcher, ref, to, name); });
  if (key == RefKey{}) return true;
  if (process_receiver.monitor(to, watcher, key, name) == Reached::kNobody)
    receivers.remote->down(watcher, {.key = key, .object = to, .name = name, .reason = atoms::noproc});
  return true;
}

bool demonitor(const Incoming& in) {
  const Term watcher = in.e[1], ref = in.e[3];
  if (!is_remote_pid(watcher) || !ref.is_ref()) return false;
  RefKey key;
  MonitorFromThere was;
  bool was_there = false;
  in.route.channel->change(in.route,
                           [&](Relations& r) { was_there = r.end_monitor_from_there(ref, &key, &was); });
  if (!was_there) return true;
  process_receiver.demonitor(was.target, watcher, key);
  Relations::drop(was);
  return true;
}

/// send(to, signal) sends the signal with its reason.
template <class Send>
bool down_with(const Incoming& in, Send send) {
  const Term watcher = in.e[2], ref = in.e[3];
  if (!watcher.is_pid() || !ref.is_ref() || !(in.e[1].is_atom() || in.e[1].is_pid())) return false;
  if (!watcher.is_local_pid() || !ref.is_local_ref()) return true;
  MonitorFromHere was;
  bool was_there = false;
  in.route.channel->change(in.route,
                           [&](Relations& r) { was_there = r.end_monitor_from_here(ref_key(ref), &was); });
  if (!was_there) return true;
  const bool fine = send(
      was.watcher, {.key = ref_key(ref), .object = was.target, .name = Term::nil(), .reason = Term::nil()});
  drop_identifier(was.target);
  return fine;
}

bool monitor_exit(const Incoming& in) {
  return down_with(in, [&](Term to, DownSignal signal) {
    signal.reason = in.e[4];
    process_receiver.down(to, signal);
    return true;
  });
}
bool payload_monitor_exit(const Incoming& in) {
  return down_with(
      in, [&](Term to, const DownSignal& signal) { return give_down(to, in.route, in.payload, signal); });
}

// ---- Others -------------------------------------------------------------------------------------

bool group_leader(const Incoming& in) {
  const Term leader = in.e[1], to = in.e[2];
  if (!leader.is_pid() || !to.is_pid()) return false;
  if (to.is_local_pid()) process_receiver.group_leader(to, leader);
  return true;
}

bool spawn_request(const Incoming& in) { return spawn_for(in.route, in.e + 1, in.payload, in.token); }
bool spawn_reply(const Incoming& in) { return dist::spawn_answered(in.route, in.e + 1, in.token); }

struct Row {
  Operation operation;
  std::uint8_t arity;
  std::uint8_t token;  // index of the element that is the token; 0: none
  bool payload;
  bool (*act)(const Incoming&);
};
constexpr Row kRows[] = {
    {Operation::kLink, 3, 0, false, link},
    {Operation::kSend, 3, 0, true, send},
    {Operation::kExit, 4, 0, false, exit<true>},
    {Operation::kUnlink, 3, 0, false, unlink},
    {Operation::kRegSend, 4, 0, true, reg_send},
    {Operation::kGroupLeader, 3, 0, false, group_leader},
    {Operation::kExit2, 4, 0, false, exit<false>},
    {Operation::kSendTt, 4, 3, true, send},
    {Operation::kExitTt, 5, 3, false, exit<true>},
    {Operation::kRegSendTt, 5, 4, true, reg_send},
    {Operation::kExit2Tt, 5, 3, false, exit<false>},
    {Operation::kMonitorP, 4, 0, false, monitor},
    {Operation::kDemonitorP, 4, 0, false, demonitor},
    {Operation::kMonitorPExit, 5, 0, false, monitor_exit},
    {Operation::kSendSender, 3, 0, true, send},
    {Operation::kSendSenderTt, 4, 3, true, send},
    {Operation::kPayloadExit, 3, 0, true, payload_exit<true>},
    {Operation::kPayloadExitTt, 4, 3, true, payload_exit<true>},
    {Operation::kPayloadExit2, 3, 0, true, payload_exit<false>},
    {Operation::kPayloadExit2Tt, 4, 3, true, payload_exit<false>},
    {Operation::kPayloadMonitorPExit, 4, 0, true, payload_monitor_exit},
    {Operation::kSpawnRequest, 6, 0, true, spawn_request},
    {Operation::kSpawnRequestTt, 7, 6, true, spawn_request},
    {Operation::kSpawnReply, 5, 0, false, spawn_reply},
    {Operation::kSpawnReplyTt, 6, 5, false, spawn_reply},
    {Operation::kAliasSend, 3, 0, true, alias_send},
    {Operation::kAliasSendTt, 4, 3, true, alias_send},
    {Operation::kUnlinkId, 4, 0, false, unlink_id},
    {Operation::kUnlinkIdAck, 4, 0, false, unlink_id_ack},
};

constexpr auto kByNumber = [] {
  std::array<const Row*, 37> table{};
  for (const Row& row : kRows) table[static_cast<std::size_t>(row.operation)] = &row;
  return table;
}();

}  // namespace

bool act_on(const Route& route, Term control, EncodedPayload& payload) {
  if (!control.is_tuple() || control.tuple_arity() < 1 || !control.element(0).is_small()) return false;
  const auto number = static_cast<Word>(control.element(0).small_value());
  if (number == static_cast<Word>(Operation::kAltactSigSend)) return act_on_altact(route, control, payload);
  const Row* row = number < kByNumber.size() ? kByNumber[number] : nullptr;
  if (!row || control.tuple_arity() != row->arity || payload.empty() == row->payload) return false;
  const Term* e = control.tuple_elements();
  const Term token = row->token ? e[row->token] : Term::nil();
  if (row->token && !is_seq_token(token)) return false;
  return row->act({route, e, token, payload});
}

}  // namespace vmrun::dist
