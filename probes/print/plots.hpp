#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/engine/program.hpp"

/// Values of one element of an aggregation as text: numbers, and the plots of quantize, lquantize
/// and llquantize, as dtrace prints them. values: as probes/engine/aggregation.hpp has them. No
/// state; any thread may call.
namespace vmrun::d {

/// What the default printing puts behind the key: " %16d", or a plot that begins a line of its own.
void put_values(std::string& out, const Aggregation& how, const std::uint64_t* values, std::uint64_t normal);

bool is_plot(const Aggregation& how);

/// The single number of all but plots. What is not signed is the same bits.
std::int64_t single_value(const Aggregation& how, const std::uint64_t* values, std::uint64_t normal);

std::uint64_t standard_deviation(const std::uint64_t* values, std::uint64_t normal);

/// A row of a plot: values from `least` on, and how many of them.
struct Bucket {
  std::string label;
  long double least;
  std::int64_t count;
};
/// All of a plot, empty ones too, least first.
std::vector<Bucket> plot_buckets(const Aggregation& how, const std::uint64_t* values);

/// What plots are sorted by: the sum of all values, each taken as its bucket's least; then how many
/// are in the bucket of 0.
struct PlotWeight {
  long double sum;
  std::int64_t at_zero;
};
PlotWeight plot_weight(const Aggregation& how, const std::uint64_t* values);

}  // namespace vmrun::d
