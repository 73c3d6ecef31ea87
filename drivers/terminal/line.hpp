#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The line that is being edited on a terminal: which characters stand where, and which bytes make
/// the terminal show a change. A line longer than the terminal is wide goes on in the next row; a
/// character may take no column or two, a control character is shown as ^X. Knows the screen only
/// as columns; every terminal that understands ANSI's movements of the cursor will do.
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

  // Each answers what is to be sent to the terminal. Texts are UTF-8; bytes that are none stand for
  // themselves.

  /// In place of what is at the cursor. After a newline the line is a new one.
  std::string put(std::string_view text);
  /// Before what is at the cursor.
  std::string insert(std::string_view text);
  /// So many characters to the right, or to the left if it is negative.
  std::string move(long characters);
  /// So many from the cursor on, or before it if it is negative.
  std::string erase(long characters);

 private:
  /// What one character of the editor's is on the screen.
  struct Cell {
    std::string shown;
    std::size_t width;
  };

  Cell cell_of(char32_t c, std::size_t column);
  std::size_t column_of(std::size_t position) const;
  /// The cells from `from` to `to`, with what a terminal needs at its right margin.
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
