// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <vector>

#include "runtime/bif/support.hpp"

using namespace vmrun;

namespace {

std::vector<SWord> code_points(std::string_view text) {
  Heap heap;
  std::vector<SWord> points;
  for (Term l = code_point_list(heap, text); l.is_list(); l = l.tail())
    points.push_back(l.head().small_value());
  return points;
}

}  // namespace

TEST_CASE("Texts become code points; bytes that are no UTF-8 count as Latin-1") {
  CHECK(code_points("a\xC3\xA9\xE2\x82\xAC") == std::vector<SWord>{'a', 0xE9, 0x20AC});
  CHECK(code_points("a\xFF\x62") == std::vector<SWord>{'a', 0xFF, 'b'});
  CHECK(code_points("\xE2\x82") == std::vector<SWord>{0xE2, 0x82});  // cut off: once never ended
}
