#pragma once

#include "vm/process/process.hpp"

/// Who is told that nodes come and go: net_kernel:monitor_nodes/1,2, which is a flag of the
/// process. A subscription is told once for each time it was asked for; those with other options
/// are others. Any thread; a process for itself.
namespace vmrun::dist {

struct SubscriptionOptions {
  enum class Form : std::uint8_t { kBare, kList, kMap };  // what {nodeup, Node} goes with
  enum class Nodes : std::uint8_t { kVisible, kHidden, kAll };
  Form form = Form::kBare;
  Nodes nodes = Nodes::kVisible;
  bool node_type = false;  // was asked for, so it is told
  bool connection_id = false, nodedown_reason = false;
  bool operator==(const SubscriptionOptions&) const = default;
};

/// One more, or none any more; how often it was asked for before.
unsigned subscribe(Process& p, const SubscriptionOptions& options, bool wanted);
/// The process ends.
void unsubscribe(Term pid);
/// All there are, the newest first, as {Pid, Options} in a list, once for each time.
Term subscription_list(Heap& heap);

struct NodeEvent {
  Term node;
  bool up, visible;
  Word connection;  // 0: none, for the node is this one, which gets a name or gives it up
  Term reason;      // of nodedown
};
/// Fires dist-monitor, then tells all. Under an epoch.
void tell_node_event(const NodeEvent& event);

/// {nodedown, Node}, of monitor_node.
void send_nodedown(Term pid, Term node);

}  // namespace vmrun::dist
