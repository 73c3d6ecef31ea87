// SPDX-License-Identifier: Apache-2.0
// The layouts and buckets are dtrace's. Those of llquantize are Oracle's, which has buckets for
// negative values.
#include "probes/engine/aggregation.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

namespace vmrun::d {

namespace {

using Wide = unsigned __int128;

std::uint64_t unsigned_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

/// The parameters of llquantize. The range r goes from factor^r to factor^(r + 1) and is cut into
/// steps of factor^(r + 1) / steps. The steps that lie below factor^r belong to lower ranges.
struct LogLinear {
  std::uint64_t factor, low, high, steps;
  explicit LogLinear(const Aggregation& a)
      : factor(unsigned_of(a.parameters[0])),
        low(unsigned_of(a.parameters[1])),
        high(unsigned_of(a.parameters[2])),
        steps(unsigned_of(a.parameters[3])) {}
  std::uint64_t overlap() const { return steps / factor; }
  std::uint64_t of_range() const { return steps - overlap(); }
  /// Returns the number of buckets of positive values, with the one above all ranges.
  std::uint64_t of_side() const { return (high - low + 1) * of_range() + 1; }
};

Wide power_of(std::uint64_t factor, std::uint64_t exponent) {
  Wide power = 1;
  for (; exponent > 0 && power >> 64 == 0; --exponent) power *= factor;
  return power;
}

/// Returns the bucket of a value that is not negative, counted from factor^low, or nothing for a
/// value below that.
std::optional<std::uint64_t> step_of(const LogLinear& q, std::uint64_t size) {
  Wide power = power_of(q.factor, q.low);
  if (size < power) return std::nullopt;
  for (std::uint64_t range = q.low; range <= q.high; ++range) {
    power *= q.factor;
    if (size < power)
      return (range - q.low) * q.of_range() + static_cast<std::uint64_t>(Wide{size} * q.steps / power) -
             q.overlap();
  }
  return q.of_side() - 1;
}

/// Whether the parameters are possible. The limits of buckets must be whole numbers: even the
/// narrowest steps have a whole width, or each bucket is as wide as several steps.
bool possible(const LogLinear& q) {
  if (q.factor < 2 || q.factor > 65535 || q.low > q.high || q.high > 63 || q.steps < 1 || q.steps > 65535)
    return false;
  if (power_of(q.factor, q.high + 1) >> 64 != 0) return false;
  if (q.steps < q.factor) return q.factor % q.steps == 0;
  return q.steps % q.factor == 0 && power_of(q.factor, q.low == 0 ? 2 : q.low + 1) % q.steps == 0;
}

void add_square(std::uint64_t* low_high, std::int64_t value, std::uint64_t times) {
  const Wide size = value < 0 ? static_cast<Wide>(0) - static_cast<Wide>(value) : static_cast<Wide>(value);
  const Wide sum = (static_cast<Wide>(low_high[1]) << 64 | low_high[0]) + size * size * times;
  low_high[0] = static_cast<std::uint64_t>(sum);
  low_high[1] = static_cast<std::uint64_t>(sum >> 64);
}

bool less(const Aggregation& a, std::uint64_t x, std::uint64_t y) {
  return a.is_signed ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) : x < y;
}

std::uint64_t worst(const Aggregation& a) {
  const bool least = a.how == Aggregating::kMax;
  if (!a.is_signed) return least ? 0 : ~0ull;
  return unsigned_of(least ? std::numeric_limits<std::int64_t>::min()
                           : std::numeric_limits<std::int64_t>::max());
}

std::uint32_t hash_of(std::uint32_t aggregation, const std::uint64_t* key, std::size_t words) {
  std::uint64_t h = (aggregation + 1) * 0x9e3779b97f4a7c15ull;
  for (std::size_t i = 0; i < words; ++i) {
    h = (h ^ key[i]) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  h *= 0x9e3779b97f4a7c15ull;
  return static_cast<std::uint32_t>(h >> 32);
}

}  // namespace

std::size_t value_words(const Aggregation& a) {
  switch (a.how) {
    case Aggregating::kCount:
    case Aggregating::kSum:
    case Aggregating::kMin:
    case Aggregating::kMax: return 1;
    case Aggregating::kAvg: return 2;
    case Aggregating::kStddev: return 4;
    case Aggregating::kQuantize: return kQuantizeBuckets;
    case Aggregating::kLquantize: {
      const auto base = a.parameters[0], limit = a.parameters[1], step = a.parameters[2];
      if (step <= 0 || limit <= base) return 0;
      const auto levels = (unsigned_of(limit) - unsigned_of(base)) / unsigned_of(step);
      return levels == 0 || levels > kMostBuckets ? 0 : levels + 2;
    }
    case Aggregating::kLlquantize: {
      const LogLinear q(a);
      if (!possible(q)) return 0;
      const auto words = 2 * q.of_side() + 1;
      return words > kMostBuckets ? 0 : words;
    }
  }
  return 0;
}

std::int64_t quantize_bucket_value(unsigned bucket) {
  if (bucket == kQuantizeZero) return 0;
  return bucket < kQuantizeZero ? -(std::int64_t{1} << (kQuantizeZero - 1 - bucket))
                                : std::int64_t{1} << (bucket - kQuantizeZero - 1);
}

std::size_t quantize_bucket(std::int64_t value, bool is_signed) {
  if (value < 0 && is_signed) {
    const auto size = 0 - unsigned_of(value);
    return kQuantizeZero -
           std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(size)), kQuantizeZero);
  }
  return std::min<std::size_t>(kQuantizeZero + static_cast<std::size_t>(std::bit_width(unsigned_of(value))),
                               kQuantizeBuckets - 1);
}

std::size_t lquantize_bucket(const Aggregation& a, std::int64_t value) {
  const auto base = a.parameters[0], limit = a.parameters[1], step = a.parameters[2];
  const auto levels = (unsigned_of(limit) - unsigned_of(base)) / unsigned_of(step);
  if (value < base) return 0;
  const auto level = (unsigned_of(value) - unsigned_of(base)) / unsigned_of(step);
  return std::min(level, levels) + 1;
}

std::size_t llquantize_bucket(const Aggregation& a, std::int64_t value) {
  const LogLinear q(a);
  const auto step = step_of(q, value < 0 ? 0 - unsigned_of(value) : unsigned_of(value));
  const std::size_t middle = q.of_side();
  return !step ? middle : value < 0 ? middle - 1 - *step : middle + 1 + *step;
}

void start_values(const Aggregation& a, std::uint64_t* values) {
  std::memset(values, 0, value_words(a) * 8);
  if (a.how == Aggregating::kMin || a.how == Aggregating::kMax) *values = worst(a);
}

void take_in(const Aggregation& a, std::uint64_t* values, std::int64_t value, std::int64_t times) {
  const auto n = unsigned_of(value), count = unsigned_of(times);
  switch (a.how) {
    case Aggregating::kCount: *values += count; break;
    case Aggregating::kSum: *values += n * count; break;
    case Aggregating::kMin:
      if (less(a, n, *values)) *values = n;
      break;
    case Aggregating::kMax:
      if (less(a, *values, n)) *values = n;
      break;
    case Aggregating::kAvg: values[0] += count, values[1] += n * count; break;
    case Aggregating::kStddev:
      values[0] += count, values[1] += n * count;
      add_square(values + 2, value, count);
      break;
    case Aggregating::kQuantize: values[quantize_bucket(value, a.is_signed)] += count; break;
    case Aggregating::kLquantize: values[lquantize_bucket(a, value)] += count; break;
    case Aggregating::kLlquantize: values[llquantize_bucket(a, value)] += count; break;
  }
}

void merge_values(const Aggregation& a, std::uint64_t* values, const std::uint64_t* others,
                  std::uint64_t times) {
  switch (a.how) {
    case Aggregating::kMin:
    case Aggregating::kMax: take_in(a, values, static_cast<std::int64_t>(*others), 1); return;
    case Aggregating::kStddev: {
      const Wide sum = (static_cast<Wide>(values[3]) << 64 | values[2]) +
                       (static_cast<Wide>(others[3]) << 64 | others[2]) * times;
      values[0] += others[0] * times, values[1] += others[1] * times;
      values[2] = static_cast<std::uint64_t>(sum), values[3] = static_cast<std::uint64_t>(sum >> 64);
      return;
    }
    default: {
      const auto words = value_words(a);
      for (std::size_t i = 0; i < words; ++i) values[i] += others[i] * times;
    }
  }
}

AggregationTable::~AggregationTable() {
  if (words_ != nullptr) munmap(words_, bytes_);
}

bool AggregationTable::open(const std::vector<Aggregation>& aggregations, std::size_t bytes) {
  aggregations_ = &aggregations;
  for (const auto& a : aggregations) value_words_.push_back(value_words(a));
  unkeyed_.assign(aggregations.size(), nullptr);
  const std::size_t chains = std::bit_floor(std::max<std::size_t>(bytes / 64, 16));
  bytes_ = std::max<std::size_t>(bytes, 256) + chains * 4;
  void* memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  words_ = static_cast<std::uint64_t*>(memory);
  mask_ = static_cast<std::uint32_t>(chains - 1);
  first_ = used_ = chains / 2;
  most_ = bytes_ / 8;
  return true;
}

std::uint64_t* AggregationTable::find(std::uint32_t aggregation, const std::uint64_t* key,
                                      std::size_t key_words) {
  const auto hash = hash_of(aggregation, key, key_words);
  const auto* chains = reinterpret_cast<const std::uint32_t*>(words_);
  for (std::uint32_t at = chains[hash & mask_]; at != 0; at = head(at)->next) {
    Head& e = *head(at);
    if (e.hash != hash || e.aggregation != aggregation || e.key_words != key_words) continue;
    const std::uint64_t* its = words_ + at + sizeof(Head) / 8;
    std::size_t same = 0;
    while (same < key_words && its[same] == key[same]) ++same;
    if (same == key_words) return words_ + at + sizeof(Head) / 8 + key_words;
  }
  return add(aggregation, hash, key, key_words);
}

std::uint64_t* AggregationTable::add(std::uint32_t aggregation, std::uint32_t hash, const std::uint64_t* key,
                                     std::size_t key_words) {
  const std::size_t words = sizeof(Head) / 8 + key_words + value_words_[aggregation];
  if (words > most_ - used_) return nullptr;
  auto* chains = reinterpret_cast<std::uint32_t*>(words_);
  const auto at = static_cast<std::uint32_t>(used_);
  used_ += words;
  *head(at) = {chains[hash & mask_], hash, aggregation, static_cast<std::uint32_t>(key_words)};
  chains[hash & mask_] = at;
  std::uint64_t* place = words_ + at + sizeof(Head) / 8;
  for (std::size_t i = 0; i < key_words; ++i) place[i] = key[i];
  start_values((*aggregations_)[aggregation], place + key_words);
  if (key_words == 0) unkeyed_[aggregation] = place;
  return place + key_words;
}

void AggregationTable::walk(const Visit& visit) const {
  for (std::size_t at = first_; at < used_;) {
    const Head& e = *head(at);
    const std::uint64_t* key = words_ + at + sizeof(Head) / 8;
    visit(e.aggregation, {key, e.key_words}, key + e.key_words);
    at += sizeof(Head) / 8 + e.key_words + value_words_[e.aggregation];
  }
}

void AggregationTable::clear() {
  auto* chains = reinterpret_cast<std::uint32_t*>(words_);
  for (std::size_t at = first_; at < used_;) {
    const Head& e = *head(at);
    chains[e.hash & mask_] = 0;
    at += sizeof(Head) / 8 + e.key_words + value_words_[e.aggregation];
  }
  used_ = first_;
  std::fill(unkeyed_.begin(), unkeyed_.end(), nullptr);
}

std::size_t AggregationMaster::merge(const AggregationTable& table) {
  std::size_t dropped = 0;
  table.walk([&](std::uint32_t number, std::span<const std::uint64_t> key, const std::uint64_t* values) {
    dropped += !merge(number, {reinterpret_cast<const char*>(key.data()), key.size_bytes()}, values, 1);
  });
  return dropped;
}

bool AggregationMaster::merge(std::uint32_t number, const std::string& key, const std::uint64_t* values,
                              std::uint64_t times) {
  const Aggregation& a = aggregations_[number];
  auto& elements = elements_[number];
  auto found = elements.find(key);
  if (found == elements.end()) {
    const std::size_t words = value_words(a), bytes = key.size() + words * 8 + 64;
    if (bytes > most_bytes_ - bytes_) return false;
    bytes_ += bytes;
    found = elements.emplace(key, words).first;
    start_values(a, found->second.data());
  }
  merge_values(a, found->second.data(), values, times);
  return true;
}

void AggregationMaster::clear(std::uint32_t number) {
  auto& elements = elements_[number];
  for (const auto& [key, values] : elements) bytes_ -= key.size() + values.size() * 8 + 64;
  elements.clear();
}

void AggregationMaster::walk(const Visit& visit) const {
  for (std::uint32_t number = 0; number < elements_.size(); ++number)
    for (const auto& [key, values] : elements_[number]) visit(number, key, values);
}

}  // namespace vmrun::d
