// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/expressions/conversions.hpp"
#include "probes/d/expressions/expressions.hpp"
#include "probes/d/script/script.hpp"

/// What goes into a record or a key for an expression. It keeps nothing of its own.
namespace vmrun::d::lang {

class Fields {
 public:
  Fields(const Types& types, Nodes& nodes, Conversions& conversions, Expressions& expressions)
      : types_(types), nodes_(nodes), conversions_(conversions), expressions_(expressions) {}

  /// n: checked. Fails with `tag` when values of its type cannot be recorded.
  Field field(Node*& n, const char* tag);
  /// Returns the field of ustack() or jstack(), whose call is not checked yet.
  Field stack(Node* call);

 private:
  const Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Expressions& expressions_;
};

bool is_stack(const Node* n);

}  // namespace vmrun::d::lang
