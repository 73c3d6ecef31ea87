// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/message.hpp"

#include "vm/base/small_limits.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/fragment_space.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/end_signals.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_table.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/seq_trace.hpp"

namespace vmrun::dist {
namespace {

// This takes half a millisecond for small terms.
constexpr std::size_t kBytesDecodedAtOnce = usual_or_small<std::size_t>(64 << 10, 500);
// This takes as long for one large binary, whose packets are joined.
constexpr std::size_t kBytesJoinedAtOnce = usual_or_small<std::size_t>(4 << 20, 5000);
constexpr Word kWordsBuiltAtOnce = kBytesDecodedAtOnce;

/// Decodes a message of that node for its receiver. Returns nullptr and sets *wrong when the
/// payload is not a term.
Fragment* decode_message(Term node, const EncodedPayload& payload, Term token, Term alias, bool priority,
                         const char** wrong) {
  const Word alias_words = alias.is_nil() ? 0 : (priority ? 4 : 3) + kAliasRefWords;
  const DecodedPayload decoded =
      decode_payload(payload, alias_words + token_copy_words(token) + (wants_senders() ? kSenderWords : 0));
  if (!decoded.fragment) {
    *wrong = decoded.error;
    return nullptr;
  }
  Fragment& f = *decoded.fragment;
  if (alias_words) {
    Term* hp = fragment_alloc(f, alias_words);
    const Term ref = make_alias_ref(hp, ref_key(alias), ref_of(alias)->owner);
    f.message = priority ? make_tuple(hp, ref, f.message, Term::small(kPriorityMessage))
                         : make_tuple(hp, ref, f.message);
    f.kind = static_cast<std::uint32_t>(SignalKind::kAliasMessage);
  }
  attach_token(token, f);
  if (f.used_words < f.capacity_words && wants_senders()) put_sender(f, node);
  return &f;
}

// ---- Deferred decoding --------------------------------------------------------------------------

enum Field { kNode, kChannel, kConnection, kWhat, kPayload, kFields };

/// what: nil for a message, or the reference for one to an alias, {priority, Reference} for one of
/// priority; else a signal without its reason: {'EXIT', From, ByLink}, {'EXIT', From, Alias,
/// Priority} or {'DOWN', Ref, Object}; or the number of arguments.
Fragment* undecoded(const Route& route, EncodedPayload& payload, Term token, Term what) {
  const Word room = 1 + kFields + copy_size_words(what) + token_copy_words(token);
  FragmentSpace fragment(payload_term_words(payload) + room);
  Fragment* f = fragment.finish(payload_term(fragment.space(), payload), room);
  const Term bytes = f->message, copy = copy_into(*f, what);
  Term* hp = fragment_alloc(*f, 1 + kFields);
  f->message = make_tuple(hp, route.channel->name, Term::small(static_cast<SWord>(route.channel->number)),
                          Term::small(static_cast<SWord>(route.connection)), copy, bytes);
  f->kind = static_cast<std::uint32_t>(SignalKind::kUndecoded);
  attach_token(token, *f);
  return f;
}

/// Takes the place of a message that is not a term. `wrong` must be a static text.
Fragment* undecodable(Word channel, Word connection, const char* wrong) {
  Fragment* f = new_signal(SignalKind::kUndecodable, 4);
  Term* hp = fragment_alloc(*f, 4);
  f->message =
      make_tuple(hp, Term::small(static_cast<SWord>(channel)), Term::small(static_cast<SWord>(connection)),
                 Term::small(static_cast<SWord>(reinterpret_cast<Word>(wrong))));
  return f;
}

void refuse(Word channel_number, Word connection, const char* wrong) {
  const EpochGuard guard;
  Channel* const channel = channel_at(channel_number);
  const auto from = channel ? channel->connection() : nullptr;
  if (from && from->number == connection) from->refuse(wrong);
}

}  // namespace

void refuse_late(const Fragment& undecodable) {
  const Term* e = undecodable.message.tuple_elements();
  refuse(static_cast<Word>(e[0].small_value()), static_cast<Word>(e[1].small_value()),
         reinterpret_cast<const char*>(e[2].small_value()));
}

namespace {

Fragment* with_kind(Fragment* f, SignalKind kind) {
  f->kind = static_cast<std::uint32_t>(kind);
  return f;
}

Fragment* decode_exit(Term what, const EncodedPayload& payload, Term token, const char** wrong) {
  const Term from = what.element(1), alias = what.tuple_arity() == 4 ? what.element(2) : Term::nil();
  const DecodedPayload decoded =
      decode_payload(payload, kAliasExitWords + copy_size_words(from) + token_copy_words(token));
  if (!decoded.fragment) return *wrong = decoded.error, nullptr;
  Fragment& f = *decoded.fragment;
  finish_exit_signal(f, copy_into(f, from), f.message);
  attach_token(token, f);
  if (!alias.is_nil()) {
    address_to_alias(f, ref_key(alias), ref_of(alias)->owner, what.element(3) == atoms::true_);
    return &f;
  }
  return with_kind(&f, what.element(2) == atoms::true_ ? SignalKind::kLinkExit : SignalKind::kExit);
}

Fragment* decode_down(Term what, const EncodedPayload& payload, const char** wrong) {
  const Term ref = what.element(1), object = what.element(2);
  const DecodedPayload decoded = decode_payload(payload, kDownSignalWords + copy_size_words(object));
  if (!decoded.fragment) return *wrong = decoded.error, nullptr;
  Fragment& f = *decoded.fragment;
  finish_down_signal(f, ref_key(ref), atoms::process, copy_into(f, object), f.message);
  return with_kind(&f, SignalKind::kDown);
}

/// If the arguments are malformed, the function is not called; the process is killed.
Fragment* decode_arguments(SWord count, const EncodedPayload& payload, const char** wrong) {
  const DecodedPayload decoded = decode_payload(payload, 0);
  if (decoded.fragment && list_length(decoded.fragment->message) == count)
    return with_kind(decoded.fragment, SignalKind::kArguments);
  *wrong = decoded.fragment ? "not as many arguments as were said" : decoded.error;
  if (decoded.fragment) Fragment::destroy(decoded.fragment);
  Fragment* f = new_signal(SignalKind::kExit, kExitSignalWords);
  finish_exit_signal(*f, Term::nil(), atoms::kill);
  return f;
}

}  // namespace

Fragment* decode_late(const Fragment& undecoded) {
  const Term* e = undecoded.message.tuple_elements();
  const char* wrong = nullptr;
  const EncodedPayload payload = payload_of(e[kPayload]);
  const Term what = e[kWhat];
  const bool priority = what.is_tuple() && what.element(0) == atoms::priority,
             is_message = priority || what.is_nil() || what.is_ref();
  Fragment* f = is_message                       ? decode_message(e[kNode], payload, undecoded.token,
                                            priority ? what.element(1) : what, priority, &wrong)
                : what.is_small()                ? decode_arguments(what.small_value(), payload, &wrong)
                : what.element(0) == atoms::down ? decode_down(what, payload, &wrong)
                                                 : decode_exit(what, payload, undecoded.token, &wrong);
  if (!wrong) return f;
  const Word channel = static_cast<Word>(e[kChannel].small_value()),
             connection = static_cast<Word>(e[kConnection].small_value());
  if (is_message) return undecodable(channel, connection, wrong);
  refuse(channel, connection, wrong);
  return f;
}

namespace {

void push_encoded(Process& p, const Route& route, EncodedPayload& payload, Term token, Term what) {
  Fragment* f = undecoded(route, payload, token, what);
  if (!push_signal(p, f)) Fragment::destroy(f);
}

/// The payload is signal.reason; send(signal) sends the signal. Returns false if the payload is not
/// a term.
template <class Signal, class Send>
bool send_decoded(const EncodedPayload& payload, Signal signal, Send send) {
  const DecodedPayload decoded = decode_payload(payload, 0);
  if (!decoded.fragment) return false;
  signal.reason = decoded.fragment->message;
  send(signal);
  Fragment::destroy(decoded.fragment);
  return true;
}

}  // namespace

bool is_decoded_at_once(EncodedPayload& payload) {
  return payload.bytes() <= kBytesDecodedAtOnce ||
         (payload.bytes() <= kBytesJoinedAtOnce && takes_few_words(payload, kWordsBuiltAtOnce));
}

void give_message(Process& p, const Route& route, EncodedPayload& payload, Term token, Term alias,
                  bool priority) {
  if (!is_decoded_at_once(payload)) {
    Arena arena;
    return push_encoded(p, route, payload, token,
                        priority ? new_tuple(arena, atoms::priority, alias) : alias);
  }
  const char* wrong;
  Fragment* f = decode_message(route.channel->name, payload, token, alias, priority, &wrong);
  if (!f) f = undecodable(route.channel->number, route.connection, wrong);
  if (f->kind == static_cast<std::uint32_t>(SignalKind::kMessage)) (void)push_message(p, f, false);
  else if (!push_signal(p, f)) Fragment::destroy(f);
}

bool give_exit(Term to, const Route& route, EncodedPayload& payload, ExitSignal signal) {
  // A probe of exit signals reports the reason before the receiver gets it.
  if (probe::process_exit_signal_enabled() || is_decoded_at_once(payload))
    return send_decoded(payload, signal, [&](const ExitSignal& s) {
      if (to.is_ref()) alias_receiver.exit(to, s);
      else process_receiver.exit(to, s);
    });
  if (Process* p = process_table.find(to.is_ref() ? ref_of(to)->owner : to)) {
    Arena arena;
    const Term what = to.is_ref()
                          ? new_tuple(arena, atoms::exit_upper, signal.from, to, bool_term(signal.priority))
                          : new_tuple(arena, atoms::exit_upper, signal.from, bool_term(signal.by_link));
    push_encoded(*p, route, payload, signal.token, what);
  }
  return true;
}

void give_arguments(Process& child, const Route& route, EncodedPayload& payload, SWord count) {
  push_encoded(child, route, payload, Term::nil(), Term::small(count));
}

bool give_down(Term to, const Route& route, EncodedPayload& payload, DownSignal signal) {
  if (is_decoded_at_once(payload))
    return send_decoded(payload, signal, [&](const DownSignal& s) { process_receiver.down(to, s); });
  if (Process* p = process_table.find(to)) {
    Arena arena;
    Term* hp = arena.alloc(kRefWords);
    const Term ref = make_ref(hp, signal.key);
    push_encoded(*p, route, payload, Term::nil(), new_tuple(arena, atoms::down, ref, signal.object));
  }
  return true;
}

}  // namespace vmrun::dist
