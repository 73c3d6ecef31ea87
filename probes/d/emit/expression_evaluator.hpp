// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/syntax/tree.hpp"

namespace vmrun::d::lang {

/// Makes the code of an expression (values.hpp). Keys and locations need it for the expressions
/// inside them.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Leaves the value in a new register and returns the register. For values that are reached by an
  /// address, it is the address.
  virtual unsigned value(const Node* n) = 0;
  /// Leaves the term in a new register of terms and returns the register.
  virtual unsigned term(const Node* n) = 0;
};

}  // namespace vmrun::d::lang
