// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/engine/program.hpp"

/// Aggregations. Each thread that fires has tables of its own, so taking a value in needs no atomic
/// operation. The controlling thread puts the thread's other table in place and waits until no
/// firing uses the old one. It then adds the old table to the session's master and clears it.
///
/// The values of an element, in words:
///   count      1  the count                       sum, min, max   1  the value
///   avg        2  count, sum
///   stddev     4  count, sum, sum of squares (low, high word)
///   quantize 127  bucket 63 is of 0; 63 + n of 2^(n-1) and more; 63 - n of -2^(n-1) and less
///   lquantize     levels + 2: below base, the levels, limit and above;
///                 levels = (limit - base) / step
///   llquantize    -factor^(high + 1) and less, the steps of negative values, one for all nearer
///                 to 0 than factor^low, the steps of positive values, factor^(high + 1) and more
namespace vmrun::d {

inline constexpr unsigned kQuantizeBuckets = 127, kQuantizeZero = 63;
inline constexpr std::size_t kMostBuckets = 65536;

/// Returns how many words the values of an element take, or 0 when the parameters are impossible.
std::size_t value_words(const Aggregation& aggregation);
/// Returns the least value of a bucket of quantize (dtrace's DTRACE_QUANTIZE_BUCKETVAL).
std::int64_t quantize_bucket_value(unsigned bucket);
std::size_t quantize_bucket(std::int64_t value, bool is_signed);
std::size_t lquantize_bucket(const Aggregation& aggregation, std::int64_t value);
/// The parameters must be possible ones.
std::size_t llquantize_bucket(const Aggregation& aggregation, std::int64_t value);

/// start_values() sets the values that an element has before anything is taken in. take_in() takes
/// in one value `times` times.
void start_values(const Aggregation& aggregation, std::uint64_t* values);
void take_in(const Aggregation& aggregation, std::uint64_t* values, std::int64_t value, std::int64_t times);
/// Adds another element's values, as if they had been taken in `times` times.
void merge_values(const Aggregation& aggregation, std::uint64_t* values, const std::uint64_t* others,
                  std::uint64_t times = 1);

/// The elements of one thread, found by aggregation and key. The firing thread takes values in. The
/// controlling thread walks and clears the table, but only while no firing uses it.
class AggregationTable {
 public:
  AggregationTable() = default;
  AggregationTable(const AggregationTable&) = delete;
  ~AggregationTable();
  /// bytes: the size of all elements and the index. They are mapped here and touched when used.
  /// Returns false when there is no memory.
  bool open(const std::vector<Aggregation>& aggregations, std::size_t bytes);

  /// Returns false when there is no room.
  bool take_in(std::uint32_t aggregation, const std::uint64_t* key, std::size_t key_words, std::int64_t value,
               std::int64_t times) {
    std::uint64_t* values = key_words == 0 ? unkeyed_[aggregation] : nullptr;
    if (values == nullptr) [[unlikely]]
      values = find(aggregation, key, key_words);
    if (values == nullptr) [[unlikely]]
      return false;
    const Aggregation& a = (*aggregations_)[aggregation];
    if (a.how == Aggregating::kCount) *values += static_cast<std::uint64_t>(times);
    else d::take_in(a, values, value, times);
    return true;
  }

  using Visit = std::function<void(std::uint32_t aggregation, std::span<const std::uint64_t> key,
                                   const std::uint64_t* values)>;
  void walk(const Visit& visit) const;
  void clear();
  bool empty() const { return used_ == first_; }

 private:
  struct Head {
    std::uint32_t next;  // the word at which the chain's next element begins; 0: none
    std::uint32_t hash;
    std::uint32_t aggregation;
    std::uint32_t key_words;
    // The key follows, then the values.
  };
  Head* head(std::size_t word) const { return reinterpret_cast<Head*>(words_ + word); }
  std::uint64_t* find(std::uint32_t aggregation, const std::uint64_t* key, std::size_t key_words);
  std::uint64_t* add(std::uint32_t aggregation, std::uint32_t hash, const std::uint64_t* key,
                     std::size_t key_words);

  const std::vector<Aggregation>* aggregations_ = nullptr;
  std::vector<std::size_t> value_words_;
  std::vector<std::uint64_t*> unkeyed_;
  std::uint64_t* words_ = nullptr;  // the index of chains (32 bits each), then the elements
  std::size_t bytes_ = 0, first_ = 0, used_ = 0, most_ = 0;
  std::uint32_t mask_ = 0;
};

/// The elements of all threads, added up. Only the controlling thread uses it. Its memory is
/// bounded, and what does not fit is reported.
class AggregationMaster {
 public:
  AggregationMaster(const std::vector<Aggregation>& aggregations, std::size_t most_bytes)
      : aggregations_(aggregations), most_bytes_(most_bytes), elements_(aggregations.size()) {}
  /// Returns how many elements did not fit.
  std::size_t merge(const AggregationTable& table);
  /// Adds the values of one element, `times` times. Returns false when they did not fit.
  bool merge(std::uint32_t aggregation, const std::string& key, const std::uint64_t* values,
             std::uint64_t times);
  void clear(std::uint32_t aggregation);
  using Visit = std::function<void(std::uint32_t aggregation, const std::string& key,
                                   const std::vector<std::uint64_t>&)>;
  void walk(const Visit& visit) const;

 private:
  const std::vector<Aggregation>& aggregations_;
  std::size_t most_bytes_, bytes_ = 0;
  std::vector<std::unordered_map<std::string, std::vector<std::uint64_t>>> elements_;
};

}  // namespace vmrun::d
