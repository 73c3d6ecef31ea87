#pragma once
// Clauses under matching: each is a row, the list of tests still to be done. One match; one thread.

#include <vector>

#include "runtime/compile/ssa/places.hpp"

namespace vmrun::compile::ssa {

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
/// Where to go from a group: clauses exhausted; not of this type at all; of the type but in no
/// group.
struct Exits {
  BlockId fail, not_type, other;
};

/// The row's test of a place, or null.
const Cell* cell_at(const Row& row, const Occ* at);
Cell take(Row& row, const Occ* at);
/// Adds what `pat` asks of the place `at`: tests, and variables to be bound.
void add(NodeArena& arena, Row& row, Occ* at, const core::Pat* pat);

}  // namespace vmrun::compile::ssa
