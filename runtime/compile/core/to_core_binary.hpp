// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/core/core_context.hpp"

/// Construction of binaries; constant ones become literals. One compilation, one thread.
namespace vmrun::compile {

class BinaryToCore : ToCorePart {
 public:
  using ToCorePart::ToCorePart;
  core::SegSpec segment_spec(const Segment& s) const;
  /// Returns the default size of a segment without a written one; nullptr where there is none.
  CExpr* default_size(const Segment& s);
  void append_segments(const BinaryExpr& e, Block& block, std::vector<core::Segment>& out);
  CExpr* binary_expr(const BinaryExpr& e, Block& block);
  CExpr* fold_binary(Loc loc, const std::vector<core::Segment>& segments);
};

}  // namespace vmrun::compile
