// SPDX-License-Identifier: Apache-2.0
#include "probes/views/top_screen.hpp"

#include <catch2/catch.hpp>

// What the screen of `vmtrace top` shows, and what keys do.
using namespace vmrun::d;
using vmrun::screen::Key;
using vmrun::screen::SortedTable;

namespace {

TopScreen top() {
  TopScreen screen("pid 4711", {{"TIME", false, 7}, {"IN/S", false, 7}, {"PROCESS", true}},
                   [](const SortedTable::Row& row, std::size_t c) {
                     return c == 2 ? row.id : std::to_string(static_cast<int>(row.numbers[c]));
                   });
  return screen;
}

void fill(TopScreen& screen) {
  screen.table().set_rows({{
                               "<0.1.0> first",
                               {5, 10},
                           },
                           {"logger", {7, 0}}});
  screen.set_has_rows();
  screen.set_messages(1234);
  Totals t;
  t.at_ns = 1'000'000'000;
  t.schedulers = {{0, 0, t.at_ns}};
  t.totals = {{"process_count", 12, 100}, {"wall_clock", 3'723'000, 0}};
  screen.set_totals({t});
}

std::string text_of(TopScreen& screen, std::size_t width = 80, std::size_t height = 24) {
  std::string text;
  for (const auto& line : screen.lines(width, height)) {
    CHECK(vmrun::screen::columns_of(line) <= width);
    text += vmrun::screen::text_of(line) + '\n';
  }
  return text;
}

bool has(TopScreen& screen, const char* text) { return text_of(screen).find(text) != std::string::npos; }
void press(TopScreen& screen, std::string_view keys) {
  for (const char c : keys) CHECK(screen.press({Key::Kind::kCharacter, static_cast<char32_t>(c)}));
}

}  // namespace

TEST_CASE("the screen has a head, a table and the keys") {
  TopScreen screen = top();
  CHECK(has(screen, "waiting for the first interval"));
  fill(screen);
  const std::string text = text_of(screen);
  for (const char* part : {"top  pid 4711  up 1:02:03", "processes 12 of 100", "messages 1234/s", "q quit",
                           "logger", "<0.1.0> first"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(text.find("logger") < text.find("<0.1.0>"));
  CHECK(screen.lines(80, 24).size() == 24);
}

TEST_CASE("no line is wider than the screen, and no screen is too small") {
  TopScreen screen = top();
  fill(screen);
  for (std::size_t width = 1; width < 100; width += 3)
    for (std::size_t height = 1; height < 30; height += 4) {
      CHECK(screen.lines(width, height).size() <= height);
      (void)text_of(screen, width, height);
    }
  CHECK(text_of(screen, 40, 24).find("logger") != std::string::npos);
  CHECK(text_of(screen, 40, 8).find("logger") != std::string::npos);
}

TEST_CASE("a slash asks for a filter") {
  TopScreen screen = top();
  fill(screen);
  press(screen, "/logx");
  CHECK(has(screen, "/logx"));
  CHECK_FALSE(has(screen, "logger"));
  screen.press({Key::Kind::kBackspace});
  CHECK(has(screen, "logger"));
  press(screen, "q");  // is a letter here
  screen.press({Key::Kind::kBackspace});
  screen.press({Key::Kind::kEnter});
  CHECK(has(screen, "/log: 1 of 2"));
  CHECK_FALSE(has(screen, "first"));
  screen.press({Key::Kind::kEscape});
  CHECK(has(screen, "first"));
}

TEST_CASE("a question mark shows the keys, and q ends") {
  TopScreen screen = top();
  fill(screen);
  press(screen, "?");
  CHECK(has(screen, "reverses the order"));
  press(screen, "q");
  CHECK(has(screen, "logger"));
  CHECK_FALSE(screen.press({Key::Kind::kCharacter, U'q'}));
}

TEST_CASE("what was dropped is told") {
  TopScreen screen = top();
  CHECK_FALSE(has(screen, "dropped"));
  screen.set_dropped(3);
  CHECK(has(screen, "!3 dropped"));
}
