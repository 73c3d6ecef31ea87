#pragma once

#include <cstdint>
#include <string>

#include "probes/engine/program.hpp"

/// Distributions of times, as quantize and the like collect them. No state.
namespace vmrun::d {

/// How many values.
std::int64_t values_in(const Aggregation& how, const std::uint64_t* values);

/// The end of the bucket in which lies the value that `part` of all are not above.
double quantile(const Aggregation& how, const std::uint64_t* values, double part);

/// A bar for each bucket of nanoseconds between the least and the largest with anything in it.
void put_times(std::string& out, const Aggregation& how, const std::uint64_t* values);

}  // namespace vmrun::d
