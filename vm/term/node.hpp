#pragma once

#include <atomic>
#include <cstdint>

#include "vm/term/term.hpp"

/// Nodes that identifiers of other nodes belong to, and this node's own name. Entries are created
/// at first mention and never go away. Any thread.
namespace vmrun {

struct Node {
  Term name;
  std::uint32_t creation;
  std::uint32_t number;  // of the name: what stands first in the texts of its identifiers, from 1 on
  std::atomic<void*> channel{nullptr};  // to it: vm/dist/channels.cpp, which alone looks here
};

/// The one entry for this name and creation.
Node* node_entry(Term name, std::uint32_t creation);

Term local_node_name();
std::uint32_t local_node_creation();  // 0 while the node is not alive
void set_local_node(Term name, std::uint32_t creation);

/// Whether identifiers of that node are this node's.
bool is_local_node(Term name, std::uint32_t creation);

}  // namespace vmrun
