// SPDX-License-Identifier: Apache-2.0
// What is typed on a terminal, as UTF-8.
#include "drivers/terminal/terminal_input.hpp"

#include <catch2/catch.hpp>

using vmrun::terminal::Input;

TEST_CASE("a character that comes in parts waits for its end") {
  Input input;
  CHECK(input.take("a\xE2\x82", true) == "a");
  CHECK(input.take("\xAC", true) == "\xE2\x82\xAC");
}

TEST_CASE("a byte that is no UTF-8 is a Latin-1 character") {
  Input input;
  CHECK(input.take("\xE5x\xFF", true) == "\xC3\xA5x\xC3\xBF");
  CHECK(input.take("\xED\xA0\x80", true) == "\xC3\xAD\xC2\xA0\xC2\x80");
  CHECK(input.take("\xF4\x90\x80\x80", true) == "\xC3\xB4\xC2\x90\xC2\x80\xC2\x80");
}

TEST_CASE("without UTF-8 each byte is a character, what has waited too") {
  Input input;
  CHECK(input.take("\xE5\xE4", false) == "\xC3\xA5\xC3\xA4");
  CHECK(input.take("\xE2\x82", true).empty());
  CHECK(input.take("\xAC", false) == "\xC3\xA2\xC2\x82\xC2\xAC");
}

TEST_CASE("at the end nothing waits any longer") {
  Input input;
  CHECK(input.take("\xE2\x82", true).empty());
  CHECK(input.take_rest() == "\xC3\xA2\xC2\x82");
  CHECK(input.take_rest().empty());
}
