#include "vm/term/node.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "vm/term/atom.hpp"

namespace vmrun {
namespace {

// Name and creation of this node in one word, so that a reader sees a matching pair.
std::atomic<Word> local_node{atoms::nonode_at_nohost.raw() << 32};
static_assert(Term::atom(kAtomCapacity - 1).raw() >> 32 == 0);

}  // namespace

Node* node_entry(Term name, std::uint32_t creation) {
  static std::mutex& mutex = *new std::mutex;  // neither is ever destroyed: threads may outlive main
  static auto& nodes = *new std::map<std::pair<Word, std::uint32_t>, Node*>;
  static auto& numbers = *new std::map<Word, std::uint32_t>;
  std::lock_guard lock(mutex);
  Node*& node = nodes[{name.raw(), creation}];
  if (!node) {
    const auto number = static_cast<std::uint32_t>(numbers.size() + 1);
    node = new Node{name, creation, numbers.try_emplace(name.raw(), number).first->second};
  }
  return node;
}

Term local_node_name() { return Term::from_raw(local_node.load(std::memory_order_relaxed) >> 32); }
std::uint32_t local_node_creation() {
  return static_cast<std::uint32_t>(local_node.load(std::memory_order_relaxed));
}
void set_local_node(Term name, std::uint32_t creation) {
  local_node.store(name.raw() << 32 | creation, std::memory_order_relaxed);
}

bool is_local_node(Term name, std::uint32_t creation) {
  // Creation 0 is written by nodes that were not alive yet.
  const Word own = local_node.load(std::memory_order_relaxed);
  return name.raw() == own >> 32 && (creation == 0 || creation == static_cast<std::uint32_t>(own) ||
                                     static_cast<std::uint32_t>(own) == 0);
}

}  // namespace vmrun
