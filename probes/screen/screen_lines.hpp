// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a screen shows, as data: lines of pieces, each with a look. Views make lines from what they
/// know, and a terminal (terminal.hpp) shows them; tests read them. Widths are columns on a screen.
/// Plain data without state.
namespace vmrun::screen {

enum class Look : std::uint8_t {
  kPlain,
  kStrong,   // names and numbers to be found at a glance
  kFaint,    // explanations
  kWarning,  // near a limit
  kHeading,  // of a table
  kSorted,   // the heading of the column that rows are sorted by
  kChosen,   // the row of the cursor
};

struct Piece {
  std::string text;
  Look look = Look::kPlain;
};

using Line = std::vector<Piece>;

/// Returns how many columns a text takes.
std::size_t columns_of(std::string_view text);
std::size_t columns_of(const Line& line);
/// Returns the text without looks.
std::string text_of(const Line& line);

/// Returns the text without control characters, and cut to `width` columns. A text that is cut ends
/// in "..".
std::string cut_to(std::string_view text, std::size_t width);
/// As cut_to, with blanks up to that width: behind the text, or in front of it.
std::string padded(std::string_view text, std::size_t width, bool right = false);

/// Puts items side by side, with two blanks between, in as many lines of that width as they need.
std::vector<Line> flow(std::span<const Piece> items, std::size_t width);
/// Breaks a text into lines of that width, at blanks where it has some. Further lines begin with
/// `indent` blanks.
std::vector<std::string> broken(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace vmrun::screen
