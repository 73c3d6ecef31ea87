// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "probes/d/descriptions/probe_arguments.hpp"
#include "probes/d/expressions/tree_nodes.hpp"

/// What a checked value can stand for: a text, an integer, the value of a variable of some type. It
/// keeps nothing of its own.
namespace vmrun::d::lang {

class Conversions {
 public:
  Conversions(Nodes& nodes, const Types& types, const ProbeArguments& arguments)
      : nodes_(nodes), types_(types), arguments_(arguments) {}

  /// Makes a text of an argument of the probe or a term. Returns false when the value is not a text
  /// and cannot become one.
  bool to_text(Node*& n);
  /// Puts term2int() around a term.
  void term_to_integer(Node*& n);
  /// Returns the end of a message about a number where a text is needed: how the text of this
  /// argument of the probe is written. It is empty when n is anything else.
  std::string text_hint(const Node* n) const;
  void need_text(Node*& n, const char* tag, const std::string& who);
  void need_integer(Node*& n, const char* tag, const std::string& who);
  /// Returns the type of a variable that this value makes.
  TypeId kept_type(const Node* value);
  /// Converts a value to the type of what it is assigned to, or fails with `tag`.
  void assignable(Node*& value, TypeId to, Place place, const char* tag = "D_OP_INCOMPAT");

 private:
  Node* of_term(Node* term, const char* function, TypeId type);

  Nodes& nodes_;
  const Types& types_;
  const ProbeArguments& arguments_;
};

}  // namespace vmrun::d::lang
