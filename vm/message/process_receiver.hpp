// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/receiver.hpp"

/// Processes of this node, and their aliases, as receivers. Each verb is a signal to the mailbox,
/// which handle.cpp handles. Signals may contain identifiers of other nodes, so identifiers are
/// copied like other terms. The functions `send` are in send.cpp, with the other ways of sending.
namespace vmrun {

class ProcessReceiver final : public Receiver {
 public:
  SendResult send(Process& from, const Destination& to, Term message, SendOptions options) override;
  Reached link(Term to, Term from, std::uint32_t setting) override;
  void unlink(Term to, Term from, LinkSettings known) override;
  bool exit(Term to, const ExitSignal& signal) override;
  Reached monitor(Term to, Term watcher, RefKey key, Term name) override;
  void demonitor(Term to, Term watcher, RefKey key) override;
  void down(Term to, const DownSignal& signal) override;
  Reached group_leader(Term to, Term leader) override;
  Reached ask(Term to, Fragment* question, std::uint8_t priority) override;
  bool is_there(Term who) override;
};

class AliasReceiver final : public Receiver {
 public:
  SendResult send(Process& from, const Destination& to, Term message, SendOptions options) override;
  bool exit(Term to, const ExitSignal& signal) override;
};

extern constinit ProcessReceiver process_receiver;
extern constinit AliasReceiver alias_receiver;

}  // namespace vmrun
