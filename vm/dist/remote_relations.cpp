// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/remote_relations.hpp"

#include <atomic>

#include "vm/term/external_identifier.hpp"
#include "vm/term/node.hpp"

namespace vmrun::dist {
namespace {

/// A link that waits for an acknowledgement does not count as a link any more.
bool holds(const Word* unlinking) { return unlinking && *unlinking == 0; }

LinkKey link_key(Term here, Term there) { return {here, RemotePid::of(there)}; }

RefKey next_watcher_key() {
  static std::atomic<Word> last{0};
  return ref_key_in(RefSpace::kRemoteWatchers, last.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace

RemotePid RemotePid::of(Term external_pid) {
  const auto* object = reinterpret_cast<const ExternalObject*>(external_pid.boxed_ptr());
  return {object->node, object->data[0]};
}

Term RemotePid::term(TermSpace& space) const {
  node->retain();
  return external_identifier(space, Term::Sub::kExternalPid, node, &number, 1);
}

Relations::~Relations() {
  links_.for_each([](const LinkKey& key, Word) { key.there.node->release(); });
  from_here_.for_each([](const RefKey&, const MonitorFromHere& m) { drop_identifier(m.target); });
  from_there_.for_each([](const RefKey&, const MonitorFromThere& m) { drop(m); });
}

// ---- Links --------------------------------------------------------------------------------------

bool Relations::insert_link(const LinkKey& key) {
  if (!links_.insert(key, 0)) return false;
  key.there.node->retain();
  return true;
}
bool Relations::erase_link(const LinkKey& key) {
  if (!links_.erase(key)) return false;
  key.there.node->release();
  return true;
}

// A process that links again while an unlinking is under way has a link. What the other side still
// sends about the old link then reaches the new one.
void Relations::link_from_here(Term here, Term there) {
  const LinkKey key = link_key(here, there);
  if (Word* unlinking = links_.find(key)) *unlinking = 0;
  else insert_link(key);
}

// While an unlinking is under way, the other side will give up the link that it requests here, so
// that link is not inserted.
bool Relations::link_from_there(Term here, Term there) { return insert_link(link_key(here, there)); }

Word Relations::unlink_from_here(Term here, Term there) {
  Word* unlinking = links_.find(link_key(here, there));
  if (!holds(unlinking)) return 0;
  return *unlinking = ++unlinkings_;
}

bool Relations::unlink_from_there(Term here, Term there) { return end_link(here, there); }

void Relations::unlink_acknowledged(Term here, Term there, Word id) {
  const LinkKey key = link_key(here, there);
  const Word* unlinking = links_.find(key);
  if (unlinking && *unlinking == id) erase_link(key);
}

bool Relations::has_link(Term here, Term there) { return holds(links_.find(link_key(here, there))); }

bool Relations::end_link(Term here, Term there) {
  const LinkKey key = link_key(here, there);
  return holds(links_.find(key)) && erase_link(key);
}

// ---- Monitors -----------------------------------------------------------------------------------

void Relations::monitor_from_here(RefKey key, Term watcher, Term target) {
  from_here_.insert(key, {watcher, keep_identifier(target)});
}
bool Relations::end_monitor_from_here(RefKey key, MonitorFromHere* was) {
  FlatTable<RefKey, MonitorFromHere>::Entry entry;
  if (!from_here_.take(key, &entry)) return false;
  *was = entry.value;
  return true;
}

RefKey Relations::monitor_from_there(Term watcher, Term ref, Term target, Term name) {
  if (keys_.find({ref})) return {};
  const RefKey key = next_watcher_key();
  const MonitorFromThere monitor{keep_identifier(watcher), keep_identifier(ref), target, name};
  from_there_.insert(key, monitor);
  keys_.insert({monitor.ref}, key);
  return key;
}
bool Relations::end_monitor_from_there(RefKey key, MonitorFromThere* was) {
  FlatTable<RefKey, MonitorFromThere>::Entry entry;
  if (!from_there_.take(key, &entry)) return false;
  *was = entry.value;
  keys_.erase({was->ref});
  return true;
}
bool Relations::end_monitor_from_there(Term ref, RefKey* key, MonitorFromThere* was) {
  const RefKey* found = keys_.find({ref});
  if (!found) return false;
  *key = *found;
  return end_monitor_from_there(*key, was);
}

// ---- Watchers of the node -----------------------------------------------------------------------

void Relations::watch_node(Term pid) {
  if (unsigned* times = node_watchers_.find(pid)) ++*times;
  else node_watchers_.insert(pid, 1);
}
void Relations::unwatch_node(Term pid) {
  unsigned* times = node_watchers_.find(pid);
  if (times && --*times == 0) node_watchers_.erase(pid);
}

// ---- The end ------------------------------------------------------------------------------------

bool Relations::take_link(Term* here, RemotePid* there) {
  FlatTable<LinkKey, Word>::Entry entry;
  for (;;) {
    if (!links_.take_oldest(&entry)) return false;
    if (!entry.value) break;
    entry.key.there.node->release();  // given up: no process waits for news of it
  }
  *here = entry.key.here;
  *there = entry.key.there;
  return true;
}
bool Relations::take_monitor(RefKey* key, MonitorFromHere* was) {
  FlatTable<RefKey, MonitorFromHere>::Entry entry;
  if (!from_here_.take_oldest(&entry)) return false;
  *key = entry.key;
  *was = entry.value;
  return true;
}
bool Relations::take_monitored(RefKey* key, MonitorFromThere* was) {
  FlatTable<RefKey, MonitorFromThere>::Entry entry;
  if (!from_there_.take_oldest(&entry)) return false;
  *key = entry.key;
  *was = entry.value;
  keys_.erase({was->ref});
  return true;
}
bool Relations::take_spawn(RefKey* key, Term* parent) {
  FlatTable<RefKey, Term>::Entry entry;
  if (!spawns_.take_oldest(&entry)) return false;
  *key = entry.key;
  *parent = entry.value;
  return true;
}
bool Relations::take_node_watcher(Term* pid, unsigned* times) {
  FlatTable<Term, unsigned>::Entry entry;
  if (!node_watchers_.take_oldest(&entry)) return false;
  *pid = entry.key;
  *times = entry.value;
  return true;
}

}  // namespace vmrun::dist
