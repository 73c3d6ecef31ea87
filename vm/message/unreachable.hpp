// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/receiver.hpp"

/// Other nodes without a connection. None of them can be reached, as in an erl without
/// distribution. What is sent there is lost. A process that links or monitors gets noconnection.
namespace vmrun {

class Unreachable final : public Receiver {
 public:
  SendResult send(Process& from, const Destination& to, Term message, SendOptions options) override;
  Reached link(Term to, Term from, std::uint32_t) override;
  Reached monitor(Term to, Term watcher, RefKey key, Term name) override;
  Reached group_leader(Term to, Term leader) override;
};

extern constinit Unreachable unreachable;

}  // namespace vmrun
