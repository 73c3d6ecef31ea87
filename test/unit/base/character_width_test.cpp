// SPDX-License-Identifier: Apache-2.0
// Columns that characters take.
#include "vm/base/character_width.hpp"

#include <catch2/catch.hpp>

using vmrun::character_width;

TEST_CASE("characters take no column, one or two") {
  for (const char32_t c : {U'a', U'\u00E9', U'\u00AD', U'\u03BB', U'\u0378', U'\U0001F1E6', U'\U0010FFFF'})
    CHECK(character_width(c) == 1);
  for (const char32_t c :
       {U'\u65E5', U'\uD55C', U'\uFF21', U'\U0001F600', U'\U0001F3FD', U'\U00020000', U'\u3400', U'\u4DC0'})
    CHECK(character_width(c) == 2);
  for (const char32_t c : {U'\u0301', U'\u200B', U'\u200D', U'\uFE0F', U'\u1160', U'\u202E'})
    CHECK(character_width(c) == 0);
}
