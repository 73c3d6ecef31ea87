// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/aggregation.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace vmrun::d;

namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

std::vector<std::uint64_t> taken(const Aggregation& a, std::initializer_list<std::int64_t> values) {
  std::vector<std::uint64_t> words(value_words(a));
  start_values(a, words.data());
  for (const auto v : values) take_in(a, words.data(), v, 1);
  return words;
}

using Words = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("the simple ones") {
  CHECK(taken({"c", Aggregating::kCount}, {5, 5, 5}) == Words{3});
  CHECK(taken({"s", Aggregating::kSum}, {5, -7}) == Words{static_cast<std::uint64_t>(-2)});
  CHECK(taken({"a", Aggregating::kAvg}, {5, 7}) == Words{2, 12});
  CHECK(taken({"m", Aggregating::kMin}, {5, -7, 3}) == Words{static_cast<std::uint64_t>(-7)});
  CHECK(taken({"m", Aggregating::kMax}, {-5, -7}) == Words{static_cast<std::uint64_t>(-5)});
  CHECK(taken({"m", Aggregating::kMax, {}, false}, {-5, 7}) == Words{static_cast<std::uint64_t>(-5)});
  CHECK(taken({"m", Aggregating::kMin, {}, false}, {-5, 7}) == Words{7});
}

TEST_CASE("the sum of squares has 128 bits") {
  CHECK(taken({"d", Aggregating::kStddev}, {3, -4}) == Words{2, static_cast<std::uint64_t>(-1), 25, 0});
  CHECK(taken({"d", Aggregating::kStddev}, {kLeast, kLeast}) == Words{2, 0, 0, std::uint64_t{1} << 63});
}

TEST_CASE("quantize: each bucket begins at its value") {
  for (unsigned bucket = 0; bucket < kQuantizeBuckets; ++bucket) {
    const auto value = quantize_bucket_value(bucket);
    CHECK(quantize_bucket(value, true) == bucket);
    if (bucket > kQuantizeZero && bucket + 1 < kQuantizeBuckets)
      CHECK(quantize_bucket(quantize_bucket_value(bucket + 1) - 1, true) == bucket);
    if (bucket > 0 && bucket < kQuantizeZero)
      CHECK(quantize_bucket(quantize_bucket_value(bucket - 1) + 1, true) == bucket);
  }
  CHECK(quantize_bucket_value(0) == -(std::int64_t{1} << 62));
  CHECK(quantize_bucket(kLeast, true) == 0);
  CHECK(quantize_bucket(kMost, true) == 126);
  CHECK(quantize_bucket(-1, false) == 126);
}

TEST_CASE("lquantize") {
  const Aggregation a{"l", Aggregating::kLquantize, {-10, 20, 10}};
  CHECK(value_words(a) == 5);
  CHECK(taken(a, {-11, -10, -1, 0, 19, 20, kMost, kLeast}) == Words{2, 2, 1, 1, 2});
  CHECK(value_words({"l", Aggregating::kLquantize, {0, 10, 0}}) == 0);
  CHECK(value_words({"l", Aggregating::kLquantize, {10, 10, 1}}) == 0);
  CHECK(value_words({"l", Aggregating::kLquantize, {kLeast, kMost, 1}}) == 0);
  CHECK(value_words({"l", Aggregating::kLquantize, {0, 10, 20}}) == 0);
}

TEST_CASE("llquantize") {
  // 0; 1 to 9 by 1, 10 to 99 by 10, 100 to 999 by 100; 1000 and above; the same below 0.
  const Aggregation a{"ll", Aggregating::kLlquantize, {10, 0, 2, 10}};
  CHECK(value_words(a) == 57);
  CHECK(llquantize_bucket(a, kLeast) == 0);
  CHECK(llquantize_bucket(a, -1000) == 0);
  CHECK(llquantize_bucket(a, -999) == 1);
  CHECK(llquantize_bucket(a, -1) == 27);
  CHECK(llquantize_bucket(a, 0) == 28);
  CHECK(llquantize_bucket(a, 1) == 29);
  CHECK(llquantize_bucket(a, 9) == 37);
  CHECK(llquantize_bucket(a, 10) == 38);
  CHECK(llquantize_bucket(a, 19) == 38);
  CHECK(llquantize_bucket(a, 99) == 46);
  CHECK(llquantize_bucket(a, 100) == 47);
  CHECK(llquantize_bucket(a, 999) == 55);
  CHECK(llquantize_bucket(a, 1000) == 56);
  CHECK(llquantize_bucket(a, kMost) == 56);
  // Fewer steps than the factor: 1, 2 and 3, 4 to 7, 8 to 15.
  const Aggregation few{"few", Aggregating::kLlquantize, {4, 0, 1, 2}};
  CHECK(value_words(few) == 11);
  CHECK(llquantize_bucket(few, 1) == 6);
  CHECK(llquantize_bucket(few, 3) == 7);
  CHECK(llquantize_bucket(few, 7) == 8);
  CHECK(llquantize_bucket(few, 15) == 9);
  CHECK(llquantize_bucket(few, -16) == 0);
  // Steps that do not lie between whole numbers, or beyond 64 bits.
  CHECK(value_words({"l", Aggregating::kLlquantize, {10, 0, 2, 3}}) == 0);
  CHECK(value_words({"l", Aggregating::kLlquantize, {10, 0, 2, 30}}) == 0);
  CHECK(value_words({"l", Aggregating::kLlquantize, {10, 0, 63, 10}}) == 0);
  for (std::int64_t factor : {2, 3, 10, 1000})
    for (std::int64_t high : {0, 1, 2, 18, 63})
      for (std::int64_t steps : {1, 2, 3, 20, 1000, 2000, 60000}) {
        const Aggregation wide{"w", Aggregating::kLlquantize, {factor, 0, high, steps}};
        const auto words = value_words(wide);
        if (words == 0) continue;
        for (std::int64_t v = kMost; v > 0; v -= v / 7 + 1) {
          CHECK(llquantize_bucket(wide, v) < words);
          CHECK(llquantize_bucket(wide, v) + llquantize_bucket(wide, -v) == words - 1);
        }
      }
}

TEST_CASE("elements are found by their keys, until there is no more room") {
  const std::vector<Aggregation> all = {{"c"}, {"q", Aggregating::kQuantize}};
  AggregationTable table;
  REQUIRE(table.open(all, 4096));
  std::uint64_t n = 0;
  while (table.take_in(0, &n, 1, 1, 1)) ++n;
  CHECK(n > 50);
  CHECK_FALSE(table.take_in(1, nullptr, 0, 1, 1));
  for (std::uint64_t i = 0; i < n; ++i) CHECK(table.take_in(0, &i, 1, 1, 1));
  std::uint64_t seen = 0;
  table.walk([&](std::uint32_t, std::span<const std::uint64_t> key, const std::uint64_t* values) {
    CHECK(key[0] == seen++);
    CHECK(values[0] == 2);
  });
  CHECK(seen == n);
  table.clear();
  CHECK(table.empty());
  CHECK(table.take_in(1, nullptr, 0, 1, 1));
  CHECK(table.take_in(1, nullptr, 0, 1, 1));
  seen = 0;
  table.walk([&](std::uint32_t number, std::span<const std::uint64_t> key, const std::uint64_t* values) {
    ++seen;
    CHECK(number == 1);
    CHECK(key.empty());
    CHECK(values[64] == 2);
  });
  CHECK(seen == 1);
}

TEST_CASE("tables are added up, each kind in its way, within bounds") {
  const std::vector<Aggregation> all = {{"min", Aggregating::kMin}, {"d", Aggregating::kStddev}, {"c"}};
  AggregationTable one, other;
  REQUIRE(one.open(all, 65536));
  REQUIRE(other.open(all, 65536));
  const std::uint64_t key[] = {1, 2};
  one.take_in(0, key, 2, 5, 1), other.take_in(0, key, 2, 3, 1);
  one.take_in(1, key, 1, kLeast, 1), other.take_in(1, key, 1, kLeast, 1);
  for (std::uint64_t i = 0; i < 100; ++i) one.take_in(2, &i, 1, 1, 1);
  AggregationMaster master(all, 1000);
  const auto dropped = master.merge(one);
  CHECK(dropped > 80);
  CHECK(master.merge(other) == 0);
  std::size_t checked = 0;
  master.walk([&](std::uint32_t number, const std::string& k, const std::vector<std::uint64_t>& values) {
    if (number == 0) CHECK(((checked |= 1), k.size() == 16 && values == Words{3}));
    if (number == 1) CHECK(((checked |= 2), values == Words{2, 0, 0, std::uint64_t{1} << 63}));
  });
  CHECK(checked == 3);
  master.clear(2);
  AggregationTable third;
  REQUIRE(third.open(all, 65536));
  third.take_in(2, key, 1, 1, 1);
  CHECK(master.merge(third) == 0);
}
