// SPDX-License-Identifier: Apache-2.0
#include "probes/screen/screen_lines.hpp"

#include <catch2/catch.hpp>

// Widths are columns of a terminal.
using namespace vmrun::screen;

namespace {

std::vector<std::string> texts_of(const std::vector<Line>& lines) {
  std::vector<std::string> texts;
  for (const Line& line : lines) texts.push_back(text_of(line));
  return texts;
}

}  // namespace

TEST_CASE("a text is as wide as a terminal shows it") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("gr\xc3\xbc\xc3\x9f") == 4);
  CHECK(columns_of("\xe6\xbc\xa2\xe5\xad\x97") == 4);  // two wide characters
  CHECK(columns_of("e\xcc\x81") == 1);                 // with a combining one
  CHECK(columns_of(Line{{"ab"}, {"c", Look::kWarning}}) == 3);
}

TEST_CASE("a text that is cut ends in two dots, and never in half a character") {
  CHECK(cut_to("abcdef", 6) == "abcdef");
  CHECK(cut_to("abcdef", 5) == "abc..");
  CHECK(cut_to("abcdef", 1) == ".");
  CHECK(cut_to("abcdef", 0).empty());
  CHECK(cut_to("\xe6\xbc\xa2\xe5\xad\x97", 3) == "..");
  CHECK(padded("ab", 4) == "ab  ");
  CHECK(padded("ab", 4, true) == "  ab");
  CHECK(padded("\xe6\xbc\xa2\xe5\xad\x97", 3) == ".. ");
}

TEST_CASE("what would move the cursor, or is no character, is not shown") {
  CHECK(cut_to("a\x1b[2Jb\n\x7f", 20) == "a?[2Jb??");
  CHECK(cut_to("a\xff\xc3", 20) == "a??");
  CHECK(cut_to("\xc2\x9b"
               "1m",
               20) == "?1m");
}

TEST_CASE("items stand side by side as long as there is room") {
  const Piece items[] = {{"one"}, {"two", Look::kStrong}, {""}, {"three"}};
  CHECK(texts_of(flow(items, 20)) == std::vector<std::string>{"one  two  three"});
  CHECK(texts_of(flow(items, 9)) == std::vector<std::string>{"one  two", "three"});
  CHECK(texts_of(flow(items, 4)) == std::vector<std::string>{"one", "two", "th.."});
  CHECK(flow(items, 20)[0][2].look == Look::kStrong);
}

TEST_CASE("a long text is broken at its blanks") {
  CHECK(broken("", 10, 0) == std::vector<std::string>{""});
  CHECK(broken("one two three", 20, 2) == std::vector<std::string>{"one two three"});
  CHECK(broken("one two three", 8, 2) == std::vector<std::string>{"one two", "  three"});
  CHECK(broken("onetwothree", 5, 1) == std::vector<std::string>{"onetw", " othr", " ee"});
}
