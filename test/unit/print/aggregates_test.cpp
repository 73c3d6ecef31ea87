// SPDX-License-Identifier: Apache-2.0
#include "probes/print/aggregates.hpp"

#include <cstring>

#include <catch2/catch.hpp>

#include "probes/engine/aggregation.hpp"
#include "probes/print/aggregation_print.hpp"

// Tables of aggregations: their order, their columns, printa, and what changes them.
using namespace vmrun::d;

namespace {

std::string key_of(std::int64_t number) { return {reinterpret_cast<const char*>(&number), 8}; }

std::string key_of(std::string_view text) {
  std::uint64_t head = static_cast<std::uint64_t>(Encoding::kText) | text.size() << 32;
  std::string key(reinterpret_cast<const char*>(&head), 8);
  key += text;
  key.resize((key.size() + 7) / 8 * 8);
  return key;
}

struct Fixture {
  Script script;
  Texts texts{Names{}};
  std::unique_ptr<Aggregates> all;

  std::uint32_t add(Aggregating how, std::vector<Field> keys) {
    Aggregation a;
    a.how = how;
    script.program.aggregations.push_back(a);
    script.aggregations.push_back({std::move(keys)});
    return static_cast<std::uint32_t>(script.aggregations.size() - 1);
  }
  void take(std::uint32_t aggregation, const std::string& key, std::vector<std::uint64_t> values) {
    if (!all) all = std::make_unique<Aggregates>(script);
    all->take({aggregation, key, std::move(values)}, texts);
  }
  std::string table(const std::vector<std::uint32_t>& which, const TableOptions& options = {}) {
    std::string out;
    print_table(out, *all, which, options);
    return out;
  }
  std::string formatted(const char* format, const std::vector<std::uint32_t>& which) {
    std::string out;
    print_formatted(out, *all, which, parse_format(format), {});
    return out;
  }
};

Field integer(std::uint8_t width = 8) {
  Field f;
  f.bytes = width;
  return f;
}
Field text() {
  Field f;
  f.kind = Field::Kind::kText;
  return f;
}

}  // namespace

TEST_CASE("a table is sorted by value, then by key") {
  Fixture f;
  const auto a = f.add(Aggregating::kCount, {text()});
  f.take(a, key_of("beam"), {2});
  f.take(a, key_of("cron"), {1});
  f.take(a, key_of("awk"), {2});
  CHECK(f.table({a}) ==
        "  cron                                                              1\n"
        "  awk                                                               2\n"
        "  beam                                                              2\n");
}

TEST_CASE("aggsortrev, aggsortkey, aggsortkeypos") {
  Fixture f;
  const auto a = f.add(Aggregating::kSum, {integer(), integer(4)});
  f.take(a, key_of(1) + key_of(30), {5});
  f.take(a, key_of(2) + key_of(20), {4});
  f.take(a, key_of(3) + key_of(10), {6});
  const auto keys = [&](const SortOptions& sort) {
    std::string order;
    for (const auto& line : f.all->lines({a}, sort))
      order += static_cast<char>('0' + line.key->key[0].number);
    return order;
  };
  CHECK(keys({}) == "213");
  CHECK(keys({false, true, 0, 0}) == "312");
  CHECK(keys({true, false, 0, 0}) == "123");
  CHECK(keys({true, false, 0, 1}) == "321");
  CHECK(keys({true, false, 0, 7}) == "123");
  CHECK(f.table({a}) ==
        "                2       20                4\n"
        "                1       30                5\n"
        "                3       10                6\n");
}

TEST_CASE("several aggregations are columns; what one lacks is 0; aggsortpos picks the column") {
  Fixture f;
  const auto a = f.add(Aggregating::kCount, {integer()}), b = f.add(Aggregating::kMax, {integer()});
  f.take(a, key_of(1), {3});
  f.take(a, key_of(2), {1});
  f.take(b, key_of(1), {10});
  f.take(b, key_of(3), {20});
  CHECK(f.table({a, b}) ==
        "                3                0               20\n"
        "                2                1                0\n"
        "                1                3               10\n");
  TableOptions by_second;
  by_second.sort.position = 1;
  CHECK(f.table({a, b}, by_second) ==
        "                2                1                0\n"
        "                1                3               10\n"
        "                3                0               20\n");
}

TEST_CASE("printa with a format: keys in order, %@ the next aggregation, the last from then on") {
  Fixture f;
  const auto a = f.add(Aggregating::kCount, {text()}), b = f.add(Aggregating::kAvg, {text()});
  f.take(a, key_of("x"), {3});
  f.take(b, key_of("x"), {2, static_cast<std::uint64_t>(-9)});
  CHECK(f.formatted("%-4s|%@5d|%@d|%@d\n", {a, b}) == "x   |    3|-4|-4\n");
  CHECK(f.formatted("%s: %@u\n", {a}) == "x: 3\n");
}

TEST_CASE("elements that come again are added up; a minimum stays one") {
  Fixture f;
  const auto a = f.add(Aggregating::kCount, {}), b = f.add(Aggregating::kMin, {});
  f.take(a, "", {3});
  f.take(a, "", {4});
  f.take(b, "", {7});
  f.take(b, "", {5});
  f.take(b, "", {6});
  CHECK(f.table({a}) == "                7\n");
  CHECK(f.table({b}) == "                5\n");
}

TEST_CASE("clear keeps the keys, trunc does not") {
  Fixture f;
  const auto a = f.add(Aggregating::kMin, {integer()});
  for (std::int64_t i = 1; i <= 4; ++i) f.take(a, key_of(i), {static_cast<std::uint64_t>(10 * i)});
  SECTION("clear") {
    f.all->clear(a);
    CHECK(f.all->lines({a}, {}).size() == 4);
    f.take(a, key_of(3), {77});
    CHECK(f.formatted("%d=%@d ", {a}) == "1=0 2=0 4=0 3=77 ");
  }
  SECTION("trunc of the largest") {
    f.all->trunc(a, 2);
    CHECK(f.formatted("%d ", {a}) == "3 4 ");
  }
  SECTION("trunc of the smallest") {
    f.all->trunc(a, -1);
    CHECK(f.formatted("%d ", {a}) == "1 ");
  }
  SECTION("trunc of all") {
    f.all->trunc(a, std::nullopt);
    CHECK(f.table({a}).empty());
  }
}

TEST_CASE("normalize divides what is shown; denormalize undoes it") {
  Fixture f;
  const auto a = f.add(Aggregating::kSum, {integer()});
  f.take(a, key_of(1), {static_cast<std::uint64_t>(-5000)});
  f.all->normalize(a, 1000);
  CHECK(f.formatted("%@d", {a}) == "-5");
  f.all->normalize(a, 0);
  CHECK(f.formatted("%@d", {a}) == "-5000");
}

TEST_CASE("words that are not of the key's types are left out") {
  Fixture f;
  const auto a = f.add(Aggregating::kCount, {text()});
  f.take(a, "", {1});
  f.take(a, key_of(std::int64_t{0x7fff'ffff'0000'0001}), {1});
  CHECK(f.table({a}).empty());
}
