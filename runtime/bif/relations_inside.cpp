// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/relations_inside.hpp"

#include <optional>

#include "runtime/bif/support.hpp"
#include "vm/dist/channels.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/message/receiver.hpp"
#include "vm/message/request.hpp"
#include "vm/process/process_state.hpp"

namespace vmrun {
namespace {

using dist::Channel;
using dist::LinkKey;
using dist::MonitorFromHere;
using dist::MonitorFromThere;
using dist::Relations;
using dist::RemotePid;

const char* kind_of(Term other) {
  return other.is_local_port() ? "port" : other.is_local_pid() ? "process" : "dist_process";
}

/// {erl_link, Kind, Other, linked | unlinking, Id}. A link to another node has the same id in the
/// table of the process and in that of the connection.
Term link_entry(Heap& out, const char* kind, Term other, std::size_t id, const char* state = "linked") {
  return new_tuple(out, intern_atom("erl_link"), intern_atom(kind), copy_to(out, other), intern_atom(state),
                   Term::small(static_cast<SWord>(id >> 8)));
}

/// {erl_monitor, Kind, origin | target, Reference, Other, Name or how often}
Term monitor_entry(Heap& out, const char* kind, const char* direction, Term ref, Term other, Term detail) {
  return new_tuple(out, intern_atom("erl_monitor"), intern_atom(kind), intern_atom(direction), ref,
                   copy_to(out, other), detail);
}

Term ref_term(Heap& out, RefKey key) {
  Term* hp = out.alloc(kRefWords);
  return make_ref(hp, key);
}

// ---- A process, in its own thread ----

Term links_of_process(Process& p, Heap& out) {
  ListBuilder list(out);
  if (p.extra)
    p.extra->links.for_each([&](Term other) {
      const std::size_t id =
          other.is_immed() ? hash_key(other) : hash_key(LinkKey{p.id, RemotePid::of(other)});
      list.add(link_entry(out, kind_of(other), other, id));
    });
  dist::for_each_channel([&](Channel& channel) {
    channel.change(channel.route(), [&](Relations& r) {
      r.for_each_unlinking([&](const LinkKey& key) {
        if (key.here == p.id)
          list.add(link_entry(out, "dist_process", key.there.term(out), hash_key(key), "unlinking"));
      });
    });
  });
  return list.finish();
}

Term monitor_of_process(Heap& out, RefKey key, const MonitorOut& m) {
  const Term ref = ref_term(out, key);
  if (m.target.is_tuple())
    return monitor_entry(out, "dist_process", "origin", ref, m.target.element(1), m.target.element(0));
  return monitor_entry(out, kind_of(m.target), "origin", ref, m.target, m.name);
}

/// Returns the monitor's reference as the watching node knows it.
Term watchers_ref(Heap& out, RefKey key, const MonitorIn& m) {
  if (m.watcher.is_immed()) return ref_term(out, key);
  Channel& channel = dist::channel_of(m.watcher);
  Term ref = Term::nil();
  channel.change(channel.route(), [&](Relations& r) {
    if (const MonitorFromThere* there = r.monitor_from_there(key)) ref = copy_to(out, there->ref);
  });
  return ref;
}

Term monitors_of_process(Process& p, Heap& out) {
  ListBuilder list(out);
  if (p.extra) {
    // A process's monitor on itself never sends a message.
    p.extra->monitors.for_each([&](RefKey key, const MonitorOut& m) {
      if (m.target != p.id) list.add(monitor_of_process(out, key, m));
    });
    p.extra->monitored_by.for_each([&](RefKey key, const MonitorIn& m) {
      if (m.watcher == p.id) return;
      if (m.watcher == kResourceWatcher) {
        const Term watcher = receiver_of(m.watcher).as_watcher(m.watcher, key, out);
        if (watcher)
          list.add(monitor_entry(out, "resource", "target", ref_term(out, key), watcher, Term::nil()));
        return;
      }
      list.add(
          monitor_entry(out, kind_of(m.watcher), "target", watchers_ref(out, key, m), m.watcher, m.name));
    });
  }
  dist::for_each_channel([&](Channel& channel) {
    channel.change(channel.route(), [&](Relations& r) {
      r.for_each_node_watcher([&](Term pid, unsigned times) {
        if (pid == p.id)
          list.add(monitor_entry(out, "node", "origin", Term::nil(), channel.name, Term::small(times)));
      });
    });
  });
  return list.finish();
}

// ---- A connection ----

Term links_of_node(const Relations& r, Heap& out) {
  ListBuilder list(out);
  r.for_each_link(
      [&](const LinkKey& key) { list.add(link_entry(out, "dist_process", key.here, hash_key(key))); });
  return list.finish();
}

Term monitors_of_node(const Relations& r, Heap& out) {
  ListBuilder list(out);
  r.for_each_monitor_from_here([&](RefKey key, const MonitorFromHere& m) {
    const Term name = m.target.is_tuple() ? m.target.element(0) : Term::nil();
    list.add(monitor_entry(out, "dist_process", "target", ref_term(out, key), m.watcher, name));
  });
  r.for_each_monitor_from_there([&](RefKey, const MonitorFromThere& m) {
    list.add(monitor_entry(out, "dist_process", "origin", copy_to(out, m.ref), m.target, m.name));
  });
  r.for_each_node_watcher([&](Term pid, unsigned) {
    list.add(monitor_entry(out, "node", "target", Term::nil(), pid, Term::nil()));
  });
  return list.finish();
}

Term list_of(Process& p, Term who, Term item, Term (*of_node)(const Relations&, Heap&)) {
  if (who.is_local_pid()) {
    const Term answer = who == p.id ? process_info_item(p, item, p.heap, true)
                                    : ask(p, who, RequestKind::kProcessInfo, item, atoms::undefined);
    return answer && answer.is_tuple() ? answer.element(1) : answer;
  }
  Channel* channel = who.is_atom() ? dist::find_channel_to(who) : nullptr;
  if (!channel) return who.is_atom() ? atoms::undefined : raise_badarg(p);
  Term list = Term::nil();
  channel->change(channel->route(), [&](Relations& r) { list = of_node(r, p.heap); });
  return list;
}

const Term link_list = intern_atom("link_list"), monitor_list = intern_atom("monitor_list");

}  // namespace

Term relations_item(Process& p, Term name, Heap& out) {
  if (name == link_list) return links_of_process(p, out);
  if (name == monitor_list) return monitors_of_process(p, out);
  return kNonValue;
}

Term link_list_of(Process& p, Term who) { return list_of(p, who, link_list, links_of_node); }
Term monitor_list_of(Process& p, Term who) { return list_of(p, who, monitor_list, monitors_of_node); }

}  // namespace vmrun
