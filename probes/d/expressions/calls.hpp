// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "probes/d/expressions/conversions.hpp"
#include "probes/d/expressions/tree_nodes.hpp"

/// Calls in expressions: subroutines of the engine (subroutines.tab), and functions for which the
/// compiler makes code itself. It keeps nothing of its own.
namespace vmrun::d::lang {

/// Fails when a call has too few or too many arguments.
void need_arguments(const Node* call, std::size_t least, std::size_t most, const char* tag = "D_PROTO_LEN");

/// Whether an expression can call this name: a subroutine, or a function for which the compiler
/// makes code.
bool is_function(std::string_view name);
/// Whether the name is no function, no action, and none that is refused with a reason.
bool is_unknown_function(std::string_view name);
/// Returns the end of a message about an unknown function: which one may have been meant. Only
/// those that take as many arguments are named, and actions only where the call is a statement.
std::string function_hint(const Node* call, bool is_statement);

class Calls {
 public:
  Calls(Types& types, Nodes& nodes, Conversions& conversions, const Options& options)
      : types_(types), nodes_(nodes), conversions_(conversions), options_(options) {}

  /// Checks, before the arguments are checked, that such a function exists and takes so many.
  /// is_variable: whether a variable has this name.
  void begin(const Node* n, bool is_variable) const;
  /// Checks, after its arguments were checked, the call's type and those of its arguments.
  void check(Node*& n);

 private:
  struct Own;
  static const Own kOwn[];
  static const Own* own(std::string_view name);
  friend bool is_function(std::string_view name);
  friend std::string function_hint(const Node* call, bool is_statement);

  Node* argument_text(const Node* source);
  Node* text_of(Node* source);
  void copyinstr(Node*& n);
  void copyin(Node*& n);
  void need_memory(const Node* n, std::size_t i);
  void need_scratch(const Node* n, std::size_t i);
  void address_of_ipv6(const Node* n);
  void element(Node*& n);
  void map_key(Node*& n);
  void speculation(Node*& n);
  void allocate(Node*& n);
  void bcopy(Node*& n);
  void term2str(Node*& n);
  void subroutine(Node* n, unsigned number);
  void of_term(Node* n);

  Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  const Options& options_;
};

}  // namespace vmrun::d::lang
