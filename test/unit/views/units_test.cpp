// SPDX-License-Identifier: Apache-2.0
#include "probes/views/units.hpp"

#include <catch2/catch.hpp>

// Numbers as people read them.
using namespace vmrun::d;

TEST_CASE("times have three digits and a unit") {
  CHECK(time_text(0) == "0 ns");
  CHECK(time_text(999) == "999 ns");
  CHECK(time_text(1000) == "1.00 us");
  CHECK(time_text(12'345) == "12.3 us");
  CHECK(time_text(999'400) == "999 us");
  CHECK(time_text(999'600) == "1.00 ms");
  CHECK(time_text(2.5e9) == "2.50 s");
  CHECK(time_text(7.2e12) == "7200 s");
}

TEST_CASE("bytes count in 1024") {
  CHECK(bytes_text(40) == "40 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.00 KB");
  CHECK(bytes_text(1024.0 * 1024 * 34) == "34.0 MB");
}

TEST_CASE("counts are whole up to four digits") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(9999) == "9999");
  CHECK(count_text(10'000) == "10.0k");
  CHECK(count_text(999'400) == "999k");
  CHECK(count_text(999'600) == "1.00M");
  CHECK(count_text(2.5e9) == "2.50G");
}

TEST_CASE("shares are of a hundred, and may be more") {
  CHECK(share_text(0) == "0.0%");
  CHECK(share_text(0.0451) == "4.5%");
  CHECK(share_text(1.98) == "198%");
}
