// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The line that is being edited on a terminal: the characters and their places, and the bytes that
/// show a change on the terminal. A line that is longer than the terminal's width continues in the
/// next row; a character may take no column or two, and a control character is shown as ^X. The
/// screen is known only as columns; any terminal works that understands ANSI's cursor movements.
///
/// Positions are counted in characters (code points), as the editor above counts.
namespace vmrun::terminal {

class Line {
 public:
  /// utf8: whether the terminal shows UTF-8; otherwise characters beyond Latin-1 are shown as
  /// \x{...}.
  explicit Line(bool utf8) : utf8_(utf8) {}

  void set_columns(std::size_t columns) { columns_ = columns ? columns : 1; }
  void set_utf8(bool utf8) { utf8_ = utf8; }
  bool utf8() const { return utf8_; }

  // Each function returns the bytes for the terminal. Texts are UTF-8; a byte that does not belong
  // to a character stands for the Latin-1 character of its number.

  /// Overwrites the characters at the cursor. After a newline the line is a new one.
  std::string put(std::string_view text);
  /// Inserts before the cursor.
  std::string insert(std::string_view text);
  /// Moves the cursor right by this many characters; left if negative.
  std::string move(long characters);
  /// Erases this many characters from the cursor on; before it if negative.
  std::string erase(long characters);

 private:
  /// One character of the editor as the screen shows it.
  struct Cell {
    std::string shown;
    std::size_t width;
  };

  Cell cell_of(char32_t c, std::size_t column);
  std::size_t column_of(std::size_t position) const;
  /// Returns the cells from `from` to `to`, with the bytes that a terminal needs at its right
  /// margin.
  std::string show(std::size_t from, std::size_t to) const;
  std::string go(std::size_t from_column, std::size_t to_column) const;
  std::string margin(std::size_t position) const;
  std::size_t moved(long characters) const;

  bool utf8_;
  std::size_t columns_ = 80;
  std::vector<Cell> cells_;
  std::size_t cursor_ = 0;
  enum class Escape { kNone, kBegun, kParameters } escape_ = Escape::kNone;  // of a colour's sequence
};

}  // namespace vmrun::terminal
