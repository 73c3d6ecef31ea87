// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/outgoing.hpp"

#include "vm/base/epoch.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/dist/control.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/literal.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/unreachable.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun::dist {
namespace {

/// Makes the process that has just pushed wait if the queue is over the limit.
void mind(Pushed pushed, const Route& route, Term from,
          const Export* (*suspended_in)() = waits_in_other_signal) {
  if (pushed != Pushed::kBusy) return;
  Process* p = process_here();
  if (p && p->id == from && !p->exiting.load(std::memory_order_relaxed))
    route.channel->make_wait(*p, route, suspended_in());
}

}  // namespace

Term token_for(Process& p, Term to, Term message, const Route& route, Heap& arena) {
  if (!(p.observed & kHasToken)) return Term::nil();
  seq_trace_send(p, to, message);
  const Term token = seq_token_term(p, arena);
  if (!token.is_tuple() || (!token.element(1).is_small() && !route.can(flag::kBigSeqtraceLabels)))
    return Term::nil();
  return token;
}

namespace {

// ---- Messages -----------------------------------------------------------------------------------

Operation with_token(Operation plain) {
  switch (plain) {
    case Operation::kSend: return Operation::kSendTt;
    case Operation::kSendSender: return Operation::kSendSenderTt;
    case Operation::kRegSend: return Operation::kRegSendTt;
    default: return Operation::kAliasSendTt;
  }
}

/// `to` as a control message names it.
Term receiver_in_control(Term to) { return to.is_tuple() ? to.element(0) : to; }

Term altact_flags(Term to, SWord more) {
  return Term::small(more | (to.is_ref() ? kAltactAlias : 0) | (to.is_tuple() ? kAltactName : 0));
}

EncodedMessage encode_altact(Term from, Term to, Term message, Term token, SWord more, const Route& route,
                             SWord steps) {
  const Term flags = altact_flags(to, more | (token.is_nil() ? 0 : kAltactToken));
  constexpr Operation kSend = Operation::kAltactSigSend;
  const Control control(kSend, kSend, token, flags, from, receiver_in_control(to));
  return encode_message(control.term(), message, route.flags, steps);
}

EncodedMessage encode_ordinary(Term from, Term to, Term message, Term token, const Route& route,
                               SWord steps) {
  const auto encode = [&](Operation operation, auto... elements) {
    if (token.is_nil())
      return encode_message(Control(operation, elements...).term(), message, route.flags, steps);
    return encode_message(Control(with_token(operation), elements..., token).term(), message, route.flags,
                          steps);
  };
  if (to.is_tuple()) return encode(Operation::kRegSend, from, atoms::empty_atom, to.element(0));
  if (to.is_ref()) return encode(Operation::kAliasSend, from, to);
  if (route.can(flag::kSendSender)) return encode(Operation::kSendSender, from, to);
  return encode(Operation::kSend, atoms::empty_atom, to);
}

/// A message of priority may be the first one over the connection, whose other node is not known
/// yet: then it has both forms.
EncodedMessage encode_send(Term from, Term to, Term message, Term token, bool priority, const Route& route,
                           SWord steps) {
  if (!(priority || to.is_ref()) || !(route.can(flag::kAltactSig) || (priority && route.pending)))
    return encode_ordinary(from, to, message, token, route, steps);
  EncodedMessage altact =
      encode_altact(from, to, message, token, priority ? kAltactPriority : 0, route, steps);
  if (!route.pending || altact.how != Encoded::kWhole) return altact;
  EncodedMessage ordinary = encode_ordinary(from, to, message, token, route, steps);
  if (ordinary.how != Encoded::kWhole) return ordinary;
  altact.message->needs = flag::kAltactSig;
  altact.message->otherwise = std::move(ordinary.message);
  return altact;
}

/// `to` is the receiver as probes name it; the second probe also has its node.
[[gnu::cold, gnu::noinline]] void fire_send(Process& from, Term to, Term message, const Channel& channel) {
  const auto [label, previous, current] = SeqArguments::of_process(from);
  const Word words = size_words(message);
  if (probe::message_send_enabled()) probe::fire_message_send(from.id, to, words, label, previous, current);
  if (probe::message_send_remote_enabled())
    probe::fire_message_send_remote(from.id, channel.name, to, words, label, previous, current);
}

constexpr std::size_t kBytesPerReduction = 64;

/// Returns kWaits when there is much to encode and this is not a dirty scheduler.
SendResult send_now(Process& from, Term to, Term given, Term message, SendOptions options) {
  Channel& channel = channel_of(to);
  const Route route = options.noconnect ? channel.route() : channel.connect();
  if (!route) {
    if (options.noconnect) return SendResult::kNoConnection;
    trace_send(from, given, message);
    return SendResult::kDone;
  }
  if (options.nosuspend && route.channel->is_busy()) return SendResult::kBusy;
  if (to.is_ref() && !route.can(flag::kAlias)) return SendResult::kDone;
  EncodedMessage encoded;
  if (!(from.observed & kHasToken)) [[likely]] {
    encoded = encode_send(from.id, to, message, Term::nil(), options.priority, route, steps_here());
    if (encoded.how == Encoded::kMoreSteps) return SendResult::kWaits;
  } else {
    if (too_long(copy_size_words_here(message))) return SendResult::kWaits;
    Arena arena;
    const Term token = token_for(from, to, message, route, arena);
    encoded = encode_send(from.id, to, message, token, options.priority, route, kAllSteps);
  }
  if (encoded.how == Encoded::kTooLarge) return SendResult::kTooLarge;
  std::unique_ptr<OutgoingMessage> m = std::move(encoded.message);
  trace_send(from, given, message);
  if (probe::message_send_enabled() || probe::message_send_remote_enabled()) [[unlikely]]
    fire_send(from, to, message, *route.channel);
  bump_reductions(from, static_cast<SWord>(1 + m->bytes() / kBytesPerReduction));
  m->sender = from.id.raw();
  if (route.channel->push(route, std::move(m)) == Pushed::kBusy && !options.nosuspend)
    route.channel->make_wait(from, route, waits_in_send());
  return SendResult::kDone;
}

/// Runs on a dirty scheduler; a: [To, Given, Message, Nosuspend, Priority].
Term send_large(Process& from, const Term* a) {
  EpochGuard guard;
  look_at_leaving_literals();
  const SendOptions options{.nosuspend = a[3] == atoms::true_, .priority = a[4] == atoms::true_};
  const SendResult result = send_now(from, a[0], a[1], a[2], options);
  return result == SendResult::kTooLarge ? raise_system_limit(from) : atoms::ok;
}

}  // namespace

SendResult RemoteReceiver::send(Process& from, const Destination& to, Term message, SendOptions options) {
  if (!is_alive()) return unreachable.send(from, to, message, options);
  const SendResult result = send_now(from, to.who, to.given, message, options);
  if (result != SendResult::kWaits) return result;
  const Term args[] = {to.who, to.given, message, bool_term(options.nosuspend), bool_term(options.priority)};
  return run_on_dirty(from, send_large, args, 5).is_value() ? SendResult::kDone : SendResult::kWaits;
}

// ---- Links --------------------------------------------------------------------------------------

Reached RemoteReceiver::link(Term to, Term from, std::uint32_t setting) {
  if (is_of_former_self(to)) return Reached::kNobody;
  const Route route = channel_of(to).connect();
  const Pushed pushed =
      !route ? Pushed::kLost
             : transmit(route, from, Control(Operation::kLink, from, to), kNonValue, [&](Relations& r) {
                 route.channel->link_signals().overtake_unlinks(from, to);
                 r.link_from_here(from, to);
                 return true;
               });
  if (pushed == Pushed::kLost) {
    channel_of(to).change_link_signals([&](LinkSignals& signals) { signals.overtake_unlinks(from, to); });
    return unreachable.link(to, from, setting);
  }
  mind(pushed, route, from);
  return Reached::kYes;
}

void RemoteReceiver::unlink(Term to, Term from, LinkSettings) {
  Channel& channel = channel_of(to);
  const Route route = channel.route();
  Word id = 0;
  const bool is_connected = route && channel.change(route, [&](Relations& r) {
    channel.link_signals().overtake_links(from, to);
    id = r.unlink_from_here(from, to);
    if (id && !route.can(flag::kUnlinkId)) r.unlink_acknowledged(from, to, id);
  });
  if (!is_connected)
    channel.change_link_signals([&](LinkSignals& signals) { signals.overtake_links(from, to); });
  if (!id) return;
  const Pushed pushed =
      route.can(flag::kUnlinkId)
          ? transmit(route, from,
                     Control(Operation::kUnlinkId, Term::small(static_cast<SWord>(id)), from, to))
          : transmit(route, from, Control(Operation::kUnlink, from, to));
  mind(pushed, route, from);
}

bool link_signal_arrives(Term here, Term there, bool is_link, std::uint32_t number) {
  bool counts = true;
  channel_of(there).change_link_signals([&](LinkSignals& signals) {
    counts =
        signals.arrives(here, there, is_link ? LinkSignals::Kind::kLink : LinkSignals::Kind::kUnlink, number);
  });
  return counts;
}

// ---- Ends ---------------------------------------------------------------------------------------

namespace {

[[gnu::cold, gnu::noinline]] void fire_exit_signal(Term to, const ExitSignal& signal,
                                                   const Channel& channel) {
  Term words[3];
  Term* hp = words;
  const Term receiver = make_tuple(hp, to, channel.name);
  const auto [label, previous, current] =
      signal.carrier ? SeqArguments::of_process(*signal.carrier) : SeqArguments{};
  probe::fire_process_exit_signal_remote(signal.from, channel.name, receiver, signal.reason, label, previous,
                                         current);
}

/// The other node cannot be told of an end whose reason is too large. So the connection ends, and
/// this node is out of reach.
void end_connection(Channel& channel) {
  if (const auto connection = channel.connection()) connection->end(atoms::killed);
}

/// The four forms of each of the two operations: with or without a token, with the reason inside or
/// behind.
struct ExitOperations {
  Operation plain, with_token, payload, payload_with_token;
};
constexpr ExitOperations kLinkExit{Operation::kExit, Operation::kExitTt, Operation::kPayloadExit,
                                   Operation::kPayloadExitTt};
constexpr ExitOperations kProgramExit{Operation::kExit2, Operation::kExit2Tt, Operation::kPayloadExit2,
                                      Operation::kPayloadExit2Tt};

std::unique_ptr<OutgoingMessage> encode_exit(const Route& route, Term to, const ExitSignal& s, Term token) {
  const ExitOperations& of = s.by_link ? kLinkExit : kProgramExit;
  const bool behind = route.can(flag::kExitPayload);
  if (token.is_nil())
    return behind ? encode_all(route, Control(of.payload, s.from, to), s.reason)
                  : encode_all(route, Control(of.plain, s.from, to, s.reason), kNonValue);
  return behind ? encode_all(route, Control(of.payload_with_token, s.from, to, token), s.reason)
                : encode_all(route, Control(of.with_token, s.from, to, token, s.reason), kNonValue);
}

/// A signal of a program with priority, or to an alias. Nodes before OTP 28 take neither: the first
/// is sent to them without priority, the second not at all.
Pushed transmit_altact_exit(const Route& route, Term to, const ExitSignal& s) {
  const auto push = [&](std::unique_ptr<OutgoingMessage> m) {
    return transmit(route, s.from, std::move(m), [](Relations&) { return true; });
  };
  if (!route.pending && !route.can(flag::kAltactSig))
    return to.is_ref() ? Pushed::kSent : push(encode_exit(route, to, s, Term::nil()));
  const SWord more = kAltactExit | (s.priority ? kAltactPriority : 0);
  std::unique_ptr<OutgoingMessage> m =
      encode_altact(s.from, to, s.reason, Term::nil(), more, route, kAllSteps).message;
  if (m && route.pending) {
    m->needs = flag::kAltactSig;
    if (!to.is_ref()) m->otherwise = encode_exit(route, to, s, Term::nil());
  }
  return push(std::move(m));
}

}  // namespace

bool RemoteReceiver::exit(Term to, const ExitSignal& signal) {
  Channel& channel = channel_of(to);
  const Route route = signal.by_link ? channel.route() : channel.connect();
  if (!route) return true;
  Arena arena;
  Term token = Term::nil();
  if (signal.carrier && (signal.carrier->observed & kHasToken)) [[unlikely]] {
    const Term shown = new_tuple(arena, atoms::exit_upper, signal.from, signal.reason);
    token = token_for(*signal.carrier, to, shown, route, arena);
  }
  if (probe::process_exit_signal_remote_enabled() && signal.fires_probe) [[unlikely]]
    fire_exit_signal(to, signal, *route.channel);
  const Pushed pushed =
      !signal.by_link && (signal.priority || to.is_ref())
          ? transmit_altact_exit(route, to, signal)
          : transmit(route, signal.from, encode_exit(route, to, signal, token),
                     [&](Relations& r) { return !signal.by_link || r.end_link(signal.from, to); });
  if (pushed == Pushed::kTooLarge) {
    if (signal.by_link) end_connection(*route.channel);
    return signal.by_link;
  }
  mind(pushed, route, signal.from, waits_in_send);
  return true;
}

// ---- Monitors -----------------------------------------------------------------------------------

Reached RemoteReceiver::monitor(Term to, Term watcher, RefKey key, Term name) {
  if (is_of_former_self(to)) return Reached::kNobody;
  if (!is_alive()) return unreachable.monitor(to, watcher, key, name);
  const Route route = channel_of(to).connect();
  const StackRef ref(key);
  const Term target = receiver_in_control(to);
  const Pushed pushed =
      !route ? Pushed::kLost
             : transmit(route, watcher, Control(Operation::kMonitorP, watcher, target, Term(ref)), kNonValue,
                        [&](Relations& r) {
                          r.monitor_from_here(key, watcher, to);
                          return true;
                        });
  if (pushed == Pushed::kLost)
    receiver_of(watcher).down(watcher,
                              {.key = key, .object = to, .name = Term::nil(), .reason = atoms::noconnection});
  mind(pushed, route, watcher);
  return Reached::kYes;
}

void RemoteReceiver::demonitor(Term to, Term watcher, RefKey key) {
  const Route route = channel_of(to).route();
  if (!route) return;
  const StackRef ref(key);
  const Term target = receiver_in_control(to);
  MonitorFromHere was{};
  const Pushed pushed = transmit(route, watcher, Control(Operation::kDemonitorP, watcher, target, Term(ref)),
                                 kNonValue, [&](Relations& r) { return r.end_monitor_from_here(key, &was); });
  if (was.target) drop_identifier(was.target);
  mind(pushed, route, watcher);
}

void RemoteReceiver::down(Term to, const DownSignal& signal) {
  const Route route = channel_of(to).route();
  MonitorFromThere was{};
  bool there = false;
  if (!route || !route.channel->change(
                    route, [&](Relations& r) { there = r.end_monitor_from_there(signal.key, &was); }))
    return;
  if (!there) return;
  const Term object = signal.name.is_nil() ? signal.object : signal.name;
  const Pushed pushed =
      route.can(flag::kExitPayload)
          ? transmit(route, signal.object, Control(Operation::kPayloadMonitorPExit, object, to, was.ref),
                     signal.reason)
          : transmit(route, signal.object,
                     Control(Operation::kMonitorPExit, object, to, was.ref, signal.reason));
  if (pushed == Pushed::kTooLarge) end_connection(*route.channel);
  Relations::drop(was);
}

Reached RemoteReceiver::group_leader(Term to, Term leader) {
  const Route route = channel_of(to).connect();
  if (!route) return Reached::kYes;  // it is lost as a message would be
  Process* p = process_here();
  const Term from = p ? p->id : leader;
  mind(transmit(route, from, Control(Operation::kGroupLeader, leader, to)), route, from);
  return Reached::kYes;
}

constinit RemoteReceiver remote_receiver;

}  // namespace vmrun::dist
