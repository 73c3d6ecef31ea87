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

/// One bucket of quantize, lquantize or llquantize: how many of least to most, both included.
struct Bucket {
  /// Of what lies below and above all steps, and of llquantize: -bound and less, nearer to 0 than
  /// bound.
  enum class End : std::uint8_t { kNone, kBelow, kAbove, kAtMost, kAround };
  std::int64_t least, most;
  std::int64_t bound;  // what plots show
  std::int64_t count;
  End end;
};
/// All of a plot, those with nothing in them too, in ascending order.
std::vector<Bucket> buckets_of(const Aggregation& how, const std::uint64_t* values);

/// The single number of all but plots. What is not signed is the same bits.
std::int64_t single_value(const Aggregation& how, const std::uint64_t* values, std::uint64_t normal);

std::uint64_t standard_deviation(const std::uint64_t* values, std::uint64_t normal);

/// What plots are sorted by: the sum of all values, each taken as its bucket's least; then how many
/// are in the bucket of 0.
struct PlotWeight {
  long double sum;
  std::int64_t at_zero;
};
PlotWeight plot_weight(const Aggregation& how, const std::uint64_t* values);

}  // namespace vmrun::d
