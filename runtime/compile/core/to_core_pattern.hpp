// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Patterns. One compilation, one thread.
namespace vmrun::compile {

class PatternToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  core::Pat* pattern(const Expr& e, PatternContext& context);
  core::Pat* binary_pattern(const BinaryExpr& e, PatternContext& context, Var* rest);

 private:
  /// Returns a size or a map key. It sees variables that were bound before the pattern, and of the
  /// pattern only `own`, the variables of earlier segments.
  CExpr* pattern_operand(const Expr& e, const PatternContext& context, std::span<const std::string_view> own);
  core::Pat* variable_pattern(std::string_view name, Loc loc, PatternContext& context);
  core::Pat* record_pattern(const RecordExpr& e, PatternContext& context);
  core::Pat* map_pattern(const MapExpr& e, PatternContext& context);
  core::Pat* string_pattern(const Expr& prefix, core::Pat* tail);
};

}  // namespace vmrun::compile
