#pragma once

#include "vm/dist/channel.hpp"
#include "vm/message/receiver.hpp"

/// Everything of other nodes, as a receiver: each verb becomes a control message of the channel
/// there. Without a connection, or hope for one, it is handed on to `unreachable`.
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

/// The token that goes along with the message, in the arena; nil for none, or for one the other
/// node could not take. Counts as a send. In p's thread.
Term token_for(Process& p, Term to, Term message, const Route& route, Heap& arena);

}  // namespace vmrun::dist
