// SPDX-License-Identifier: Apache-2.0
#include "probes/screen/sorted_table.hpp"

#include <catch2/catch.hpp>

// A table that keys sort, filter and move through.
using namespace vmrun::screen;

namespace {

SortedTable table() {
  return {{{"TIME", false, 4}, {"IN", false, 4}, {"NAME", true}},
          [](const SortedTable::Row& row, std::size_t c) {
            return c == 2 ? "process " + row.id : std::to_string(static_cast<int>(row.numbers[c]));
          }};
}

std::vector<SortedTable::Row> rows() { return {{"a", {1, 30}}, {"b", {3, 10}}, {"c", {2, 20}}}; }

std::vector<std::string> texts_of(SortedTable& t, std::size_t width = 30, std::size_t height = 10) {
  std::vector<std::string> texts;
  for (const Line& line : t.lines(width, height)) {
    texts.push_back(text_of(line));
    texts.back().erase(texts.back().find_last_not_of(' ') + 1);
  }
  return texts;
}

std::string ids(SortedTable& t) {
  std::string all;
  for (const std::string& line : texts_of(t)) all += line.back();
  return all.substr(1);
}

Key key(char c) { return {Key::Kind::kCharacter, static_cast<char32_t>(c)}; }

}  // namespace

TEST_CASE("the largest number stands first") {
  SortedTable t = table();
  t.set_rows(rows());
  CHECK(texts_of(t) == std::vector<std::string>{"TIME   IN NAME", "   3   10 process b",
                                                "   2   20 process c", "   1   30 process a"});
  CHECK(t.press(key('>')));
  CHECK(ids(t) == "acb");
  CHECK(t.press(key('r')));
  CHECK(ids(t) == "bca");
  CHECK(t.press(key('>')));  // texts begin with the first in the alphabet
  CHECK(ids(t) == "abc");
  CHECK(t.press(key('>')));
  CHECK(t.sorted_by() == 0);
  CHECK(t.press(key('<')));
  CHECK(t.sorted_by() == 2);
  CHECK_FALSE(t.press(key('x')));
}

TEST_CASE("the heading of the column that rows are sorted by looks different") {
  SortedTable t = table();
  t.set_rows(rows());
  const auto lines = t.lines(30, 5);
  CHECK(lines[0][0].look == Look::kSorted);
  CHECK(lines[0][2].look == Look::kHeading);
  CHECK(lines[1][0].look == Look::kChosen);
  CHECK(lines[2][0].look == Look::kPlain);
}

TEST_CASE("the cursor stays with its row, and at the top with the top") {
  SortedTable t = table();
  t.set_rows(rows());
  CHECK(t.chosen()->id == "b");
  t.set_rows({{"a", {9, 30}}, {"b", {3, 10}}});
  CHECK(t.chosen()->id == "a");
  t.press({Key::Kind::kDown});
  CHECK(t.chosen()->id == "b");
  t.set_rows({{"a", {1, 30}}, {"b", {3, 10}}});
  CHECK(t.chosen()->id == "b");
  t.set_rows({{"a", {1, 30}}});
  CHECK(t.chosen()->id == "a");
  t.set_rows({});
  CHECK(t.chosen() == nullptr);
  t.press({Key::Kind::kDown});
  CHECK(texts_of(t).size() == 1);
}

TEST_CASE("a filter finds letters of any case") {
  SortedTable t = table();
  t.set_rows(rows());
  t.set_filter("PROCESS C");
  CHECK(ids(t) == "c");
  CHECK(t.shown() == 1);
  CHECK(t.rows() == 3);
  t.set_filter("nothing");
  CHECK(t.chosen() == nullptr);
  t.set_filter("");
  CHECK(t.shown() == 3);
}

TEST_CASE("a table longer than the screen follows its cursor") {
  SortedTable t = table();
  t.set_rows(rows());
  CHECK(texts_of(t, 30, 3).size() == 3);
  t.press({Key::Kind::kEnd});
  CHECK(texts_of(t, 30, 3)[2] == "   1   30 process a");
  t.press({Key::Kind::kPageUp});
  CHECK(texts_of(t, 30, 3)[1] == "   3   10 process b");
  CHECK(texts_of(t, 30, 1).size() == 1);
  CHECK(texts_of(t, 30, 0).empty());
}

TEST_CASE("where there is no room, columns give way, but not the sorted one and not the texts") {
  SortedTable t = table();
  t.set_rows(rows());
  t.sort_by(1, false);
  CHECK(texts_of(t, 22)[1] == "   1   30 process a");
  CHECK(texts_of(t, 21)[1] == "  30 process a");
  CHECK(texts_of(t, 10)[0] == "  IN NAME");
}
