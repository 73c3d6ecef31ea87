// SPDX-License-Identifier: Apache-2.0
#include "drivers/terminal/line.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "drivers/terminal/terminal_input.hpp"
#include "vm/base/character_width.hpp"
#include "vm/term/print.hpp"

namespace vmrun::terminal {
namespace {

constexpr std::size_t kTab = 8;

std::string utf8_of(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return text;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

}  // namespace

Line::Cell Line::cell_of(char32_t c, std::size_t column) {
  if (escape_ != Escape::kNone) {
    const bool begins = escape_ == Escape::kBegun && c == '[';
    const bool goes_on = escape_ == Escape::kParameters && (c == ';' || (c >= '0' && c <= '9'));
    escape_ = begins || goes_on ? Escape::kParameters : Escape::kNone;
    return {utf8_of(c), 0};
  }
  if (c == '\x1b') {
    escape_ = Escape::kBegun;
    return {"\x1b", 0};
  }
  if (c == '\t') {
    const std::size_t width = kTab - column % kTab;
    return {std::string(width, ' '), width};
  }
  if (c < ' ') return {{'^', static_cast<char>(c | 0x40)}, 2};
  if (c == 0x7F) return {"^?", 2};
  if (c < 0x7F) return {{static_cast<char>(c)}, 1};
  if (utf8_) return {utf8_of(c), character_width(c)};
  // By the locale, even if its character set is not Latin-1.
  if (c <= 0xFF && std::isprint(static_cast<int>(c))) return {{static_cast<char>(c)}, 1};
  std::string shown = c <= 0xFF ? fmt::format("\\{:03o}", static_cast<unsigned>(c))
                                : fmt::format("\\x{{{:X}}}", static_cast<unsigned>(c));
  const std::size_t width = shown.size();
  return {std::move(shown), width};
}

std::size_t Line::column_of(std::size_t position) const {
  std::size_t column = 0;
  for (std::size_t i = 0; i < position; ++i) column += cells_[i].width;
  return column;
}

/// A terminal that has filled a row moves to the next one only with the next character. Returns
/// such a character: the one that stands there, or else a blank.
std::string Line::margin(std::size_t position) const {
  const std::size_t column = column_of(position);
  if (column == 0 || column % columns_ != 0) return {};
  return position < cells_.size() ? cells_[position].shown + "\r" : " \b";
}

std::string Line::show(std::size_t from, std::size_t to) const {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += cells_[i].shown;
  return out;
}

std::string Line::go(std::size_t from_column, std::size_t to_column) const {
  const std::size_t from_row = from_column / columns_, to_row = to_column / columns_;
  const std::size_t from = from_column % columns_, to = to_column % columns_;
  return (to_row < from_row ? repeated("\x1b[A", from_row - to_row) : repeated("\n", to_row - from_row)) +
         (to < from ? repeated("\b", from - to) : repeated("\x1b[C", to - from));
}

std::size_t Line::moved(long characters) const {
  const long target = static_cast<long>(cursor_) + characters;
  return static_cast<std::size_t>(std::clamp<long>(target, 0, static_cast<long>(cells_.size())));
}

std::string Line::put(std::string_view text) {
  std::string out;
  std::size_t begun = cursor_;
  std::size_t column = column_of(cursor_);
  while (!text.empty()) {
    const char32_t c = take_character(&text);
    if (c == '\n' || c == '\r') {
      out += show(begun, cursor_) + (c == '\n' ? "\r\n" : "\r");
      cells_.clear();
      cursor_ = begun = column = 0;
      escape_ = Escape::kNone;
      continue;
    }
    Cell cell = cell_of(c, column);
    column += cell.width;
    if (cursor_ < cells_.size()) cells_[cursor_] = std::move(cell);
    else cells_.push_back(std::move(cell));
    ++cursor_;
  }
  if (begun == cursor_) return out;
  return out + show(begun, cursor_) + margin(cursor_);
}

std::string Line::insert(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) return put(text);
  const std::size_t begun = cursor_;
  std::size_t column = column_of(cursor_);
  while (!text.empty()) {
    Cell cell = cell_of(take_character(&text), column);
    column += cell.width;
    cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(cursor_++), std::move(cell));
  }
  const std::size_t end = cells_.size();
  return show(begun, end) + margin(end) + go(column_of(end), column_of(cursor_));
}

std::string Line::move(long characters) {
  const std::size_t from = column_of(cursor_);
  cursor_ = moved(characters);
  return go(from, column_of(cursor_));
}

std::string Line::erase(long characters) {
  const std::size_t other = moved(characters), first = std::min(cursor_, other),
                    last = std::max(cursor_, other);
  const std::size_t from = column_of(cursor_), old_end = column_of(cells_.size());
  cells_.erase(cells_.begin() + static_cast<std::ptrdiff_t>(first),
               cells_.begin() + static_cast<std::ptrdiff_t>(last));
  cursor_ = first;
  const std::size_t at = column_of(first), end = column_of(cells_.size());
  const std::string blanks = std::string(old_end - end, ' ');
  // After blanks that end at the right margin, the terminal's cursor waits there.
  const bool at_margin = old_end != at && old_end % columns_ == 0;
  return go(from, at) + show(first, cells_.size()) + blanks + (at_margin ? " \r" : "") + go(old_end, at);
}

}  // namespace vmrun::terminal
