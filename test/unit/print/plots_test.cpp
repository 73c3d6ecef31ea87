// SPDX-License-Identifier: Apache-2.0
#include "probes/print/plots.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "probes/engine/aggregation.hpp"

// Plots as dtrace's documentation shows them, from values taken in by the engine's own functions.
using namespace vmrun::d;

namespace {

struct Plotted {
  explicit Plotted(Aggregating kind, std::vector<std::int64_t> parameters = {}) {
    how.how = kind;
    for (std::size_t i = 0; i < parameters.size(); ++i) how.parameters[i] = parameters[i];
    values.resize(value_words(how));
    start_values(how, values.data());
  }
  Plotted& take(std::int64_t value, std::int64_t times = 1) {
    take_in(how, values.data(), value, times);
    return *this;
  }
  std::string text(std::uint64_t normal = 1) const {
    std::string out;
    put_values(out, how, values.data(), normal);
    return out;
  }
  Aggregation how;
  std::vector<std::uint64_t> values;
};

const std::string kHead = "\n           value  ------------- Distribution ------------- count    \n";

}  // namespace

TEST_CASE("quantize: powers of two") {
  Plotted e(Aggregating::kQuantize);
  e.take(1, 1).take(2, 2).take(5, 1);
  CHECK(e.text() == kHead +
                        "               0 |                                         0        \n"
                        "               1 |@@@@@@@@@@                               1        \n"
                        "               2 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
                        "               4 |@@@@@@@@@@                               1        \n"
                        "               8 |                                         0        \n");
}

TEST_CASE("quantize: values below zero, and zero") {
  Plotted e(Aggregating::kQuantize);
  e.take(-3).take(0).take(1).take(1);
  CHECK(e.text() == kHead +
                        "              -4 |                                         0        \n"
                        "              -2 |@@@@@@@@@@                               1        \n"
                        "              -1 |                                         0        \n"
                        "               0 |@@@@@@@@@@                               1        \n"
                        "               1 |@@@@@@@@@@@@@@@@@@@@                     2        \n"
                        "               2 |                                         0        \n");
}

TEST_CASE("quantize: of nothing, around zero") {
  CHECK(Plotted(Aggregating::kQuantize).text() ==
        kHead +
            "              -1 |                                         0        \n"
            "               0 |                                         0        \n"
            "               1 |                                         0        \n");
}

TEST_CASE("quantize: increments below zero are bars to the left") {
  Plotted e(Aggregating::kQuantize);
  e.take(1, -1).take(2, 1);
  CHECK(e.text() == kHead +
                        "               0                     |                     0        \n"
                        "               1           @@@@@@@@@@|                     -1       \n"
                        "               2                     |@@@@@@@@@@           1        \n"
                        "               4                     |                     0        \n");
}

TEST_CASE("quantize: normalized counts, bars as before") {
  Plotted e(Aggregating::kQuantize);
  e.take(1, 100);
  CHECK(e.text(10) == kHead +
                          "               0 |                                         0        \n"
                          "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 10       \n"
                          "               2 |                                         0        \n");
}

TEST_CASE("lquantize: below, the levels, above") {
  Plotted e(Aggregating::kLquantize, {0, 30, 10});
  e.take(-5).take(0).take(15).take(100);
  CHECK(e.text() == kHead +
                        "             < 0 |@@@@@@@@@@                               1        \n"
                        "               0 |@@@@@@@@@@                               1        \n"
                        "              10 |@@@@@@@@@@                               1        \n"
                        "              20 |                                         0        \n"
                        "           >= 30 |@@@@@@@@@@                               1        \n");
}

TEST_CASE("llquantize: steps within orders of magnitude") {
  Plotted e(Aggregating::kLlquantize, {10, 0, 2, 10});
  e.take(0).take(7).take(35).take(350).take(5000);
  CHECK(e.text() == kHead +
                        "              -1 |                                         0        \n"
                        "               0 |@@@@@@@@                                 1        \n"
                        "               1 |                                         0        \n"
                        "               2 |                                         0        \n"
                        "               3 |                                         0        \n"
                        "               4 |                                         0        \n"
                        "               5 |                                         0        \n"
                        "               6 |                                         0        \n"
                        "               7 |@@@@@@@@                                 1        \n"
                        "               8 |                                         0        \n"
                        "               9 |                                         0        \n"
                        "              10 |                                         0        \n"
                        "              20 |                                         0        \n"
                        "              30 |@@@@@@@@                                 1        \n"
                        "              40 |                                         0        \n"
                        "              50 |                                         0        \n"
                        "              60 |                                         0        \n"
                        "              70 |                                         0        \n"
                        "              80 |                                         0        \n"
                        "              90 |                                         0        \n"
                        "             100 |                                         0        \n"
                        "             200 |                                         0        \n"
                        "             300 |@@@@@@@@                                 1        \n"
                        "             400 |                                         0        \n"
                        "             500 |                                         0        \n"
                        "             600 |                                         0        \n"
                        "             700 |                                         0        \n"
                        "             800 |                                         0        \n"
                        "             900 |                                         0        \n"
                        "         >= 1000 |@@@@@@@@                                 1        \n");
}

TEST_CASE("single values") {
  CHECK(Plotted(Aggregating::kCount).take(0, 3).text() == "                3");
  CHECK(Plotted(Aggregating::kSum).take(5).take(-7).text() == "               -2");
  CHECK(Plotted(Aggregating::kMin).take(5).take(-7).text() == "               -7");
  CHECK(Plotted(Aggregating::kMax).take(5).take(-7).text() == "                5");
  CHECK(Plotted(Aggregating::kAvg).take(10).take(21).text() == "               15");
  CHECK(Plotted(Aggregating::kSum).take(5000).text(1000) == "                5");
}

TEST_CASE("stddev: the root of the mean of squares less the square of the mean") {
  Plotted e(Aggregating::kStddev);
  e.take(2).take(4).take(4).take(4).take(5).take(5).take(7).take(9);
  CHECK(e.text() == "                2");
  CHECK(Plotted(Aggregating::kStddev).take(INT64_MAX).take(INT64_MIN).text() == " 9223372036854775807");
  CHECK(Plotted(Aggregating::kStddev).take(-42).take(-42).text() == "                0");
}
