#pragma once
// Clauses to decision trees. A clause is held as the list of tests still to be done on places
// ("occurrences") inside the subjects (Jacobs, "How to compile pattern matching", 2021; the choice
// of what to share follows Wadler's mixture rule in Peyton Jones 1987): the first test of the first
// clause picks a place, clauses are sorted by what they want there, each group goes on by itself.
// Clauses that do not care are copied to every group as long as a budget lasts; beyond it, what
// comes after a group becomes a block to fall back to, so that the size of the code stays linear.
// One compilation, one thread.

#include <deque>
#include <vector>

#include "runtime/compile/ssa/lower.hpp"

namespace vmrun::compile::ssa {

/// A place in a subject. Its value is fetched when a test or a body needs it.
struct Occ {
  enum Kind : std::uint8_t {
    kRoot,
    kHead,
    kTail,
    kElement,
    kMapValue,
    kBinStart,
    kBinRest,
    kBinTail,
    kField
  } kind;
  Occ* parent = nullptr;
  std::uint64_t index = 0;    // kElement, and the position of kBinRest
  core::Expr* key = nullptr;  // kMapValue
  ValueId value = kNone;      // where fetched on the way to the present block
  std::vector<Occ*> children;
};

class MatchCompiler {
 public:
  explicit MatchCompiler(Lowerer& l) : l_(l) {}
  /// Tries `clauses` on `subjects` in the present block; bodies go to `d`, what matches nothing to
  /// `fail`. in_receive: a matching message is removed before its body starts.
  void run(const std::vector<Arg>& subjects, core::ClauseList clauses, BlockId fail, Dest d,
           bool in_receive = false);

 private:
  struct Cell {
    Occ* at;
    const core::Pat* pat;
    std::size_t segment = 0;  // PBinary: matched up to here
  };
  struct Binding {
    core::Var* var;
    Occ* at;
  };
  struct Row {
    std::uint32_t clause;
    std::vector<Cell> cells;  // in reverse: the next test is at the back
    std::vector<Binding> bindings;
    // of this binary, what is left after the fields of known size was found to be whole bytes
    const Occ* whole_units = nullptr;
  };
  using Rows = std::vector<Row>;
  struct Leaf {
    BlockId block;
    std::vector<std::pair<core::Var*, Arg>> values;
  };
  struct Group {
    Term key;
    Rows rows;
  };

  void add(Row& row, Occ* at, const core::Pat* pat);
  void match(Rows rows, BlockId fail);
  bool leaf(Row& row, BlockId next);
  void dispatch(Rows rows, Occ* at, BlockId fail);
  /// Where to go from a group: clauses exhausted; not of this type at all; of the type but in no
  /// group.
  struct Exits {
    BlockId fail, not_type, other;
  };
  template <class KeyOf, class Same>
  std::vector<Group> group(Rows rows, const Occ* at, KeyOf key_of, Same same);
  void constants(Rows rows, Occ* at, Exits x, bool select);
  bool whole_literal(Rows& rows, Occ* at, Exits x);
  void lists(Rows rows, Occ* at, Exits x);
  void tuples(Rows rows, Occ* at, Exits x);
  void maps(Rows rows, Occ* at, Exits x);
  void map_key(Rows rows, Occ* at, BlockId fail);
  // Bit syntax (lower_bits.cpp).
  void binaries(Rows rows, Occ* at, Exits x);
  void segments(Rows rows, Occ* at, BlockId read_fail, BlockId deep_fail);
  bool match_string(Rows& rows, Occ* at, BlockId read_fail, BlockId deep_fail);
  void check_units_early(Rows& rows, Occ* at, BlockId read_fail);
  Arg size_of(const core::PSegment& s, Row& row, BlockId fail);
  static bool same_shape(const core::PSegment& a, const core::PSegment& b, const Row& ra, const Row& rb);
  void body(std::uint32_t clause, Dest d);

  Occ* child(Occ* parent, Occ::Kind kind, std::uint64_t index, core::Expr* key = nullptr);
  ValueId fetch(Occ* at);
  void known(Occ* at, ValueId v);
  std::size_t mark() const { return trail_.size(); }
  /// Forgets what was fetched since, except in `base`, which every later block comes after.
  void undo(std::size_t mark, BlockId base);
  static const Cell* cell_at(const Row& row, const Occ* at);
  static Cell take(Row& row, const Occ* at);
  BlockId start_block() {
    BlockId b = l_.new_block();
    l_.start(b);
    return b;
  }

  Lowerer& l_;
  core::ClauseList clauses_;
  std::deque<Occ> occs_;
  std::vector<std::vector<Leaf>> leaves_;
  struct Fetched {
    Occ* at;
    BlockId block;
    ValueId before;
  };
  std::vector<Fetched> trail_;
  std::size_t copies_ = 0;
  std::size_t budget_ = 0;
  std::uint64_t next_rest_ = 0;
  bool in_receive_ = false;
};

}  // namespace vmrun::compile::ssa
