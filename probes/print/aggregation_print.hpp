// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/print/aggregates.hpp"
#include "probes/print/format.hpp"

/// Tables of aggregations: printa, and what is printed at the end. The functions append to a buffer
/// of the caller's and keep no state.
namespace vmrun::d {

struct TableOptions {
  SortOptions sort;
  std::size_t stack_indent = 14;
  bool folded = false;     // stacks: -x stackfmt=folded
  bool raw_bytes = false;  // -x rawbytes
};

/// Prints without a format: keys in columns, then the values of each aggregation.
void print_table(std::string& out, Aggregates& all, const std::vector<std::uint32_t>& aggregations,
                 const TableOptions& options);

/// Prints printa with a format, once for each key. %@ is the value of the next aggregation; after
/// the last one, that one's value again.
void print_formatted(std::string& out, Aggregates& all, const std::vector<std::uint32_t>& aggregations,
                     const std::vector<Conversion>& format, const TableOptions& options);

}  // namespace vmrun::d
