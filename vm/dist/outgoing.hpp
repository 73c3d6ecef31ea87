// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/channel.hpp"
#include "vm/message/receiver.hpp"
#include "vm/message/remote_links.hpp"

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

/// The link of a process here with one there, as the channel sees it. Any thread, under an epoch.
RemoteLink link_in_channel(Term here, Term there);

/// Returns the token that goes with the message, in the arena; nil for none, or for one that the
/// other node could not take. Counts as a send. Called in the thread that runs p.
Term token_for(Process& p, Term to, Term message, const Route& route, Heap& arena);

}  // namespace vmrun::dist
