// SPDX-License-Identifier: Apache-2.0
#include "probes/views/units.hpp"

#include <cmath>
#include <span>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

struct Step {
  double factor;
  const char* unit;
};

/// Writes two digits behind the point below 10, one below 100, and none above.
std::string three_digits(double n) { return fmt::format("{:.{}f}", n, n < 9.995 ? 2 : n < 99.95 ? 1 : 0); }

/// Writes a number in the largest unit of which there is at least one. The smallest unit is written
/// as a whole number.
std::string in_steps(double n, std::span<const Step> steps, const char* between) {
  const double rounded = std::round(n);
  if (rounded < steps[1].factor)
    return fmt::format("{:.0f}{}{}", rounded, *steps[0].unit ? between : "", steps[0].unit);
  std::size_t i = 1;
  while (i + 1 < steps.size() && n >= steps[i + 1].factor * 0.9995) ++i;
  return fmt::format("{}{}{}", three_digits(n / steps[i].factor), between, steps[i].unit);
}

constexpr Step kTimes[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
constexpr Step kBytes[] = {
    {1, "B"}, {1024, "KB"}, {1048576, "MB"}, {1073741824, "GB"}, {1099511627776, "TB"}};
constexpr Step kCountSteps[] = {{1, ""}, {1e4, ""}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}};

}  // namespace

std::string time_text(double ns) { return in_steps(ns, kTimes, " "); }
std::string bytes_text(double bytes) { return in_steps(bytes, kBytes, " "); }

std::string count_text(double n) {
  if (std::round(n) >= 1e4 && n < 999500) return three_digits(n / 1e3) + "k";
  return in_steps(n, kCountSteps, "");
}

std::string share_text(double part) {
  const double percent = part * 100;
  return fmt::format("{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

}  // namespace vmrun::d
