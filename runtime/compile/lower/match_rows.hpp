// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/compile/lower/places.hpp"

/// Clauses under matching: each is a row, the list of tests still to be done. One match; one
/// thread.
namespace vmrun::compile::lower {

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
  // the binary whose rest, behind the fields of known size, has been found to be whole bytes
  const Occ* whole_units = nullptr;
};
using Rows = std::vector<Row>;
/// Where a group goes: when its clauses are exhausted; when the value is not of this type; when it
/// is of the type but in no group.
struct Exits {
  BlockId fail, not_type, other;
};

/// Returns the row's test of a place, or nullptr.
const Cell* cell_at(const Row& row, const Occ* at);
Cell take(Row& row, const Occ* at);
/// Adds the tests of `pat` for the place `at`, and the variables to be bound.
void add(NodeArena& arena, Row& row, Occ* at, const core::Pat* pat);

}  // namespace vmrun::compile::lower
