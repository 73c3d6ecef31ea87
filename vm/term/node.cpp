// SPDX-License-Identifier: Apache-2.0
#include "vm/term/node.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "vm/base/clock.hpp"
#include "vm/base/incremental_sweep.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/term_upcalls.hpp"

namespace vmrun {

std::atomic<Word> node_delay_ns{kUsualNodeDelayNs};

namespace {

// Name and creation of this node in one word, so that a reader sees a matching pair.
std::atomic<Word> local_node{atoms::nonode_at_nohost.raw() << 32};
static_assert(Term::atom(kAtomCapacity - 1).raw() >> 32 == 0);

using Key = std::pair<Word, std::uint32_t>;  // name, creation
using Table = std::map<Key, Node*>;

// These are never destroyed, because threads may outlive main.
std::mutex& mutex = *new std::mutex;
Table& nodes = *new Table;
Key next_look;  // the next sweep begins at the first entry from here on

constexpr unsigned kLooksPerNew = 4;    // entries swept for each new one
constexpr unsigned kLooksAtOnce = 100;  // under the lock

/// Called under the lock. Without the lock, only a holder of a reference makes another one.
bool is_given_back(Node& node, Word now) {
  if (node.references.load(std::memory_order_acquire) != 0) {
    node.unused_since = 0;
    return false;
  }
  if (!is_unused_long_enough(node.unused_since, now)) return false;
  if (void* channel = node.channel.load(std::memory_order_relaxed)) term_upcalls.release_channel(channel);
  delete &node;
  return true;
}

/// Sweeps so many entries, the next ones in order. Returns false at the end of the table.
bool look_at_some(unsigned count) {
  const Word now = monotonic_ns();
  return sweep_some(nodes, &next_look, count, [now](Node& node) { return is_given_back(node, now); });
}

}  // namespace

bool is_unused_long_enough(Word& unused_since, Word now) {
  const Word delay = node_delay_ns.load(std::memory_order_relaxed);
  if (unused_since == 0) unused_since = now;
  return delay != kKeepNodes && now - unused_since >= delay;
}

Node* node_entry(Term name, std::uint32_t creation) {
  std::lock_guard lock(mutex);
  const Key key{name.raw(), creation};
  const auto found = nodes.find(key);
  if (found != nodes.end()) {
    found->second->retain();
    return found->second;
  }
  (void)look_at_some(kLooksPerNew);
  Node* const made = new Node{name, creation, 1};
  nodes.emplace(key, made);
  return made;
}

void give_back_nodes() {
  {
    std::lock_guard lock(mutex);
    next_look = Key{};
  }
  for (bool more = true; more;) {
    std::lock_guard lock(mutex);
    more = look_at_some(kLooksAtOnce);
  }
}

std::vector<NodeCount> known_nodes() {
  std::vector<NodeCount> all;
  for (Key from{};;) {
    std::lock_guard lock(mutex);
    auto it = nodes.lower_bound(from);
    for (unsigned n = 0; n < kLooksAtOnce && it != nodes.end(); ++n, ++it)
      all.push_back(
          {it->second->name, it->second->creation, it->second->references.load(std::memory_order_relaxed)});
    if (it == nodes.end()) return all;
    from = it->first;
  }
}

// ---- This node ----------------------------------------------------------------------------------

Term local_node_name() { return Term::from_raw(local_node.load(std::memory_order_relaxed) >> 32); }
std::uint32_t local_node_creation() {
  return static_cast<std::uint32_t>(local_node.load(std::memory_order_relaxed));
}

namespace {

/// A creation that no identifier of that node has, from the given one on. Smaller ones than 4 have
/// meanings of their own.
std::uint32_t unused_creation(Term name, std::uint32_t creation) {
  std::lock_guard lock(mutex);
  const auto is_used = [name](std::uint32_t c) {
    const auto found = nodes.find({name.raw(), c});
    return found != nodes.end() && found->second->references.load(std::memory_order_acquire) != 0;
  };
  while (is_used(creation)) creation = creation == UINT32_MAX ? 4 : creation + 1;
  return creation;
}

}  // namespace

// Identifiers of a node that had this name are not to be taken for this node's own.
void set_local_node(Term name, std::uint32_t creation) {
  if (creation != 0) creation = unused_creation(name, creation);
  local_node.store(name.raw() << 32 | creation, std::memory_order_relaxed);
}

bool is_local_node(Term name, std::uint32_t creation) {
  // Nodes that were not alive yet write creation 0.
  const Word own = local_node.load(std::memory_order_relaxed);
  return name.raw() == own >> 32 && (creation == 0 || creation == static_cast<std::uint32_t>(own) ||
                                     static_cast<std::uint32_t>(own) == 0);
}

}  // namespace vmrun
