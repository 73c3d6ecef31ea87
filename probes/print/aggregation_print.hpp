#pragma once

#include <string>
#include <vector>

#include "probes/print/aggregates.hpp"
#include "probes/print/format.hpp"

/// Tables of aggregations: printa, and what is printed at the end. Appended to a buffer of the
/// caller's; no state.
namespace vmrun::d {

struct TableOptions {
  SortOptions sort;
  std::size_t stack_indent = 14;
  bool folded = false;     // stacks: -x stackfmt=folded
  bool raw_bytes = false;  // -x rawbytes
};

/// Without a format: keys in columns, then the values of each aggregation.
void print_table(std::string& out, Aggregates& all, const std::vector<std::uint32_t>& aggregations,
                 const TableOptions& options);

/// printa with a format, once for each key; %@ is the next aggregation's value, the last one's from
/// then on.
void print_formatted(std::string& out, Aggregates& all, const std::vector<std::uint32_t>& aggregations,
                     const std::vector<Conversion>& format, const TableOptions& options);

}  // namespace vmrun::d
