// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/emit/code.hpp"
#include "probes/d/emit/expression_evaluator.hpp"
#include "probes/d/syntax/c_types.hpp"

/// Terms and parts of terms. They have registers of their own, and are never stored.
namespace vmrun::d::lang {

class Terms {
 public:
  Terms(Code& code, const Types& types, Evaluator& evaluator)
      : code_(code), types_(types), evaluator_(evaluator) {}

  /// Leaves the term in a new register of terms and returns the register.
  unsigned term(const Node* n);
  /// t := the value of a key of a map, or no term when the map has no such key. t is the next
  /// register of terms.
  void map_value(const Node* n, unsigned t);

 private:
  void part(const Node* n, unsigned t);

  Code& code_;
  const Types& types_;
  Evaluator& evaluator_;
};

}  // namespace vmrun::d::lang
