// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "probes/engine/program.hpp"

/// Distributions of times, as quantize and its relatives collect them. It keeps no state.
namespace vmrun::d {

/// Returns how many values there are.
std::int64_t values_in(const Aggregation& how, const std::uint64_t* values);

/// Returns a quantile: the end of the bucket with the value that the given `part` of all values do
/// not exceed.
double quantile(const Aggregation& how, const std::uint64_t* values, double part);

/// Puts a bar for each bucket of nanoseconds between the least and the largest one that are not
/// empty.
void put_times(std::string& out, const Aggregation& how, const std::uint64_t* values);

}  // namespace vmrun::d
