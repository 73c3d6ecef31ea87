// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/expressions/conversions.hpp"
#include "probes/d/expressions/symbols.hpp"
#include "probes/d/expressions/tree_nodes.hpp"

/// The types of operators whose operands are checked. Each function gives n its type and converts
/// operands. It may put a constant in n's place, or fail. The class keeps nothing of its own.
namespace vmrun::d::lang {

class Operators {
 public:
  Operators(Types& types, Nodes& nodes, Conversions& conversions, Symbols& symbols)
      : types_(types), nodes_(nodes), conversions_(conversions), symbols_(symbols) {}

  void unary(Node*& n);  // all but ++ and --, which assign
  void binary(Node*& n);
  void conditional(Node*& n);
  void cast(Node*& n);
  void size_of(Node*& n);
  void offset_of(Node*& n);
  void string_of(Node*& n);
  void index(Node* n);  // into an array of C, a pointer, a text
  void member(Node* n);
  void need_scalar(const Node* n, const char* what);

 private:
  void address_of(Node* n);
  void dereference(Node* n);
  void logical(Node*& n);
  void comparison(Node*& n);
  bool on_pointers(Node* n);
  void arithmetic(Node*& n);

  Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Symbols& symbols_;
};

}  // namespace vmrun::d::lang
