// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/channel.hpp"
#include "vm/message/receiver.hpp"

/// Receivers on other nodes: each function becomes a control message that the channel to that node
/// sends. If the node is not reachable, `unreachable` handles the call.
namespace vmrun::dist {

class RemoteReceiver final : public Receiver {
 public:
  SendResult send(Process& from, const Destination& to, Term message, SendOptions options) override;
  Reached link(Term to, Term from, std::uint32_t setting) override;
  void unlink(Term to, Term from, LinkSettings known) override;
  bool exit(Term to, const ExitSignal& signal) override;
  Reached monitor(Term to, Term watcher, RefKey key, Term name) override;
  void demonitor(Term to, Term watcher, RefKey key) override;
  void down(Term to, const DownSignal& signal) override;
  Reached group_leader(Term to, Term leader) override;
};
extern constinit RemoteReceiver remote_receiver;

/// A process here handles a link or an unlink from one there. Returns false if it has linked or
/// unlinked itself since, and so must ignore it. Any thread, under an epoch.
bool link_signal_arrives(Term here, Term there, bool is_link, std::uint32_t number);

/// Returns the token that goes with the message, in the arena; nil for none, or for one that the
/// other node could not take. Counts as a send. Called in the thread that runs p.
Term token_for(Process& p, Term to, Term message, const Route& route, Heap& arena);

}  // namespace vmrun::dist
