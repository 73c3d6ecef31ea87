#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "probes/d/syntax/tree.hpp"
#include "probes/d/syntax/types.hpp"

/// Makes nodes that are checked already: constants, conversions, copies. Keeps nothing of its own.
namespace vmrun::d::lang {

/// Whether the value lies within its type. What is computed is 64 bits wide, as in dtrace, and is
/// cut where it is stored, recorded or cast.
bool is_cut(const Node* n);

class Nodes {
 public:
  Nodes(Tree& tree, const Types& types) : tree_(tree), types_(types) {}

  Node* make(Node::Kind kind, Place place) { return tree_.make(kind, place); }
  /// A constant, cut to its type.
  Node* integer(Place place, std::uint64_t value, TypeId type);
  /// Cut to that type, even when it is its own.
  Node* cast_to(Node* n, TypeId type);
  /// A deep copy; names of `bindings` are replaced by copies of their values.
  Node* clone(const Node* n, const std::map<std::string, Node*>& bindings);
  /// Puts the value in place of an operator whose operands are constants. Division by zero is the
  /// caller's to refuse.
  void fold(Node*& n);
  /// The type, as error messages show it.
  std::string described(const Node* n) const;

 private:
  Tree& tree_;
  const Types& types_;
};

}  // namespace vmrun::d::lang
