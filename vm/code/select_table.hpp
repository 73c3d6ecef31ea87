// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "vm/term/term.hpp"

/// The table of the instruction select_hash. Values are found by multiplicative hashing (Knuth,
/// TAOCP 6.4); each is in the first free place from where its search begins. The loader makes it.
/// Pure functions, any thread.
namespace vmrun {

/// The place where the search for a value begins: one of 2^(64 - shift).
constexpr Word select_place(Word value, unsigned shift) { return value * 0x9E3779B97F4A7C15u >> shift; }

struct SelectTable {
  static constexpr int kFree = -1;
  unsigned shift;
  std::vector<int> places;  // an index of the values, or kFree
};

/// At least half of the places stay free, and the last one always does, so every search ends.
inline SelectTable select_table(std::span<const Word> values) {
  const auto bits = static_cast<unsigned>(std::bit_width(2 * values.size() - 1));
  const Word beginnings = Word{1} << bits;
  SelectTable table{64 - bits, std::vector<int>(beginnings + values.size() + 1, SelectTable::kFree)};
  auto& places = table.places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Word place = select_place(values[i], table.shift);
    while (places[place] != SelectTable::kFree) ++place;
    places[place] = static_cast<int>(i);
  }
  while (places.size() > beginnings && places[places.size() - 2] == SelectTable::kFree) places.pop_back();
  return table;
}

}  // namespace vmrun
