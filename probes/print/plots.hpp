// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/engine/program.hpp"

/// The values of one element of an aggregation as text: numbers, and the plots of quantize,
/// lquantize and llquantize, as dtrace prints them. values: as probes/engine/aggregation.hpp
/// describes them. There is no state; any thread may call.
namespace vmrun::d {

/// Puts what follows the key in the default printing: " %16d", or a plot that begins on a new line.
void put_values(std::string& out, const Aggregation& how, const std::uint64_t* values, std::uint64_t normal);

bool is_plot(const Aggregation& how);

/// One bucket of quantize, lquantize or llquantize. It has `count` values from least to most, both
/// included.
struct Bucket {
  /// kBelow and kAbove lie below and above all steps. Two occur in llquantize only: kAtMost is
  /// -bound and less, and kAround is nearer to 0 than bound.
  enum class End : std::uint8_t { kNone, kBelow, kAbove, kAtMost, kAround };
  std::int64_t least, most;
  std::int64_t bound;  // the number that plots show
  std::int64_t count;
  End end;
};
/// Returns all buckets of a plot in ascending order, also the empty ones.
std::vector<Bucket> buckets_of(const Aggregation& how, const std::uint64_t* values);

/// Returns the single number of an aggregation without a plot. An unsigned value has the same bits.
std::int64_t single_value(const Aggregation& how, const std::uint64_t* values, std::uint64_t normal);

std::uint64_t standard_deviation(const std::uint64_t* values, std::uint64_t normal);

/// The order of plots: by the sum of all values, each taken as its bucket's least, then by the
/// count in the bucket of 0.
struct PlotWeight {
  long double sum;
  std::int64_t at_zero;
};
PlotWeight plot_weight(const Aggregation& how, const std::uint64_t* values);

}  // namespace vmrun::d
