#pragma once
// Constant expressions as terms. One compilation, one thread.

#include "runtime/compile/core/core_context.hpp"

namespace vmrun::compile {

class ConstantToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  /// A constant expression as a term (attributes, patterns); the non-value when it is none.
  Term constant(const Expr& e, bool attribute);
};

}  // namespace vmrun::compile
