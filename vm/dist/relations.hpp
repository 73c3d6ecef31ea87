#pragma once

#include "vm/base/flat_table.hpp"
#include "vm/process/reference.hpp"
#include "vm/process/relations.hpp"
#include "vm/term/layout.hpp"

/// Who here has to do with whom on another node, over one connection: what must be told
/// noconnection when it breaks. Guarded by its channel's lock.
///
/// Links (ERTS User's Guide, "Distribution Protocol", "Link Protocol"): whoever gives a link up
/// numbers that, and takes nothing of this link for good until the other side has acknowledged the
/// number. So links and unlinks that cross on the way leave both sides of one mind.
namespace vmrun::dist {

/// A pid of another node, as a key. It refers to its node, without a reference that is counted: who
/// keeps one has that besides.
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
  Term target;  // kept: a pid, or {Name, Node}
};
/// A monitor of a remote process on one of this node. It has a reference of this node.
struct MonitorFromThere {
  Term watcher;  // kept
  Term ref;      // kept: as the watcher knows it
  Term target;
  Term name;  // atom, when it was asked for by name; else nil
};

class Relations {
 public:
  Relations() = default;
  ~Relations();
  Relations(const Relations&) = delete;

  // ---- Links: true when the other side, or the process here, is to be told ----------------------
  void link_from_here(Term here, Term there);
  bool link_from_there(Term here, Term there);
  /// The number of the unlinking; 0: there is no link.
  Word unlink_from_here(Term here, Term there);
  bool unlink_from_there(Term here, Term there);
  void unlink_acknowledged(Term here, Term there, Word id);
  bool has_link(Term here, Term there);
  /// One side has ended.
  bool end_link(Term here, Term there);

  // ---- Monitors ---------------------------------------------------------------------------------
  void monitor_from_here(RefKey key, Term watcher, Term target);
  /// True when there was one; its target is then the caller's to drop (drop_identifier).
  bool end_monitor_from_here(RefKey key, MonitorFromHere* was);
  /// The reference it goes by here; none if there is one by that reference already.
  RefKey monitor_from_there(Term watcher, Term ref, Term target, Term name = Term::nil());
  /// Both forget it; what was kept is the caller's to drop (drop).
  bool end_monitor_from_there(RefKey key, MonitorFromThere* was);
  bool end_monitor_from_there(Term ref, RefKey* key, MonitorFromThere* was);
  static void drop(const MonitorFromThere& was) {
    drop_identifier(was.watcher);
    drop_identifier(was.ref);
  }

  // ---- Requests to spawn, by the request's reference: who asked ---------------------------------
  void spawn_requested(RefKey key, Term parent) { spawns_.insert(key, parent); }
  bool spawn_answered(RefKey key) { return spawns_.erase(key); }

  // ---- monitor_node: how often ------------------------------------------------------------------
  void watch_node(Term pid);
  void unwatch_node(Term pid);
  void forget_watcher(Term pid) { node_watchers_.erase(pid); }

  // ---- All there are ----------------------------------------------------------------------------
  template <class F>  // (here, there), those that are given up left out
  void for_each_link(F&& visit) const {
    links_.for_each([&](const LinkKey& key, Word unlinking) {
      if (!unlinking) visit(key);
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
  /// The reference to its node is the caller's.
  bool take_link(Term* here, RemotePid* there);
  bool take_monitor(RefKey* key, MonitorFromHere* was);
  bool take_monitored(RefKey* key, MonitorFromThere* was);
  bool take_spawn(RefKey* key, Term* parent);
  bool take_node_watcher(Term* pid, unsigned* times);

 private:
  bool insert_link(const LinkKey& key);
  bool erase_link(const LinkKey& key);

  // 0, or the number of the unlinking that is not acknowledged yet; with a reference to the node.
  FlatTable<LinkKey, Word> links_;
  FlatTable<RefKey, MonitorFromHere> from_here_;
  FlatTable<RefKey, MonitorFromThere> from_there_;
  FlatTable<KeptIdentifier, RefKey> keys_;  // by their references there; the terms are those of from_there_
  FlatTable<RefKey, Term> spawns_;
  FlatTable<Term, unsigned> node_watchers_;
  Word unlinkings_ = 0;
};

}  // namespace vmrun::dist
