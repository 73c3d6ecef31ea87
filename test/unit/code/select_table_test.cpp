// SPDX-License-Identifier: Apache-2.0
#include "vm/code/select_table.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace vmrun;

TEST_CASE("In a table of values to select each is found, and a search for any other ends within the table") {
  std::mt19937_64 random(20261126);
  for (int round = 0; round < 2000; ++round) {
    std::set<Word> chosen;
    const std::size_t count = 1 + random() % (round % 10 ? 40 : 3000);
    while (chosen.size() < count) chosen.insert(random() >> random() % 60 | 1);
    const std::vector<Word> values(chosen.begin(), chosen.end());
    const SelectTable table = select_table(values);
    const auto search = [&](Word place, Word value) {
      for (; place < table.places.size() && table.places[place] != SelectTable::kFree; ++place)
        if (values[static_cast<std::size_t>(table.places[place])] == value) return table.places[place];
      REQUIRE(place < table.places.size());
      return SelectTable::kFree;
    };
    for (std::size_t i = 0; i < values.size(); ++i)
      REQUIRE(search(select_place(values[i], table.shift), values[i]) == static_cast<int>(i));
    for (Word begin = 0; begin < Word{1} << (64 - table.shift); ++begin)
      REQUIRE(search(begin, 0) == SelectTable::kFree);
    REQUIRE(std::ranges::count(table.places, SelectTable::kFree) >
            static_cast<std::ptrdiff_t>(values.size() / 2));
  }
}
