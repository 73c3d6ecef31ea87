#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "vm/term/term.hpp"

/// Nodes that identifiers of other nodes belong to, and this node's own name. An entry is made when
/// its name and creation are mentioned and counts those who refer to it: identifiers in heaps and
/// messages (through the lists of what hangs outside a heap, like binaries), and tables that hold
/// such a node as a key. Entries that nobody refers to any more stay for a while, since a node that
/// was spoken of is likely to be spoken of again; then they are given back, a few whenever others
/// are made, so that the table is no larger than what is in use takes twice. Any thread.
namespace vmrun {

struct Node {
  Term name;
  std::uint32_t creation;
  std::atomic<Word> references;
  std::atomic<void*> channel{nullptr};  // to it: vm/dist/channels.cpp, which alone looks here
  Word unused_since = 0;                // ns, 0: in use when last looked at; under the table's lock

  /// What stands first in the texts of its identifiers.
  Word number() const { return name.atom_index(); }
  /// By who has a reference.
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  /// Whoever gives the last one up does nothing else with the entry: it can be gone at once. Pairs
  /// with the look of who gives entries back.
  void release() { references.fetch_sub(1, std::memory_order_release); }
};

/// The one entry for this name and creation, with a reference that is the caller's.
Node* node_entry(Term name, std::uint32_t creation);

// ---- Giving back --------------------------------------------------------------------------------

/// How long an entry, or a channel, stays that nobody needs; the most: for ever. Until it is set:
/// +zdntgc, a minute.
inline constexpr Word kUsualNodeDelayNs = 60'000'000'000, kKeepNodes = ~Word{0};
extern std::atomic<Word> node_delay_ns;
/// Whether something that is not in use goes now; unused_since is kept by who asks, under a lock.
bool is_unused_long_enough(Word& unused_since, Word now_ns);
/// Gives back all that can go.
void give_back_nodes();
/// Lets go of the channel of an entry that is given back: vm/dist.
using ForgetChannel = void (*)(void* channel);
extern constinit ForgetChannel forget_channel;

struct NodeCount {
  Term name;
  std::uint32_t creation;
  Word references;
};
/// Those there are, by name.
std::vector<NodeCount> known_nodes();

// ---- This node ----------------------------------------------------------------------------------

Term local_node_name();
std::uint32_t local_node_creation();  // 0 while the node is not alive
void set_local_node(Term name, std::uint32_t creation);

/// Whether identifiers of that node are this node's.
bool is_local_node(Term name, std::uint32_t creation);

}  // namespace vmrun
