// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/script/script.hpp"
#include "probes/d/statements/fields.hpp"
#include "probes/d/statements/printf_format.hpp"

/// printf(), system(), freopen() and the format of printa(). It compares what each conversion takes
/// with what it is given, and keeps nothing of its own.
namespace vmrun::d::lang {

class Formatted {
 public:
  Formatted(const Types& types, Nodes& nodes, Conversions& conversions, Expressions& expressions,
            Fields& fields)
      : types_(types), nodes_(nodes), conversions_(conversions), expressions_(expressions), fields_(fields) {}

  /// Fills in the format and the fields of an action whose first argument is a format.
  void arguments(ActionInfo& info, Node* call);
  /// Checks the conversions of printa()'s format against the keys of its aggregations.
  void keys(const ActionInfo& info, const Node* call, const std::vector<Field>& keys);

 private:
  struct Argument;
  Node*& take(Node* call, std::size_t n, const std::string& conversion, const char* tag);
  void stars(const Conversion& c, const Argument& argument, ActionInfo& info);
  bool fits(const Conversion& c, Node*& value);
  /// Returns the end of the message about a value that does not fit its conversion.
  std::string hint(const Conversion& c, const Node* value) const;
  Field value(const Conversion& c, const Argument& argument);

  const Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Expressions& expressions_;
  Fields& fields_;
};

}  // namespace vmrun::d::lang
