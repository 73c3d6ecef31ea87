// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/lower/lower_context.hpp"
#include "runtime/compile/lower/match_rows.hpp"

/// Patterns of the bit syntax: a binary under matching is a chain of places, one after each segment
/// that is read. Part of a MatchCompiler; one thread.
namespace vmrun::compile::lower {

class MatchCompiler;

class BitMatcher : LowerPart {
 public:
  BitMatcher(LowerContext& context, MatchCompiler& matcher, Places& places)
      : LowerPart(context), matcher_(matcher), places_(places) {}
  void binaries(Rows rows, Occ* at, Exits x);
  void segments(Rows rows, Occ* at, BlockId read_fail, BlockId deep_fail);
  static bool same_shape(const core::PSegment& a, const core::PSegment& b, const Row& ra, const Row& rb);

 private:
  bool match_string(Rows& rows, Occ* at, BlockId read_fail, BlockId deep_fail);
  void check_units_early(Rows& rows, Occ* at, BlockId read_fail);
  Arg size_of(const core::PSegment& s, Row& row, BlockId fail);

  MatchCompiler& matcher_;
  Places& places_;
  std::uint64_t next_rest_ = 0;
};

}  // namespace vmrun::compile::lower
