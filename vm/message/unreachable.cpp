#include "vm/message/unreachable.hpp"

namespace vmrun {

SendResult Unreachable::send(Process&, const Destination&, Term, SendOptions options) {
  return options.noconnect ? SendResult::kNoConnection : SendResult::kDone;
}

Reached Unreachable::link(Term to, Term from, std::uint32_t) {
  receiver_of(from).exit(from,
                         {.from = to, .reason = atoms::noconnection, .by_link = true, .announced = false});
  return Reached::kYes;
}

/// A node without a name cannot even be asked about names of others.
Reached Unreachable::monitor(Term to, Term watcher, RefKey key, Term) {
  if (!to.is_pid()) return Reached::kRefused;
  receiver_of(watcher).down(watcher,
                            {.key = key, .object = to, .name = Term::nil(), .reason = atoms::noconnection});
  return Reached::kYes;
}

/// Lost like a message.
Reached Unreachable::group_leader(Term, Term) { return Reached::kYes; }

constinit Unreachable unreachable;

}  // namespace vmrun
