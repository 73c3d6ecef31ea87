// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "probes/d/descriptions/probe_arguments.hpp"
#include "probes/d/expressions/calls.hpp"
#include "probes/d/expressions/conversions.hpp"
#include "probes/d/expressions/operators.hpp"
#include "probes/d/expressions/symbols.hpp"
#include "probes/d/expressions/translators.hpp"
#include "probes/d/expressions/tree_nodes.hpp"

/// Finds out what names in expressions mean and what types expressions have. It walks trees from
/// the leaves upwards, puts constants, inlines and translators in, and makes the variables that are
/// assigned to. Of its own it keeps only the depth of the walk.
namespace vmrun::d::lang {

class Expressions {
 public:
  Expressions(const Types& types, Nodes& nodes, Conversions& conversions, Symbols& symbols,
              Translators& translators, Operators& operators, Calls& calls, ProbeArguments& arguments,
              Failures& failures)
      : types_(types),
        nodes_(nodes),
        conversions_(conversions),
        symbols_(symbols),
        translators_(translators),
        operators_(operators),
        calls_(calls),
        arguments_(arguments),
        failures_(failures) {}

  /// Checks n, and may put another node in its place. A node that is checked already stays as it
  /// is.
  void check(Node*& n);
  void check_all(std::vector<Node*>& list);
  /// Fails with D_OP_SCALAR. what: the operator or statement, as the error names it.
  void check_scalar(Node*& n, const char* what);

 private:
  class Deeper;

  void put_in(Node*& n, Node* value, TypeId type, const char* tag);
  void name(Node*& n);
  /// Fails with the name that may have been meant.
  [[noreturn]] void unknown_member_variable(const Node* n);
  [[noreturn]] void unknown_name(const Node* n);
  std::string name_hint(const Node* n);
  void must_be_known(const Node* n, std::initializer_list<std::string_view> words);
  void there(const Node* n) const;
  void known_symbol(Node*& n, const Symbol& symbol);
  void make_target(Node* n, TypeId value);
  void target(Node*& n, TypeId value);
  void increment(Node* n);
  void assign(Node* n);
  std::vector<Node*> array_keys(const Node* n, Symbol& array);
  void element(Node* n, Symbol& array);
  void inlined_call(Node*& n, const Symbol& symbol);
  void probe_argument(Node* n);
  void index(Node*& n);
  void member(Node*& n);

  const Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Symbols& symbols_;
  Translators& translators_;
  Operators& operators_;
  Calls& calls_;
  ProbeArguments& arguments_;
  Failures& failures_;
  unsigned depth_ = 0;
};

}  // namespace vmrun::d::lang
