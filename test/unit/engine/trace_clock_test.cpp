// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/trace_clock.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <ctime>
#include <thread>

using namespace vmrun::d;

namespace {

std::uint64_t monotonic() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

TEST_CASE("timestamps are of the system's clock, and do not go back while it is adjusted") {
  adjust_clock();
  // A reading between two of the system's: within a thousandth of what has passed, and what the
  // calibration was off by.
  const auto before = monotonic();
  const auto now = timestamp();
  const auto after = monotonic();
  CHECK(now + 1'000'000 > before);
  CHECK(now < after + 1'000'000);
  std::atomic<bool> stop{false};
  std::thread adjusting([&] {
    while (!stop) adjust_clock();
  });
  std::uint64_t last = timestamp(), back = 0;
  const auto end = monotonic() + 100'000'000;
  while (monotonic() < end) {
    const auto t = timestamp();
    back += t < last;
    last = t;
  }
  stop = true;
  adjusting.join();
  CHECK(back == 0);
}
