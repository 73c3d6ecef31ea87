// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/flat_table.hpp"
#include "vm/process/reference.hpp"
#include "vm/process/relations.hpp"
#include "vm/term/layout.hpp"

/// Links, monitors and requests between processes of this node and those of another one, over one
/// connection: all of them end with noconnection when it breaks. Guarded by its channel's lock.
///
/// Links (ERTS User's Guide, "Distribution Protocol", "Link Protocol"): the side that gives a link
/// up numbers the unlinking. It ignores what arrives about this link until the other side has
/// acknowledged that number. So both sides agree even when links and unlinks cross on the way.
namespace vmrun::dist {

/// A pid of another node, as a key. Its pointer to the node does not count as a reference; the
/// owner of such a key also holds a counted reference.
struct RemotePid {
  Node* node = nullptr;
  Word number = 0;

  static RemotePid of(Term external_pid);
  Term term(TermSpace& space) const;
  bool operator==(const RemotePid&) const = default;
};

/// A link between a process of this node and one of another node.
struct LinkKey {
  Term here;
  RemotePid there;
  bool operator==(const LinkKey&) const = default;
};
inline std::size_t hash_key(const LinkKey& k) {
  return vmrun::hash_key(k.here) ^ (k.there.number * 0xD6E8FEB86659FD93u >> 29);
}

/// A monitor of a process of this node on a remote one.
struct MonitorFromHere {
  Term watcher;
  Term target;  // kept by keep_identifier: a pid, or {Name, Node}
};
/// A monitor of a remote process on one of this node. This node identifies it by a reference of its
/// own.
struct MonitorFromThere {
  Term watcher;  // kept by keep_identifier
  Term ref;      // kept by keep_identifier: the reference that the watcher has
  Term target;
  Term name;  // an atom, when it was requested by name; else nil
};

class Relations {
 public:
  Relations() = default;
  ~Relations();
  Relations(const Relations&) = delete;

  // ---- Links: true when the other side, or the process here, is to be told ----------------------
  void link_from_here(Term here, Term there);
  bool link_from_there(Term here, Term there);
  /// Returns the number of the unlinking; 0: there is no link.
  Word unlink_from_here(Term here, Term there);
  bool unlink_from_there(Term here, Term there);
  void unlink_acknowledged(Term here, Term there, Word id);
  bool has_link(Term here, Term there);
  /// One of the two processes has ended.
  bool end_link(Term here, Term there);

  // ---- Monitors ---------------------------------------------------------------------------------
  void monitor_from_here(RefKey key, Term watcher, Term target);
  /// Returns true if there was one; the caller then drops its target (drop_identifier).
  bool end_monitor_from_here(RefKey key, MonitorFromHere* was);
  /// Returns the reference that identifies it here, or none if there is already a monitor with that
  /// `ref`.
  RefKey monitor_from_there(Term watcher, Term ref, Term target, Term name = Term::nil());
  /// Both remove the monitor; the caller drops what was kept (drop).
  bool end_monitor_from_there(RefKey key, MonitorFromThere* was);
  bool end_monitor_from_there(Term ref, RefKey* key, MonitorFromThere* was);
  static void drop(const MonitorFromThere& was) {
    drop_identifier(was.watcher);
    drop_identifier(was.ref);
  }

  // ---- Spawn requests, by the request's reference; parent: the process that asked ---------------
  void spawn_requested(RefKey key, Term parent) { spawns_.insert(key, parent); }
  bool spawn_answered(RefKey key) { return spawns_.erase(key); }

  // ---- monitor_node, and how many times ---------------------------------------------------------
  void watch_node(Term pid);
  void unwatch_node(Term pid);
  void forget_watcher(Term pid) { node_watchers_.erase(pid); }

  // ---- All relations ----------------------------------------------------------------------------
  template <class F>  // (here, there); links that are given up are left out
  void for_each_link(F&& visit) const {
    links_.for_each([&](const LinkKey& key, Word unlinking) {
      if (!unlinking) visit(key);
    });
  }
  template <class F>  // (here, there); those that are given up and not acknowledged yet
  void for_each_unlinking(F&& visit) const {
    links_.for_each([&](const LinkKey& key, Word unlinking) {
      if (unlinking) visit(key);
    });
  }
  template <class F>  // (key, monitor)
  void for_each_monitor_from_here(F&& visit) const {
    from_here_.for_each(visit);
  }
  template <class F>  // (key, monitor)
  void for_each_monitor_from_there(F&& visit) const {
    from_there_.for_each(visit);
  }
  const MonitorFromThere* monitor_from_there(RefKey key) { return from_there_.find(key); }
  template <class F>  // (pid, times)
  void for_each_node_watcher(F&& visit) const {
    node_watchers_.for_each(visit);
  }

  // ---- The connection is gone: each kind oldest first; false when there is no more --------------
  /// The caller takes over the reference to the node.
  bool take_link(Term* here, RemotePid* there);
  bool take_monitor(RefKey* key, MonitorFromHere* was);
  bool take_monitored(RefKey* key, MonitorFromThere* was);
  bool take_spawn(RefKey* key, Term* parent);
  bool take_node_watcher(Term* pid, unsigned* times);

 private:
  bool insert_link(const LinkKey& key);
  bool erase_link(const LinkKey& key);

  // The value is 0, or the number of an unlinking that is not acknowledged yet. Each entry holds a
  // reference to the node.
  FlatTable<LinkKey, Word> links_;
  FlatTable<RefKey, MonitorFromHere> from_here_;
  FlatTable<RefKey, MonitorFromThere> from_there_;
  FlatTable<KeptIdentifier, RefKey> keys_;  // by their references there; from_there_ owns the terms
  FlatTable<RefKey, Term> spawns_;
  FlatTable<Term, unsigned> node_watchers_;
  Word unlinkings_ = 0;
};

}  // namespace vmrun::dist
