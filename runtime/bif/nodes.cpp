// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/nodes.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/code/module.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/dist/node_events.hpp"
#include "vm/process/process_state.hpp"
#include "vm/term/map.hpp"

/// Nodes as programs see them: their names, and messages when one is gone.
namespace vmrun {
namespace {

using namespace dist;

// ---- nodes --------------------------------------------------------------------------------------

/// The kinds of nodes that are asked for.
struct Wanted {
  bool visible = false, hidden = false, known = false, self = false;

  bool add(Term what) {
    if (what == atoms::visible) visible = true;
    else if (what == atoms::hidden) hidden = true;
    else if (what == atoms::connected) visible = hidden = true;
    else if (what == atoms::known) known = true;
    else if (what == atoms::this_) self = true;
    else return false;
    return true;
  }
  bool read(Term what) {
    if (what.is_atom()) return add(what);
    for (; what.is_list(); what = what.tail())
      if (!add(what.head())) return false;
    return what.is_nil();
  }
};

/// Calls visit(name, known, 0) for nodes that are known only from identifiers.
template <class F>
void visit_mentioned(F visit) {
  Term last = atoms::nonode_at_nohost;
  for (const NodeCount& node : known_nodes()) {
    if (node.name != last && node.name != local_node_name() && node.name != atoms::nonode_at_nohost &&
        !find_channel_to(node.name))
      visit(node.name, atoms::known, 0);
    last = node.name;
  }
}

/// Calls visit(name, type, connection) for each node; connection 0 means that it is not connected.
template <class F>
void visit_nodes(const Wanted& wanted, F visit) {
  if (wanted.known) give_back_unused();
  for_each_channel([&](Channel& channel) {
    const std::shared_ptr<Connection> c = channel.connection();
    if (c && (wanted.known || (c->is_visible() ? wanted.visible : wanted.hidden)))
      visit(channel.name, c->is_visible() ? atoms::visible : atoms::hidden, c->number);
    else if (wanted.known && !c && channel.name != local_node_name()) visit(channel.name, atoms::known, 0);
  });
  if (wanted.known) visit_mentioned(visit);
  if (wanted.known && is_alive()) visit(atoms::nonode_at_nohost, atoms::known, 0);
  if (wanted.self || wanted.known) visit(local_node_name(), atoms::this_, 0);
}

Term names_of(Process& p, const Wanted& wanted) {
  ListBuilder list(p.heap);
  visit_nodes(wanted, [&](Term name, Term, Word) { list.add(name); });
  return list.finish();
}

bool read_info(Term map, bool* connection_id, bool* node_type) {
  if (!map.is_map()) return false;
  MapIterator it(map);
  Term key, value;
  while (it.next(&key, &value)) {
    if (value != atoms::true_ && value != atoms::false_) return false;
    if (key == atoms::connection_id) *connection_id = value == atoms::true_;
    else if (key == atoms::node_type) *node_type = value == atoms::true_;
    else return false;
  }
  return true;
}

}  // namespace

Term bif_erlang_nodes_0(Process& p, const Term*) { return names_of(p, {.visible = true}); }
Term bif_erlang_nodes_1(Process& p, const Term* a) {
  Wanted wanted;
  return wanted.read(a[0]) ? names_of(p, wanted) : raise_badarg(p);
}
Term bif_erlang_nodes_2(Process& p, const Term* a) {
  Wanted wanted;
  bool connection_id = false, node_type = false;
  if (!wanted.read(a[0]) || !read_info(a[1], &connection_id, &node_type)) return raise_badarg(p);
  ListBuilder list(p.heap);
  visit_nodes(wanted, [&](Term name, Term type, Word connection) {
    Term pairs[4];
    unsigned n = 0;
    const auto add = [&](Term key, Term value) {
      pairs[2 * n] = key;
      pairs[2 * n++ + 1] = value;
    };
    if (connection_id)
      add(atoms::connection_id, connection ? Term::small(static_cast<SWord>(connection)) : atoms::undefined);
    if (node_type) add(atoms::node_type, type);
    list.add(new_tuple(p.heap, name, map_from_pairs(p.heap, pairs, n)));
  });
  return list.finish();
}

Term bif_erlang_node_0(Process&, const Term*) { return local_node_name(); }
Term bif_erlang_node_1(Process& p, const Term* a) {
  if (a[0].is_local_pid() || a[0].is_local_port() || a[0].is_local_ref()) return local_node_name();
  if (a[0].is_pid() || a[0].is_port() || a[0].is_ref())
    return reinterpret_cast<const ExternalObject*>(a[0].boxed_ptr())->node->name;
  return raise_badarg(p);
}

namespace {

/// Whether this node waits for a name that another node assigns. net_kernel, OTP's and ours, says
/// so in a persistent term.
bool waits_for_its_name(Process& p) {
  static const Term erts_internal = intern_atom("erts_internal"),
                    dynamic_name = intern_atom("dynamic_node_name");
  if (is_alive()) return false;
  const Term named_by_others[] = {new_tuple(p.heap, erts_internal, dynamic_name), atoms::false_};
  return bif_persistent_term_get_2(p, named_by_others) == atoms::true_;
}

}  // namespace

bool counts_as_alive(Process& p) { return is_alive() || waits_for_its_name(p); }

Term bif_erlang_is_alive_0(Process& p, const Term*) { return bool_term(counts_as_alive(p)); }

Term bif_erlang_disconnect_node_1(Process& p, const Term* a) {
  static Export* const disconnect = export_entry(atoms::net_kernel, intern_atom("disconnect"), 1);
  return trap_to(p, disconnect, {a[0]});
}

// ---- monitor_node -------------------------------------------------------------------------------

namespace {

Term monitor_node(Process& p, Term node, Term flag, bool passive) {
  if (!node.is_atom() || (flag != atoms::true_ && flag != atoms::false_)) return raise_badarg(p);
  if (node == local_node_name()) return atoms::true_;
  if (waits_for_its_name(p)) {  // and so has no connections
    if (flag == atoms::true_) send_nodedown(p.id, node);
    return atoms::true_;
  }
  if (!is_alive()) return raise_error(p, atoms::notalive);
  Channel& channel = channel_to(node);
  if (flag == atoms::false_) {
    channel.change(channel.route(), [&](Relations& r) { r.unwatch_node(p.id); });
    return atoms::true_;
  }
  if (passive && !channel.route()) {
    static Export* const wait = export_entry(intern_atom("passive_monitor"), intern_atom("monitor_node"), 3);
    Term* hp = p.heap.alloc(2);
    return trap_to(p, wait, {node, flag, make_cons(hp, atoms::allow_passive_connect, Term::nil())});
  }
  extra_of(p).in_distribution = true;
  const Route route = channel.connect();
  if (!route.channel->change(route, [&](Relations& r) { r.watch_node(p.id); })) send_nodedown(p.id, node);
  return atoms::true_;
}

}  // namespace

Term bif_erlang_monitor_node_2(Process& p, const Term* a) { return monitor_node(p, a[0], a[1], false); }
Term bif_erlang_monitor_node_3(Process& p, const Term* a) {
  bool passive = false;
  Term list = a[2];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() != atoms::allow_passive_connect) return raise_badarg(p);
    passive = true;
  }
  return list.is_nil() ? monitor_node(p, a[0], a[1], passive) : raise_badarg(p);
}

// ---- process_flag(monitor_nodes, _), which net_kernel:monitor_nodes calls -----------------------

namespace {

bool read_subscription(Term map, SubscriptionOptions* options) {
  using Form = SubscriptionOptions::Form;
  using Nodes = SubscriptionOptions::Nodes;
  if (!map.is_map()) return false;
  options->form = Form::kMap;
  MapIterator it(map);
  Term key, value;
  while (it.next(&key, &value)) {
    const bool wanted = value == atoms::true_;
    if (key == atoms::node_type) {
      if (value != atoms::visible && value != atoms::hidden && value != atoms::all) return false;
      options->nodes = value == atoms::all      ? Nodes::kAll
                       : value == atoms::hidden ? Nodes::kHidden
                                                : Nodes::kVisible;
      options->node_type = true;
      continue;
    }
    if (!wanted && value != atoms::false_) return false;
    if (key == atoms::list) options->form = wanted ? Form::kList : Form::kMap;
    else if (key == atoms::connection_id) options->connection_id = wanted;
    else if (key == atoms::nodedown_reason) options->nodedown_reason = wanted;
    else return false;
  }
  const bool bare = !options->node_type && !options->connection_id && !options->nodedown_reason;
  if (options->form == Form::kList && bare) options->form = Form::kBare;
  return true;
}

}  // namespace

Term set_monitor_nodes(Process& p, Term name, Term value) {
  SubscriptionOptions options;
  if (value != atoms::true_ && value != atoms::false_) return kNonValue;
  if (name.is_tuple() && !read_subscription(name.element(1), &options)) return kNonValue;
  return Term::small(subscribe(p, options, value == atoms::true_));
}

}  // namespace vmrun
