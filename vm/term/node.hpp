// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "vm/term/term.hpp"

/// Nodes that identifiers of other nodes belong to, and this node's own name. An entry is made when
/// its name and creation are first mentioned. It counts its references: identifiers in heaps and
/// messages (through their off-heap lists, like binaries), and tables that have such a node as a
/// key. An entry without references stays for a while, since the node is likely to be mentioned
/// again. Then it is freed: a few entries are swept whenever others are made, so that the table
/// takes at most twice what is in use. Any thread.
namespace vmrun {

struct Node {
  Term name;
  std::uint32_t creation;
  std::atomic<Word> references;
  std::atomic<void*> channel{nullptr};  // its connection; used by vm/dist/channels.cpp alone
  Word unused_since = 0;                // ns, 0: in use at the last sweep; under the table's lock

  /// The first number in the texts of its identifiers.
  Word number() const { return name.atom_index(); }
  /// Called by the holder of a reference.
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  /// After the last release the caller must not use the entry: it may be freed at once. Pairs with
  /// the acquire load of the sweep.
  void release() { references.fetch_sub(1, std::memory_order_release); }
};

/// Returns the one entry for this name and creation, with a reference that is the caller's.
Node* node_entry(Term name, std::uint32_t creation);

// ---- Freeing entries ----------------------------------------------------------------------------

/// How long an unused entry, or channel, stays; with the largest value for ever. +zdntgc sets it;
/// the default is a minute.
inline constexpr Word kUsualNodeDelayNs = 60'000'000'000, kKeepNodes = ~Word{0};
extern std::atomic<Word> node_delay_ns;
/// Whether something that is not in use is freed now. The caller keeps unused_since, under a lock.
bool is_unused_long_enough(Word& unused_since, Word now_ns);
/// Frees all entries that can be freed.
void give_back_nodes();

struct NodeCount {
  Term name;
  std::uint32_t creation;
  Word references;
};
/// Returns the entries, sorted by name.
std::vector<NodeCount> known_nodes();

// ---- This node ----------------------------------------------------------------------------------

Term local_node_name();
std::uint32_t local_node_creation();  // 0 while the node is not alive
void set_local_node(Term name, std::uint32_t creation);

/// Whether identifiers of that node belong to this node.
bool is_local_node(Term name, std::uint32_t creation);

}  // namespace vmrun
