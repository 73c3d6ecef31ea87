// SPDX-License-Identifier: Apache-2.0
// Names that are meant by misspelt ones.
#include "vm/base/near_name.hpp"

#include <catch2/catch.hpp>

using vmrun::edit_distance;
using vmrun::NearName;

namespace {

std::string_view meant(std::string_view wrong, std::initializer_list<std::string_view> names) {
  NearName near(wrong);
  for (const std::string_view name : names) near.offer(name);
  return near.found();
}

}  // namespace

TEST_CASE("the distance counts characters put in, left out, replaced and exchanged") {
  CHECK(edit_distance(U"", U"abc") == 3);
  CHECK(edit_distance(U"kitten", U"sitting") == 3);
  CHECK(edit_distance(U"recieve", U"receive") == 1);
  CHECK(edit_distance(U"same", U"same") == 0);
}

TEST_CASE("the nearest name is meant, if it is near enough for its length") {
  CHECK(meant("revers", {"rest", "reverse", "reserve"}) == "reverse");
  CHECK(meant("Conter", {"Counter", "Center"}) ==
        "Center");  // both are one away: the order of offers is nothing
  CHECK(meant("Conter", {"Center", "Counter"}) == "Center");
  CHECK(meant("frobnicate", {"reverse", "format"}).empty());
  CHECK(meant("X", {"Y", "XY", "Z"}).empty());
  CHECK(meant("ab", {"ac", "abc"}).empty());
  CHECK(meant("map", {"mpa"}) == "mpa");
  CHECK(meant("mama", {"papa"}).empty());
}

TEST_CASE("among many names a replaced character counts twice") {
  const auto among_many = [](std::string_view wrong, std::string_view name) {
    NearName near(wrong, NearName::Names::kMany);
    return near.offer(name);
  };
  CHECK_FALSE(among_many("nope", "node"));
  CHECK(among_many("slef", "self"));
  CHECK(among_many("lenght", "length"));
  CHECK(among_many("is_integar", "is_integer"));
}

TEST_CASE("case and underscores do not count") {
  CHECK(meant("birthYear", {"birth_year"}) == "birth_year");
  CHECK(meant("ok", {"OK"}) == "OK");
  CHECK(meant("X", {"_X"}) == "_X");
  CHECK(meant("_", {"__", "a"}).empty());
}

TEST_CASE("a sequence of UTF-8 is one character") {
  CHECK(meant("na\xC3\xAFve", {"naive"}) == "naive");
  CHECK(meant("\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", {"\xE6\x97\xA5\xE6\x9C\xAC"}) ==
        "\xE6\x97\xA5\xE6\x9C\xAC");
}
