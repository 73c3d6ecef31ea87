// SPDX-License-Identifier: Apache-2.0
#include "vm/message/unreachable.hpp"

namespace vmrun {

SendResult Unreachable::send(Process&, const Destination&, Term, SendOptions options) {
  return options.noconnect ? SendResult::kNoConnection : SendResult::kDone;
}

Reached Unreachable::link(Term to, Term from, std::uint32_t) {
  receiver_of(from).exit(from,
                         {.from = to, .reason = atoms::noconnection, .by_link = true, .fires_probe = false});
  return Reached::kYes;
}

Reached Unreachable::monitor(Term to, Term watcher, RefKey key, Term) {
  receiver_of(watcher).down(watcher,
                            {.key = key, .object = to, .name = Term::nil(), .reason = atoms::noconnection});
  return Reached::kYes;
}

/// The signal is lost, like a message.
Reached Unreachable::group_leader(Term, Term) { return Reached::kYes; }

constinit Unreachable unreachable;

}  // namespace vmrun
