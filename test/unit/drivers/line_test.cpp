// SPDX-License-Identifier: Apache-2.0
// The line that is edited on a terminal: what is sent for each change.
#include "drivers/terminal/line.hpp"

#include <catch2/catch.hpp>

using vmrun::terminal::Line;

TEST_CASE("text is shown as it comes, control characters with a caret") {
  Line line(true);
  CHECK(line.put("1> ") == "1> ");
  CHECK(line.insert("ab") == "ab");
  CHECK(line.insert("\x01") == "^A");
  CHECK(line.put("\n") == "\r\n");
}

TEST_CASE("an insertion shows what comes after it and goes back") {
  Line line(true);
  line.put("abc");
  CHECK(line.move(-2) == "\b\b");
  CHECK(line.insert("X") == "Xbc\b\b");
  CHECK(line.move(9) == "\x1b[C\x1b[C");
}

TEST_CASE("what is erased is covered with blanks") {
  Line line(true);
  line.put("abcd");
  line.move(-2);
  CHECK(line.erase(-1) == "\bcd \b\b\b");
  CHECK(line.erase(2) == "  \b\b");
  CHECK(line.erase(5).empty());
}

TEST_CASE("a line goes on in the next row") {
  Line line(true);
  line.set_columns(4);
  CHECK(line.put("abcd") == "abcd \b");
  CHECK(line.insert("ef") == "ef");
  CHECK(line.move(-4) == "\x1b[A");
  CHECK(line.erase(1) == "def \x1b[A");
}

TEST_CASE("colours take no column") {
  Line line(true);
  line.put("\x1b[31mred\x1b[0m");
  CHECK(line.move(-12) == "\b\b\b");
}

TEST_CASE("bytes that are no UTF-8 stand for themselves; a terminal without UTF-8 gets bytes") {
  Line line(true);
  CHECK(line.put("\xe4") == "\xc3\xa4");
  line.set_utf8(false);
  CHECK(line.put("\xc3\xa4") == "\\344");  // in the locale "C"
  CHECK(line.put("\xe2\x82\xac") == "\\x{20AC}");
}
