// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "vm/heap/copy.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/heap/heap.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/external_identifier.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;

namespace {

Term name(int n) { return intern_atom("node" + std::to_string(n) + "@test"); }

Word references(Term name, std::uint32_t creation) {
  for (const NodeCount& node : known_nodes())
    if (node.name == name && node.creation == creation) return node.references;
  return ~Word{0};
}

Term pid(Heap& heap, Term node, std::uint32_t creation) {
  const Word number = 17;
  return external_identifier(heap, Term::Sub::kExternalPid, node_entry(node, creation), &number, 1);
}

struct Delay {
  explicit Delay(Word ns) { node_delay_ns = ns; }
  ~Delay() { node_delay_ns = kUsualNodeDelayNs; }
};

}  // namespace

TEST_CASE("entries of nodes count the identifiers that refer to them, wherever these are copied") {
  const Term node = name(0);
  {
    Arena arena;
    Term t = pid(arena, node, 1);
    CHECK(references(node, 1) == 1);
    Fragment* f = new_fragment(copy_size_words(t));
    f->message = copy_into(*f, t);
    CHECK(references(node, 1) == 2);
    CHECK(copy_to(arena, f->message).is_pid());
    CHECK(references(node, 1) == 3);
    CHECK(pid(arena, node, 1).is_pid());
    CHECK(references(node, 1) == 4);
    CHECK(pid(arena, node, 2).is_pid());
    CHECK(references(node, 2) == 1);
    Fragment::destroy(f);
    CHECK(references(node, 1) == 3);
  }
  CHECK(references(node, 1) == 0);
  CHECK(references(node, 2) == 0);
}

TEST_CASE("entries of nodes that nothing refers to go when others are made, those in use stay") {
  const Delay none(0);
  Arena arena;
  const Term kept = name(0);
  const Term t = pid(arena, kept, 7);
  for (int i = 1; i <= 10'000; ++i) node_entry(name(i % 100), static_cast<std::uint32_t>(i))->release();
  CHECK(known_nodes().size() < 10);
  CHECK(references(kept, 7) == 1);
  CHECK(reinterpret_cast<const ExternalObject*>(t.boxed_ptr())->node->name == kept);
  give_back_nodes();
  CHECK(known_nodes().size() == 1);
}

TEST_CASE("entries of nodes stay for a while, and are the same when they are mentioned again") {
  const Delay usual(kUsualNodeDelayNs);
  Node* const node = node_entry(name(1), 1);
  node->release();
  give_back_nodes();
  CHECK(references(name(1), 1) == 0);
  CHECK(node_entry(name(1), 1) == node);
  node->release();
}

TEST_CASE("this node does not become one that identifiers refer to, but takes the next creation") {
  Arena arena;
  const Term own = name(2);
  for (const std::uint32_t used : {7u, 8u, 10u, UINT32_MAX, 4u}) CHECK(pid(arena, own, used).is_pid());
  const auto creation_for = [own](std::uint32_t asked) {
    set_local_node(own, asked);
    const std::uint32_t creation = local_node_creation();
    set_local_node(atoms::nonode_at_nohost, 0);
    return creation;
  };
  CHECK(creation_for(6) == 6);
  CHECK(creation_for(7) == 9);
  CHECK(creation_for(10) == 11);
  CHECK(creation_for(UINT32_MAX) == 5);
}

TEST_CASE("identifiers of a node that had this node's name are printed as this node's own") {
  Arena arena;
  const Term t = pid(arena, name(2), 3);
  CHECK(pid_text(t) != "<0.17.0>");
  set_local_node(name(2), 7);
  CHECK(pid_text(t) == "<0.17.0>");
  set_local_node(atoms::nonode_at_nohost, 0);
}
