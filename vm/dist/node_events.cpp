// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/node_events.hpp"

#include <mutex>
#include <ranges>
#include <vector>

#include "vm/heap/build.hpp"
#include "vm/message/send.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_state.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"

namespace vmrun::dist {
namespace {

struct Subscription {
  Term pid;
  SubscriptionOptions options;
  unsigned times;
};
std::mutex& mutex = *new std::mutex;
std::vector<Subscription>& subscriptions = *new std::vector<Subscription>;

bool wants(const SubscriptionOptions& options, const NodeEvent& event) {
  using Nodes = SubscriptionOptions::Nodes;
  return options.nodes == Nodes::kAll || (options.nodes == Nodes::kVisible) == event.visible;
}

/// The details that a subscription has asked for, as pairs.
struct Details {
  Term pairs[2 * 3];
  unsigned count = 0;
  void add(Term key, Term value) {
    pairs[2 * count] = key;
    pairs[2 * count++ + 1] = value;
  }
};

Details details_of(const SubscriptionOptions& options, const NodeEvent& event) {
  Details details;
  if (options.connection_id)
    details.add(atoms::connection_id,
                event.connection ? Term::small(static_cast<SWord>(event.connection)) : atoms::undefined);
  if (options.nodedown_reason && !event.up) details.add(atoms::nodedown_reason, event.reason);
  if (options.node_type) details.add(atoms::node_type, event.visible ? atoms::visible : atoms::hidden);
  return details;
}

Term message_for(Heap& heap, const SubscriptionOptions& options, const NodeEvent& event) {
  const Term what = event.up ? atoms::nodeup : atoms::nodedown;
  if (options.form == SubscriptionOptions::Form::kBare) return new_tuple(heap, what, event.node);
  Details details = details_of(options, event);
  if (options.form == SubscriptionOptions::Form::kMap)
    return new_tuple(heap, what, event.node, map_from_pairs(heap, details.pairs, details.count));
  ListBuilder list(heap);
  for (unsigned i = 0; i < details.count; ++i)
    list.add(new_tuple(heap, details.pairs[2 * i], details.pairs[2 * i + 1]));
  return new_tuple(heap, what, event.node, list.finish());
}

[[gnu::cold, gnu::noinline]] void fire(const NodeEvent& event) {
  probe::fire_dist_monitor(local_node_name(), event.up ? atoms::nodeup : atoms::nodedown, event.node,
                           event.visible ? atoms::visible : atoms::hidden,
                           event.up ? Term::nil() : event.reason);
}

}  // namespace

unsigned subscribe(Process& p, const SubscriptionOptions& options, bool wanted) {
  extra_of(p).in_distribution = true;
  std::lock_guard lock(mutex);
  for (auto it = subscriptions.begin(); it != subscriptions.end(); ++it) {
    if (it->pid != p.id || !(it->options == options)) continue;
    const unsigned before = it->times;
    if (wanted) ++it->times;
    else subscriptions.erase(it);
    return before;
  }
  if (wanted) subscriptions.push_back({p.id, options, 1});
  return 0;
}

void unsubscribe(Term pid) {
  std::lock_guard lock(mutex);
  std::erase_if(subscriptions, [&](const Subscription& s) { return s.pid == pid; });
}

Term subscription_list(Heap& heap) {
  using Nodes = SubscriptionOptions::Nodes;
  std::lock_guard lock(mutex);
  ListBuilder list(heap);
  for (const Subscription& s : subscriptions | std::views::reverse) {
    ListBuilder options(heap);
    if (s.options.node_type)
      options.add(new_tuple(heap, atoms::node_type,
                            s.options.nodes == Nodes::kAll       ? atoms::all
                            : s.options.nodes == Nodes::kVisible ? atoms::visible
                                                                 : atoms::hidden));
    if (s.options.nodedown_reason) options.add(atoms::nodedown_reason);
    if (s.options.connection_id) options.add(atoms::connection_id);
    const Term entry = new_tuple(heap, s.pid, options.finish());
    for (unsigned i = 0; i < s.times; ++i) list.add(entry);
  }
  return list.finish();
}

void tell_node_event(const NodeEvent& event) {
  if (probe::dist_monitor_enabled()) [[unlikely]]
    fire(event);
  Arena arena;
  NodeEvent reported = event;
  if (reported.reason == atoms::normal) reported.reason = atoms::connection_closed;
  std::lock_guard lock(mutex);
  for (const Subscription& s : subscriptions) {
    if (!wants(s.options, reported)) continue;
    const Term message = message_for(arena, s.options, reported);
    for (unsigned i = 0; i < s.times; ++i) send_from_vm(s.pid, message);
  }
}

void send_nodedown(Term pid, Term node) {
  Arena arena;
  send_from_vm(pid, new_tuple(arena, atoms::nodedown, node));
}

}  // namespace vmrun::dist
