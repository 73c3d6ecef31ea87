// SPDX-License-Identifier: Apache-2.0
// How many processes busy schedulers give to each other.
#include <catch2/catch.hpp>

#include <numeric>
#include <vector>

#include "vm/sched/balance.hpp"

using namespace vmrun;

namespace {

std::vector<unsigned> gifts_of(const std::vector<Load>& loads, std::size_t giver) {
  std::vector<unsigned> gifts(loads.size(), 77);
  plan_gifts(loads, giver, gifts);
  return gifts;
}

/// What each has when all have given.
std::vector<unsigned> after_gifts(const std::vector<Load>& loads) {
  std::vector<unsigned> have;
  for (const Load& load : loads) have.push_back(load.waiting);
  for (std::size_t giver = 0; giver < loads.size(); ++giver) {
    const auto gifts = gifts_of(loads, giver);
    have[giver] -= std::accumulate(gifts.begin(), gifts.end(), 0u);
    for (std::size_t i = 0; i < loads.size(); ++i) have[i] += gifts[i];
  }
  return have;
}

}  // namespace

using Counts = std::vector<unsigned>;

TEST_CASE("schedulers with equal room get equally many") {
  CHECK(after_gifts({{400, 1000}, {0, 1000}}) == Counts{200, 200});
  CHECK(after_gifts({{300, 1000}, {300, 1000}, {0, 1000}, {0, 1000}}) == Counts{150, 150, 150, 150});
  CHECK(after_gifts({{3, 1000}, {1, 1000}}) == Counts{2, 2});
}

TEST_CASE("who has no room gives everything away") {
  CHECK(after_gifts({{1, 0}, {0, 1000}}) == Counts{0, 1});
  CHECK(after_gifts({{500, 0}, {500, 1000}}) == Counts{0, 1000});
}

TEST_CASE("work is shared in proportion to the room") {
  CHECK(after_gifts({{90, 500}, {0, 1000}}) == Counts{30, 60});
}

TEST_CASE("nothing moves for a small difference, or where nobody has room") {
  CHECK(after_gifts({{2, 1000}, {1, 1000}}) == Counts{2, 1});
  CHECK(after_gifts({{104, 1000}, {96, 1000}}) == Counts{104, 96});
  CHECK(after_gifts({{500, 0}, {3, 0}}) == Counts{500, 3});
}

TEST_CASE("who gives keeps count") {
  const std::vector<Load> loads{{7, 1000}, {0, 1000}, {0, 1000}, {0, 1000}};
  CHECK(gifts_of(loads, 0)[0] == 0);
  CHECK(gifts_of(loads, 1) == Counts{0, 0, 0, 0});
  const Counts have = after_gifts(loads);
  CHECK(std::accumulate(have.begin(), have.end(), 0u) == 7);
}
