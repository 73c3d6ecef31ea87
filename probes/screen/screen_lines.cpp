// SPDX-License-Identifier: Apache-2.0
#include "probes/screen/screen_lines.hpp"

#include <algorithm>

#include "vm/base/character_width.hpp"
#include "vm/base/utf8.hpp"

namespace vmrun::screen {
namespace {

constexpr std::size_t kGap = 2;

/// Calls take(bytes of a character, columns) for each; take returns whether to go on. Control
/// characters become question marks.
template <class Take>
void each_character(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const utf8::Decoded c = utf8::decode(text.data(), text.size());
    const bool is_shown = c.size != 0 && c.value >= ' ' && (c.value < 0x7f || c.value >= 0xa0);
    const std::size_t bytes = std::max(c.size, 1U);
    if (!take(bytes, is_shown ? text.substr(0, bytes) : "?", is_shown ? character_width(c.value) : 1)) return;
    text.remove_prefix(bytes);
  }
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  each_character(text,
                 [&](std::size_t, std::string_view, std::size_t wide) { return columns += wide, true; });
  return columns;
}

std::size_t columns_of(const Line& line) {
  std::size_t columns = 0;
  for (const Piece& piece : line) columns += columns_of(piece.text);
  return columns;
}

std::string text_of(const Line& line) {
  std::string text;
  for (const Piece& piece : line) text += piece.text;
  return text;
}

std::string cut_to(std::string_view text, std::size_t width) {
  const bool fits = columns_of(text) <= width;
  const std::size_t dots = fits ? 0 : std::min<std::size_t>(width, 2);
  std::string out;
  std::size_t columns = 0;
  each_character(text, [&](std::size_t, std::string_view shown, std::size_t wide) {
    if (columns + wide > width - dots) return false;
    out += shown;
    columns += wide;
    return true;
  });
  return out.append(dots, '.');
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  std::string out = cut_to(text, width);
  const std::string blanks(width - columns_of(out), ' ');
  return right ? blanks + out : out + blanks;
}

std::vector<Line> flow(std::span<const Piece> items, std::size_t width) {
  std::vector<Line> lines;
  std::size_t column = 0;
  for (const Piece& item : items) {
    const std::size_t columns = columns_of(item.text);
    if (columns == 0) continue;
    if (lines.empty() || column + kGap + columns > width) {
      lines.emplace_back();
      column = 0;
    } else {
      lines.back().push_back({std::string(kGap, ' ')});
      column += kGap;
    }
    lines.back().push_back({cut_to(item.text, width), item.look});
    column += columns;
  }
  return lines;
}

std::vector<std::string> broken(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  if (width < 2 * indent + 2) return {cut_to(text, width)};
  while (!text.empty() || lines.empty()) {
    const std::string blanks(lines.empty() ? 0 : indent, ' ');
    const std::size_t room = width - blanks.size();
    std::size_t end = 0, columns = 0, blank = 0;
    each_character(text, [&](std::size_t bytes, std::string_view, std::size_t wide) {
      if (columns + wide > room) return false;
      if (text[end] == ' ') blank = end;
      columns += wide;
      end += bytes;
      return true;
    });
    if (end < text.size() && text[end] != ' ' && blank > 0) end = blank;
    lines.push_back(blanks + cut_to(text.substr(0, end), room));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return lines;
}

}  // namespace vmrun::screen
