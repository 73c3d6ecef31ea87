// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/compile/lower/lower_bits.hpp"

/// Turns clauses into decision trees. A clause is held as the list of tests still to be done on
/// places ("occurrences") inside the subjects (Jacobs, "How to compile pattern matching", 2021; the
/// choice of what to share follows Wadler's mixture rule in Peyton Jones 1987). The first test of
/// the first clause picks a place; clauses are grouped by what they test there, and each group
/// continues by itself. Clauses without a test there are copied to every group as long as a budget
/// lasts. Beyond it, the clauses after a group become a block to fall back to, so that the size of
/// the code stays linear. One compilation, one thread.
namespace vmrun::compile::lower {

class MatchCompiler : LowerPart {
 public:
  explicit MatchCompiler(LowerContext& context) : LowerPart(context) {}
  /// Tries `clauses` on `subjects` in the current block. Bodies go to `d`; if no clause matches,
  /// control goes to `fail`. in_receive: a matching message is removed before its body starts.
  void run(const std::vector<Arg>& subjects, core::ClauseList clauses, BlockId fail, Dest d,
           bool in_receive = false);
  /// Handles the rows whose tests are still to be done.
  void match(Rows rows, BlockId fail);

 private:
  struct Leaf {
    BlockId block;
    std::vector<std::pair<core::Var*, Arg>> values;
  };
  struct Group {
    Term key;
    Rows rows;
  };

  static std::size_t end_of_reads(const Rows& rows, std::size_t i, const Occ* at);
  std::size_t end_of_part(const Rows& rows, std::size_t i, const Occ* at);
  void read(Rows part, std::span<const Row> later, Occ* at, BlockId next);
  bool leaf(Row& row, BlockId next);
  void body(std::uint32_t clause, Dest d);
  void dispatch(Rows rows, Occ* at, BlockId fail);
  template <class KeyOf, class Same>
  std::vector<Group> group(Rows rows, const Occ* at, KeyOf key_of, Same same);
  void constants(Rows rows, Occ* at, Exits x, bool select);
  bool whole_literal(Rows& rows, Occ* at, Exits x);
  void lists(Rows rows, Occ* at, Exits x);
  void tuples(Rows rows, Occ* at, Exits x);
  void maps(Rows rows, Occ* at, Exits x);
  void get_field(Op op, Arg from, Arg key, Occ* at, BlockId no);
  void match_without(Rows rows, BlockId no, BlockId fail);
  void map_key(Rows rows, Occ* at, BlockId fail);
  void records(Rows rows, Occ* at, Exits x);
  void record_part(Rows rows, Occ* at, BlockId fail);

  core::ClauseList clauses_;
  Places places_{blocks_};
  BitMatcher bits_{c_, *this, places_};
  std::vector<std::vector<Leaf>> leaves_;  // indexed by clause: where its body is reached
  std::size_t copies_ = 0;
  std::size_t budget_ = 0;
  bool in_receive_ = false;
};

}  // namespace vmrun::compile::lower
