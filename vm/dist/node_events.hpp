// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// Processes that are told when nodes come and go: net_kernel:monitor_nodes/1,2, which is a flag of
/// the process. A subscription is told once for each time it was requested; subscriptions with
/// different options are separate. Any thread; a process subscribes for itself.
namespace vmrun::dist {

struct SubscriptionOptions {
  enum class Form : std::uint8_t { kBare, kList, kMap };  // the term that comes with {nodeup, Node}
  enum class Nodes : std::uint8_t { kVisible, kHidden, kAll };
  Form form = Form::kBare;
  Nodes nodes = Nodes::kVisible;
  bool node_type = false;  // requested, so the event contains it
  bool connection_id = false, nodedown_reason = false;
  bool operator==(const SubscriptionOptions&) const = default;
};

/// Adds one subscription, or removes all with these options. Returns how many there were before.
unsigned subscribe(Process& p, const SubscriptionOptions& options, bool wanted);
/// Removes all subscriptions of a process that ends.
void unsubscribe(Term pid);
/// Returns all subscriptions, the newest first, as a list of {Pid, Options}, one element for each
/// time.
Term subscription_list(Heap& heap);

struct NodeEvent {
  Term node;
  bool up, visible;
  Word connection;  // 0: the node is this one, which gets a name or gives it up
  Term reason;      // of nodedown
};
/// Fires dist-monitor, then tells all subscribers. Called under an epoch.
void tell_node_event(const NodeEvent& event);

/// Sends {nodedown, Node}, for monitor_node.
void send_nodedown(Term pid, Term node);

}  // namespace vmrun::dist
