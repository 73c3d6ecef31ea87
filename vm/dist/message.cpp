#include "vm/dist/message.hpp"

#include "vm/base/small_limits.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/heap/fragment_space.hpp"
#include "vm/message/held_back.hpp"
#include "vm/message/signal.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/seq_trace.hpp"

namespace vmrun::dist {
namespace {

// Half a millisecond, if it is small terms.
constexpr std::size_t kBytesDecodedAtOnce = usual_or_small<std::size_t>(64 << 10, 500);
// As long, if it is one large binary, of which the packets are put together.
constexpr std::size_t kBytesJoinedAtOnce = usual_or_small<std::size_t>(4 << 20, 5000);
constexpr Word kWordsBuiltAtOnce = kBytesDecodedAtOnce;

bool is_decoded_at_once(EncodedPayload& payload) {
  return payload.bytes() <= kBytesDecodedAtOnce ||
         (payload.bytes() <= kBytesJoinedAtOnce && takes_few_words(payload, kWordsBuiltAtOnce));
}

/// As it goes from that node to its receiver. Gives the reason, and nullptr, when the payload is no
/// term.
Fragment* decode_message(Term node, const EncodedPayload& payload, Term token, Term alias,
                         const char** wrong) {
  const Word alias_words = alias.is_nil() ? 0 : 3 + kAliasRefWords;
  const DecodedPayload decoded = decode_payload(
      payload, alias_words + carried_token_words(token) + (wants_senders() ? kSenderWords : 0));
  if (!decoded.fragment) {
    *wrong = decoded.error;
    return nullptr;
  }
  Fragment& f = *decoded.fragment;
  if (alias_words) {
    Term* hp = fragment_alloc(f, alias_words);
    const Term ref = make_alias_ref(hp, ref_key(alias), ref_of(alias)->owner);
    f.message = make_tuple(hp, ref, f.message);
    f.kind = static_cast<std::uint32_t>(SignalKind::kAliasMessage);
  }
  attach_token(token, f);
  if (f.used_words < f.capacity_words && wants_senders()) put_sender(f, node);
  return &f;
}

// ---- Undecoded ----------------------------------------------------------------------------------

enum Field { kChannel, kConnection, kAlias, kPayload, kFields };

Fragment* undecoded_message(const Route& route, EncodedPayload& payload, Term token, Term alias) {
  const Word token_words = carried_token_words(token);
  FragmentSpace fragment(1 + kFields + kAliasRefWords + payload_term_words(payload) + token_words);
  const Term bytes = payload_term(fragment.space(), payload);
  Term* hp = fragment.space().alloc(kAliasRefWords + 1 + kFields);
  const Term ref = alias.is_nil() ? alias : make_alias_ref(hp, ref_key(alias), ref_of(alias)->owner);
  const Term root = make_tuple(hp, Term::small(static_cast<SWord>(route.channel->number)),
                               Term::small(static_cast<SWord>(route.connection)), ref, bytes);
  Fragment* f = fragment.finish(root, token_words);
  f->kind = static_cast<std::uint32_t>(SignalKind::kUndecoded);
  attach_token(token, *f);
  return f;
}

Fragment* decode_late(const Fragment& undecoded) {
  const Term* e = undecoded.message.tuple_elements();
  const char* wrong;
  Channel& channel = channel_at(static_cast<Word>(e[kChannel].small_value()));
  Fragment* f = decode_message(channel.name, payload_of(e[kPayload]), undecoded.token, e[kAlias], &wrong);
  if (f) return f;
  const auto from = channel.connection();
  if (from && from->number == static_cast<Word>(e[kConnection].small_value())) from->refuse(wrong);
  return nullptr;
}

[[maybe_unused]] const bool filled_in = (decode_undecoded = decode_late, true);

}  // namespace

bool give_message(Process& p, const Route& route, EncodedPayload& payload, Term token, Term alias) {
  Fragment* f;
  if (is_decoded_at_once(payload)) {
    const char* wrong;
    f = decode_message(route.channel->name, payload, token, alias, &wrong);
    if (!f) return false;
  } else {
    f = undecoded_message(route, payload, token, alias);
  }
  if (f->kind == static_cast<std::uint32_t>(SignalKind::kMessage)) (void)push_message(p, f, false);
  else if (!push_signal(p, f)) Fragment::destroy(f);
  return true;
}

}  // namespace vmrun::dist
