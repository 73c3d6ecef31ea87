// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>

#include "runtime/bif/system_texts.hpp"
#include "runtime/dump/asking.hpp"
#include "runtime/dump/term_walk.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"

// erts_debug:get_internal_state(node_and_dist_references): what refers to nodes and to channels.
// The number of references is kept as they come and go (term/node.hpp). The referrers are found by
// stopping the machine and walking everything. References that are not found (those of running
// processes, of code, of literals that wait to be freed, of ports) are shown as {system,
// elsewhere}.

namespace vmrun::dump {
namespace {

/// A referrer: its kind and one or two more words, from which its term is built later.
struct Referrer {
  enum class Kind { kProcess, kPort, kTable, kNamedTable, kNode, kConnection, kSystem } kind;
  Word first = 0, second = 0;
  auto operator<=>(const Referrer&) const = default;  // NOLINT(modernize-use-nullptr): no pointer is here
};
using Kind = Referrer::Kind;
Referrer of_term(Kind kind, Term t) { return {kind, t.raw()}; }
Referrer of_system(const char* what) { return of_term(Kind::kSystem, intern_atom(what)); }

struct NodeName {
  Term name;
  std::uint32_t creation;
  auto operator<=>(const NodeName& other) const {
    return std::pair(name.raw(), creation) <=> std::pair(other.name.raw(), other.creation);
  }
  bool operator==(const NodeName& other) const { return name == other.name && creation == other.creation; }
};
NodeName name_of(const Node& node) { return {node.name, node.creation}; }

/// The ways in which a referrer refers, and how often.
using Uses = std::map<const char*, Word>;

/// The references of one node or channel.
struct References {
  Word counted = 0, found = 0;
  std::map<Referrer, Uses> by;

  void add(const Referrer& who, const char* how, Word times = 1) {
    by[who][how] += times;
    found += times;
  }
  /// A node or channel without references that still exists waits for its delayed deletion.
  void complete() {
    if (counted > found) add(of_system("elsewhere"), "system", counted - found);
    if (!counted) by[of_system("delayed_delete_timer")]["system"] = 1;
  }
};

constexpr const char *kHeap = "heap", *kLink = "link", *kMonitor = "monitor";

/// What has been found, by node and by the channel's name.
struct Found {
  std::map<NodeName, References> nodes;
  std::map<Word, References> channels;

  void add(const Node& node, const Referrer& who, const char* how) { nodes[name_of(node)].add(who, how); }
  void add_identifier(Term t, const Referrer& who, const char* how) {
    if (t.is_boxed() && !t.is_tuple()) add_object(t.boxed_ptr(), who, how);
  }
  void add_object(const Term* p, const Referrer& who, const char* how) {
    switch (p->header_sub()) {
      case Term::Sub::kExternalPid:
      case Term::Sub::kExternalPort:
      case Term::Sub::kExternalRef: add(*reinterpret_cast<const ExternalObject*>(p)->node, who, how);
      default: break;
    }
  }
  void add_list(const OffHeapObject* list, const Referrer& who, const char* how) {
    for (; list; list = list->next) add_object(&list->header, who, how);
  }
  void add_messages(const Fragment* first, const Referrer& who) {
    for (const Fragment* f = first; f; f = f->next) add_list(f->off_heap, who, kHeap);
  }
};

// ---- Where references are -----------------------------------------------------------------------

void look_at_process(Found& found, Process& p) {
  const Referrer who = of_term(Kind::kProcess, p.id);
  found.add_list(p.heap.off_heap, who, kHeap);
  found.add_list(p.heap.old_off_heap, who, kHeap);
  found.add_messages(inner_queue(p), who);
  found.add_messages(p.mailbox.newest_arrival(), who);
  if (!p.extra) return;
  p.extra->links.for_each([&](Term other) { found.add_identifier(other, who, kLink); });
  p.extra->monitors.for_each([&](RefKey, const MonitorOut& m) {
    found.add_identifier(m.target, who, kMonitor);
    if (m.tag) found.add_list(m.tag->off_heap, who, kMonitor);
  });
  p.extra->monitored_by.for_each(
      [&](RefKey, const MonitorIn& m) { found.add_identifier(m.watcher, who, kMonitor); });
}

void look_at_table(Found& found, const ets::Table& table) {
  const Referrer who = table.named ? of_term(Kind::kNamedTable, table.name)
                                   : Referrer{Kind::kTable, table.key.low, table.key.high};
  for_each_kept(table, [&](const ets::Object& o) { found.add_list(o.off_heap, who, "ets"); });
}

/// A timer for a process that has ended has no effect any more and is not counted.
void look_at_timers(Found& found) {
  for (unsigned i = 0; i < scheduler_count(); ++i)
    scheduler_at(i).timers.for_each_message([&](Term target, const Fragment& message) {
      const Term bearer = target.is_atom() ? whereis(target) : kNonValue;
      const Term to = bearer ? bearer : target;
      if (to.is_atom() || process_table.find(to))
        found.add_list(message.off_heap, of_term(Kind::kProcess, to), "timer");
    });
}

void look_at_persistent_terms(Found& found) {
  const Referrer who = of_system("persistent_term");
  TermWalk walk([&](const Term* object) { found.add_object(object, who, "system"); });
  for_each_persistent_term([&](Term key, Term value) {
    walk.add(key);
    walk.add(value);
  });
}

/// The reference by which a watcher on the other node names its monitor exists nowhere but here. It
/// counts as a reference of the watched process; the others belong to the connection.
void look_at_relations(Found& found, const dist::Relations& r, Term node) {
  const Referrer who = of_term(Kind::kConnection, node);
  r.for_each_link([&](const dist::LinkKey& key) { found.add(*key.there.node, who, kLink); });
  r.for_each_monitor_from_here(
      [&](RefKey, const dist::MonitorFromHere& m) { found.add_identifier(m.target, who, kMonitor); });
  r.for_each_monitor_from_there([&](RefKey, const dist::MonitorFromThere& m) {
    found.add_identifier(m.watcher, who, kMonitor);
    found.add_identifier(m.ref, of_term(Kind::kProcess, m.target), kMonitor);
  });
}

void look_at_channels(Found& found) {
  dist::for_each_channel([&](dist::Channel& channel) {
    References& references = found.channels[channel.name.raw()];
    references.counted = channel.references();
    if (channel.state() != dist::Channel::State::kIdle) {  // its state refers to it, without a count
      ++references.counted;
      if (const auto connection = channel.connection()) {
        const Term by = connection->controller;
        references.add(of_term(by.is_pid() ? Kind::kProcess : Kind::kPort, by), "control");
      }
    }
    channel.change(channel.route(), [&](dist::Relations& r) { look_at_relations(found, r, channel.name); });
  });
}

void count_nodes(Found& found) {
  for (const NodeCount& node : known_nodes()) {
    const NodeName name{node.name, node.creation};
    References& references = found.nodes[name];
    references.counted = node.references;
    found.channels[node.name.raw()].add({Kind::kNode, node.name.raw(), node.creation}, "node");
  }
}

Found look_at_all(const Process& asking) {
  Found found;
  dist::give_back_unused();
  auto waits = std::make_unique<Asking>(asking);
  const StoppedMachine stopped;
  for_each_process_at_rest(stopped, [&](Process& p) { look_at_process(found, p); });
  ets::for_each_table([&](const ets::Table& table) { look_at_table(found, table); });
  look_at_timers(found);
  look_at_persistent_terms(found);
  look_at_channels(found);
  count_nodes(found);
  waits.reset();  // before another process can stop the machine
  return found;
}

// ---- As terms -----------------------------------------------------------------------------------

Term node_term(Heap& heap, Term name, std::uint32_t creation) {
  return new_tuple(heap, name, make_unsigned(heap, creation));
}

Term referrer_term(Heap& heap, const Referrer& r) {
  const auto pair = [&](const char* kind, Term what) { return new_tuple(heap, intern_atom(kind), what); };
  const Term t = Term::from_raw(r.first);
  switch (r.kind) {
    case Kind::kProcess: return pair("process", t);
    case Kind::kPort: return pair("port", t);
    case Kind::kNamedTable: return pair("ets", t);
    case Kind::kTable: {
      Term* hp = heap.alloc(kRefWords);
      return pair("ets", make_ref(hp, {r.first, static_cast<std::uint32_t>(r.second)}));
    }
    case Kind::kNode: return pair("node", node_term(heap, t, static_cast<std::uint32_t>(r.second)));
    case Kind::kConnection: return pair("connection", t);
    case Kind::kSystem: break;
  }
  return pair("system", t);
}

/// {What, Count, [{Referrer, [{How, Times}]}]}
Term references_term(Heap& heap, Term what, References& references) {
  references.complete();
  ListBuilder referrers(heap);
  for (const auto& [who, uses] : references.by) {
    ListBuilder list(heap);
    for (const auto& [how, times] : uses)
      list.add(new_tuple(heap, intern_atom(how), make_unsigned(heap, times)));
    referrers.add(new_tuple(heap, referrer_term(heap, who), list.finish()));
  }
  return new_tuple(heap, what, make_unsigned(heap, references.counted), referrers.finish());
}

}  // namespace

Term references_of_nodes(Process& asking) {
  Found found = look_at_all(asking);
  Heap& heap = asking.heap;
  ListBuilder nodes(heap), channels(heap);
  for (auto& [name, references] : found.nodes)
    nodes.add(references_term(heap, node_term(heap, name.name, name.creation), references));
  for (auto& [name, references] : found.channels) {
    // A node's entry refers to its channel only after the channel has been made.
    references.counted = std::max(references.counted, references.found);
    channels.add(references_term(heap, Term::from_raw(name), references));
  }
  return new_tuple(heap, new_tuple(heap, intern_atom("node_references"), nodes.finish()),
                   new_tuple(heap, intern_atom("dist_references"), channels.finish()));
}

}  // namespace vmrun::dump
