#pragma once

#include "probes/d/expressions/conversions.hpp"
#include "probes/d/expressions/expressions.hpp"
#include "probes/d/script/script.hpp"

/// What of an expression goes into a record or a key. Keeps nothing of its own.
namespace vmrun::d::lang {

class Fields {
 public:
  Fields(const Types& types, Nodes& nodes, Conversions& conversions, Expressions& expressions)
      : types_(types), nodes_(nodes), conversions_(conversions), expressions_(expressions) {}

  /// n: checked. Fails with this tag when values of its type cannot be recorded.
  Field field(Node*& n, const char* tag);
  /// Of ustack() and jstack(), which are not checked yet.
  Field stack(Node* call);

 private:
  const Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Expressions& expressions_;
};

bool is_stack(const Node* n);

}  // namespace vmrun::d::lang
