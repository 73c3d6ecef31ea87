// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Constant expressions as terms. One compilation, one thread.
namespace vmrun::compile {

class ConstantToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  /// Returns a constant expression as a term (attributes, patterns), or the non-value when it is
  /// not constant.
  Term constant(const Expr& e, bool attribute);
};

}  // namespace vmrun::compile
