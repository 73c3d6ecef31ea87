// SPDX-License-Identifier: Apache-2.0
#include "probes/views/histogram.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "probes/print/plots.hpp"
#include "probes/views/units.hpp"

namespace vmrun::d {
namespace {

constexpr int kBar = 40;  // characters of the longest bar

/// Times begin at 0, even in the bucket below all steps.
double least_of(const Bucket& bucket) { return static_cast<double>(std::max<std::int64_t>(bucket.least, 0)); }

}  // namespace

std::int64_t values_in(const Aggregation& how, const std::uint64_t* values) {
  std::int64_t all = 0;
  for (const Bucket& bucket : buckets_of(how, values)) all += bucket.count;
  return all;
}

double quantile(const Aggregation& how, const std::uint64_t* values, double part) {
  const std::vector<Bucket> buckets = buckets_of(how, values);
  const double wanted = part * static_cast<double>(values_in(how, values));
  double seen = 0;
  for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
    seen += static_cast<double>(buckets[i].count);
    if (seen >= wanted) return least_of(buckets[i + 1]);
  }
  return buckets.empty() ? 0 : least_of(buckets.back());
}

void put_times(std::string& out, const Aggregation& how, const std::uint64_t* values) {
  const std::vector<Bucket> buckets = buckets_of(how, values);
  const auto has = [](const Bucket& b) { return b.count != 0; };
  const auto first = std::ranges::find_if(buckets, has);
  if (first == buckets.end()) return;
  const auto last = std::find_if(buckets.rbegin(), buckets.rend(), has).base();
  const std::int64_t most = std::max_element(first, last, [](const Bucket& a, const Bucket& b) {
                              return a.count < b.count;
                            })->count;
  for (auto bucket = first; bucket != last; ++bucket) {
    const double share = static_cast<double>(bucket->count) / static_cast<double>(most);
    const std::string bar(static_cast<std::size_t>(std::ceil(share * kBar)), '@');
    out += fmt::format("{:>12} |{:<{}} {}\n", time_text(least_of(*bucket)), bar, kBar,
                       count_text(static_cast<double>(bucket->count)));
  }
}

}  // namespace vmrun::d
