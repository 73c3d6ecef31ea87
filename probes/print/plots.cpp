// SPDX-License-Identifier: Apache-2.0
#include "probes/print/plots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "probes/engine/aggregation.hpp"
#include "probes/print/format.hpp"

namespace vmrun::d {
namespace {

constexpr unsigned kBar = 40;

using U128 = unsigned __int128;

std::uint64_t square_root(U128 n) {
  U128 root = 0;
  for (U128 bit = static_cast<U128>(1) << 126; bit != 0; bit >>= 2) {
    if (n >= root + bit) {
      n -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return static_cast<std::uint64_t>(root);
}

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                       kMost = std::numeric_limits<std::int64_t>::max();

std::vector<Bucket> quantize_buckets(const std::uint64_t* values) {
  std::vector<Bucket> all;
  for (unsigned i = 0; i < kQuantizeBuckets; ++i) {
    // Below zero, the value of a bucket is its greatest.
    const std::int64_t value = quantize_bucket_value(i);
    const std::int64_t least = i > kQuantizeZero ? value : i == 0 ? kLeast : quantize_bucket_value(i - 1) + 1;
    const std::int64_t most = i <= kQuantizeZero         ? value
                              : i + 1 < kQuantizeBuckets ? quantize_bucket_value(i + 1) - 1
                                                         : kMost;
    all.push_back({least, most, value, static_cast<std::int64_t>(values[i]), Bucket::End::kNone});
  }
  return all;
}

std::vector<Bucket> lquantize_buckets(const Aggregation& how, const std::uint64_t* values) {
  const std::int64_t base = how.parameters[0], step = how.parameters[2];
  const std::size_t levels = value_words(how) - 2;
  std::vector<Bucket> all;
  all.push_back({kLeast, base - 1, base, static_cast<std::int64_t>(values[0]), Bucket::End::kBelow});
  std::int64_t least = base;
  for (std::size_t i = 0; i < levels; ++i, least += step)
    all.push_back(
        {least, least + step - 1, least, static_cast<std::int64_t>(values[i + 1]), Bucket::End::kNone});
  all.push_back({least, kMost, least, static_cast<std::int64_t>(values[levels + 1]), Bucket::End::kAbove});
  return all;
}

/// Returns the buckets of positive values from factor^low on. Each begins at `least`; the last one
/// has no end.
std::vector<Bucket> steps_above(std::uint64_t factor, std::uint64_t low, std::uint64_t high,
                                std::uint64_t steps) {
  std::vector<Bucket> all;
  U128 power = 1;
  for (std::uint64_t i = 0; i < low; ++i) power *= factor;
  const auto at = [](U128 value) { return static_cast<std::int64_t>(std::min<U128>(value, kMost)); };
  for (std::uint64_t range = low; range <= high; ++range) {
    const U128 next = power * factor;
    // A bucket between two whole numbers holds no value, and has no bounds.
    for (std::uint64_t step = steps / factor; step < steps; ++step) {
      const U128 least = std::max(next * step / steps, power), most = next * (step + 1) / steps;
      const bool is_whole = next * step % steps == 0;
      all.push_back({at(least), is_whole ? at(std::max(most, least + 1) - 1) : at(least) - 1, at(least), 0,
                     Bucket::End::kNone});
    }
    power = next;
  }
  all.push_back({at(power), kMost, at(power), 0, Bucket::End::kAbove});
  return all;
}

std::vector<Bucket> llquantize_buckets(const Aggregation& how, const std::uint64_t* values) {
  const auto parameter = [&](unsigned i) { return static_cast<std::uint64_t>(how.parameters[i]); };
  const std::vector<Bucket> above = steps_above(parameter(0), parameter(1), parameter(2), parameter(3));
  const std::int64_t least = above.front().least;
  const std::size_t middle = above.size();
  const auto count = [&](std::size_t i) { return static_cast<std::int64_t>(values[i]); };
  std::vector<Bucket> all;
  for (std::size_t i = middle; i-- > 0;)
    if (const Bucket& b = above[i]; b.least <= b.most)
      all.push_back({i + 1 == middle ? kLeast : -b.most, -b.least, -b.bound, count(middle - 1 - i),
                     i + 1 == middle ? Bucket::End::kAtMost : Bucket::End::kNone});
  all.push_back({1 - least, least - 1, least, count(middle), Bucket::End::kAround});
  for (std::size_t i = 0; i < middle; ++i)
    if (Bucket b = above[i]; b.least <= b.most) {
      b.count = count(middle + 1 + i);
      all.push_back(b);
    }
  return all;
}

/// Returns the value that stands for a whole bucket when plots are compared, as in libdtrace.
long double weighed_as(const Aggregation& how, const Bucket& bucket) {
  const auto bound = static_cast<long double>(bucket.bound);
  if (how.how == Aggregating::kLlquantize) return bucket.end == Bucket::End::kAround ? 0 : bound;
  return bucket.end == Bucket::End::kBelow   ? bound - 1
         : bucket.end == Bucket::End::kAbove ? bound + 1
                                             : bound;
}

/// with_negatives: the plot also shows buckets below the one around 0.
std::string label_of(const Bucket& bucket, bool with_negatives) {
  switch (bucket.end) {
    case Bucket::End::kBelow: return fmt::format("< {}", bucket.bound);
    case Bucket::End::kAbove: return fmt::format(">= {}", bucket.bound);
    case Bucket::End::kAtMost: return fmt::format("<= {}", bucket.bound);
    case Bucket::End::kAround:
      if (bucket.bound == 1) return "0";
      return fmt::format("{}{}", with_negatives ? "abs() < " : "< ", bucket.bound);
    case Bucket::End::kNone: break;
  }
  return fmt::format("{}", bucket.bound);
}

/// Chooses the buckets that are not empty, and one more on either side. For an empty plot, it
/// chooses three near zero, or the first three.
void choose(const std::vector<Bucket>& all, const Aggregation& how, std::size_t& first, std::size_t& last) {
  const auto has = [](const Bucket& b) { return b.count != 0; };
  const auto begin = std::find_if(all.begin(), all.end(), has);
  if (begin == all.end()) {
    const bool around_zero = how.how == Aggregating::kQuantize, log = how.how == Aggregating::kLlquantize;
    first = around_zero ? kQuantizeZero - 1 : log ? all.size() / 2 : 0;
    last = std::min(first + 2, all.size() - 1);
    return;
  }
  first = begin - all.begin();
  if (first > 0) --first;
  last = all.rend() - std::find_if(all.rbegin(), all.rend(), has) - 1;
  if (last + 1 < all.size()) ++last;
}

/// Puts a bar to the right for a positive count, and to the left for a negative one (increments may
/// be negative). When there are both, a line in the middle separates them.
void put_bar(std::string& out, std::int64_t count, std::uint64_t normal, long double total, bool positives,
             bool negatives) {
  const unsigned length = positives && negatives ? kBar / 2 : kBar;
  const auto depth =
      total == 0 ? 0U
                 : static_cast<unsigned>(std::fabs(static_cast<long double>(count)) * length / total + 0.5L);
  const std::string bar(depth, '@'), rest(length - std::min(depth, length), ' ');
  const std::int64_t shown = count / static_cast<std::int64_t>(normal);
  if (!negatives) out += '|' + bar + rest;
  else if (!positives) out += rest + bar + '|';
  else if (count <= 0) out += rest + bar + '|' + std::string(length, ' ');
  else out += std::string(length, ' ') + '|' + bar + rest;
  out += ' ';
  put_left(out, fmt::format_int(shown).str(), 9);
  out += '\n';
}

void put_plot(std::string& out, const Aggregation& how, const std::uint64_t* values, std::uint64_t normal) {
  const std::vector<Bucket> all = buckets_of(how, values);
  std::size_t first = 0, last = 0;
  choose(all, how, first, last);
  bool positives = false, negatives = false;
  long double total = 0;
  for (std::size_t i = first; i <= last; ++i) {
    positives |= all[i].count > 0;
    negatives |= all[i].count < 0;
    total += std::fabs(static_cast<long double>(all[i].count));
  }
  out += "\n           value  ------------- Distribution ------------- count    \n";
  for (std::size_t i = first; i <= last; ++i) {
    put_right(out, label_of(all[i], all[first].most < 0), 16);
    out += ' ';
    put_bar(out, all[i].count, normal, total, positives, negatives);
  }
}

}  // namespace

std::vector<Bucket> buckets_of(const Aggregation& how, const std::uint64_t* values) {
  switch (how.how) {
    case Aggregating::kQuantize: return quantize_buckets(values);
    case Aggregating::kLquantize: return lquantize_buckets(how, values);
    default: return llquantize_buckets(how, values);
  }
}

bool is_plot(const Aggregation& how) {
  return how.how == Aggregating::kQuantize || how.how == Aggregating::kLquantize ||
         how.how == Aggregating::kLlquantize;
}

std::uint64_t standard_deviation(const std::uint64_t* values, std::uint64_t normal) {
  const std::uint64_t count = values[0];
  if (count == 0) return 0;
  const U128 squares = (static_cast<U128>(values[3]) << 64) | values[2];
  const U128 mean_of_squares = squares / normal / normal / count;
  const std::int64_t mean = static_cast<std::int64_t>(values[1]) / static_cast<std::int64_t>(normal) /
                            static_cast<std::int64_t>(count);
  const auto size = static_cast<std::uint64_t>(mean < 0 ? -mean : mean);
  const U128 square_of_mean = static_cast<U128>(size) * size;
  return mean_of_squares <= square_of_mean ? 0 : square_root(mean_of_squares - square_of_mean);
}

std::int64_t single_value(const Aggregation& how, const std::uint64_t* values, std::uint64_t normal) {
  switch (how.how) {
    case Aggregating::kAvg:
      if (values[0] == 0) return 0;
      return static_cast<std::int64_t>(values[1]) / static_cast<std::int64_t>(normal) /
             static_cast<std::int64_t>(values[0]);
    case Aggregating::kStddev: return static_cast<std::int64_t>(standard_deviation(values, normal));
    default:
      if (!how.is_signed) return static_cast<std::int64_t>(values[0] / normal);
      return static_cast<std::int64_t>(values[0]) / static_cast<std::int64_t>(normal);
  }
}

void put_values(std::string& out, const Aggregation& how, const std::uint64_t* values, std::uint64_t normal) {
  if (is_plot(how)) return put_plot(out, how, values, normal);
  out += ' ';
  const std::int64_t n = single_value(how, values, normal);
  put_right(out,
            how.is_signed ? fmt::format_int(n).str() : fmt::format_int(static_cast<std::uint64_t>(n)).str(),
            16);
}

PlotWeight plot_weight(const Aggregation& how, const std::uint64_t* values) {
  PlotWeight weight{0, 0};
  for (const Bucket& bucket : buckets_of(how, values)) {
    const long double value = weighed_as(how, bucket);
    weight.sum += value * static_cast<long double>(bucket.count);
    if (value == 0) weight.at_zero += bucket.count;
  }
  return weight;
}

}  // namespace vmrun::d
