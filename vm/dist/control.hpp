// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/channel.hpp"
#include "vm/process/reference.hpp"

/// Control messages: their numbers, and the terms they consist of. ERTS User's Guide, "Distribution
/// Protocol", "Protocol between Connected Nodes".
namespace vmrun::dist {

enum class Operation : std::uint8_t {
  kLink = 1,
  kSend = 2,
  kExit = 3,
  kUnlink = 4,
  kRegSend = 6,
  kGroupLeader = 7,
  kExit2 = 8,
  kSendTt = 12,
  kExitTt = 13,
  kRegSendTt = 16,
  kExit2Tt = 18,
  kMonitorP = 19,
  kDemonitorP = 20,
  kMonitorPExit = 21,
  kSendSender = 22,
  kSendSenderTt = 23,
  kPayloadExit = 24,
  kPayloadExitTt = 25,
  kPayloadExit2 = 26,
  kPayloadExit2Tt = 27,
  kPayloadMonitorPExit = 28,
  kSpawnRequest = 29,
  kSpawnRequestTt = 30,
  kSpawnReply = 31,
  kSpawnReplyTt = 32,
  kAliasSend = 33,
  kAliasSendTt = 34,
  kUnlinkId = 35,
  kUnlinkIdAck = 36,
  kAltactSigSend = 37,
};

/// Bits of the second element of a kAltactSigSend: a message or an exit signal that is not an
/// ordinary one to a process. In this order: it has priority; a token is the last element; the
/// receiver is an alias, or a name, otherwise a pid; it is an exit signal.
inline constexpr SWord kAltactPriority = 1, kAltactToken = 2, kAltactAlias = 4, kAltactName = 8,
                       kAltactExit = 16;

/// Bits of the third element of a spawn reply.
inline constexpr SWord kSpawnedLinked = 1, kSpawnedMonitored = 2;

/// A control message that is being sent, on the stack of the sending thread. Its terms are only
/// read until it is encoded.
class Control {
 public:
  template <class... T>
  explicit Control(Operation operation, T... elements) {
    write(operation, elements...);
  }
  /// With a token, writes the second operation and puts the token behind the elements.
  template <class... T>
  Control(Operation without, Operation with_token, Term token, T... elements) {
    if (token.is_nil()) write(without, elements...);
    else write(with_token, elements..., token);
  }
  Control(const Control&) = delete;
  Term term() const { return term_; }

 private:
  template <class... T>
  void write(Operation operation, T... elements) {
    static_assert(sizeof...(T) + 2 <= kWords);
    Term* hp = words_;
    term_ = make_tuple(hp, Term::small(static_cast<SWord>(operation)), elements...);
  }

  static constexpr std::size_t kWords = 9;
  Term words_[kWords];
  Term term_;
};

/// A reference of this node, on the stack.
class StackRef {
 public:
  explicit StackRef(RefKey key) {
    Term* hp = words_;
    term_ = make_ref(hp, key);
  }
  StackRef(const StackRef&) = delete;
  operator Term() const { return term_; }

 private:
  Term words_[kRefWords];
  Term term_;
};

inline constexpr SWord kAllSteps = INT64_MAX;

/// Encodes, however long it takes. Returns nullptr if the message is too large.
inline std::unique_ptr<OutgoingMessage> encode_all(const Route& route, const Control& control, Term payload) {
  return encode_message(control.term(), payload, route.flags, kAllSteps).message;
}

/// Pushes what encode_all has returned. A message that is too large is not sent, and `change` is
/// not called. from: the sender of the signal, for the order.
template <class Change>
Pushed transmit(const Route& route, Term from, std::unique_ptr<OutgoingMessage> m, Change change) {
  if (!m) return Pushed::kTooLarge;
  m->sender = from.raw();
  m->is_answer = Channel::Answering::is(*route.channel);
  return route.channel->push(route, std::move(m), change);
}
template <class Change>
Pushed transmit(const Route& route, Term from, const Control& control, Term payload, Change change) {
  return transmit(route, from, encode_all(route, control, payload), change);
}
inline Pushed transmit(const Route& route, Term from, const Control& control, Term payload = kNonValue) {
  return transmit(route, from, control, payload, [](Relations&) { return true; });
}

}  // namespace vmrun::dist
