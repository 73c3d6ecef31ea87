// SPDX-License-Identifier: Apache-2.0
#include "probes/views/histogram.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "probes/engine/aggregation.hpp"

// Distributions of times: what is known of them from their buckets.
using namespace vmrun::d;

namespace {

struct Times {
  Aggregation how;
  std::vector<std::uint64_t> values;
  explicit Times(const std::vector<std::int64_t>& all) {
    how.how = Aggregating::kLlquantize;
    how.parameters[0] = 10, how.parameters[1] = 3, how.parameters[2] = 10, how.parameters[3] = 10;
    values.resize(value_words(how));
    for (const std::int64_t ns : all) take_in(how, values.data(), ns, 1);
  }
};

}  // namespace

TEST_CASE("a quantile is the end of its bucket") {
  const Times t({1500, 1600, 1700, 2'500'000});
  CHECK(values_in(t.how, t.values.data()) == 4);
  CHECK(quantile(t.how, t.values.data(), 0.5) == 2000);
  CHECK(quantile(t.how, t.values.data(), 0.75) == 2000);
  CHECK(quantile(t.how, t.values.data(), 0.99) == 3'000'000);
  CHECK(quantile(Times({5}).how, Times({5}).values.data(), 0.5) == 1000);
}

TEST_CASE("a bar for each bucket from the first to the last in use") {
  const Times t({1500, 1600, 3500});
  std::string out;
  put_times(out, t.how, t.values.data());
  CHECK(out ==
        "     1.00 us |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2\n"
        "     2.00 us |                                         0\n"
        "     3.00 us |@@@@@@@@@@@@@@@@@@@@                     1\n");
  out.clear();
  const Times nothing({});
  put_times(out, nothing.how, nothing.values.data());
  CHECK(out.empty());
}
