// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "probes/d/syntax/c_types.hpp"
#include "probes/d/syntax/tree.hpp"

/// Makes nodes that are checked already: constants, conversions, copies. It keeps nothing of its
/// own.
namespace vmrun::d::lang {

/// Whether the value lies within its type. As in dtrace, a computed value is 64 bits wide and is
/// cut where it is stored, recorded or cast.
bool is_cut(const Node* n);

class Nodes {
 public:
  Nodes(Tree& tree, const Types& types) : tree_(tree), types_(types) {}

  Node* make(Node::Kind kind, Place place) { return tree_.make(kind, place); }
  /// Returns a constant, cut to its type.
  Node* integer(Place place, std::uint64_t value, TypeId type);
  /// Cuts a value to that type, even when it has the type already.
  Node* cast_to(Node* n, TypeId type);
  /// Makes a deep copy. Names in `bindings` are replaced by copies of their values.
  Node* clone(const Node* n, const std::map<std::string, Node*>& bindings);
  /// Puts the value in place of an operator whose operands are constants. The caller must have
  /// refused a division by zero.
  void fold(Node*& n);
  /// Returns the type as error messages show it.
  std::string described(const Node* n) const;

 private:
  Tree& tree_;
  const Types& types_;
};

}  // namespace vmrun::d::lang
