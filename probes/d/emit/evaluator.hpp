#pragma once

#include "probes/d/syntax/tree.hpp"

namespace vmrun::d::lang {

/// What makes code of an expression (values.hpp): keys and places have expressions inside.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Leaves the value, or the address of what is reached by one, in a new register; returns it.
  virtual unsigned value(const Node* n) = 0;
  /// The same for a term, in a register of terms.
  virtual unsigned term(const Node* n) = 0;
};

}  // namespace vmrun::d::lang
