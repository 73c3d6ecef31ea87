// SPDX-License-Identifier: Apache-2.0
#include "vm/base/source_excerpt.hpp"

#include <algorithm>

#include "vm/base/character_width.hpp"
#include "vm/base/utf8.hpp"

namespace vmrun {
namespace {

/// Whether the character would move the cursor, or change the direction of the text (bidirectional
/// controls), and so hide the line's contents.
bool misleads(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Appends a character as it is shown at this column; returns the number of columns.
std::size_t show_character(std::string& out, std::string_view bytes, char32_t c, std::size_t column) {
  constexpr std::size_t kTab = 8;
  if (c == '\t') {
    const std::size_t width = kTab - column % kTab;
    out.append(width, ' ');
    return width;
  }
  out.append(misleads(c) ? std::string_view(" ") : bytes);
  return misleads(c) ? 1 : character_width(c);
}

}  // namespace

void append_excerpt(std::string& out, std::string_view text, const ExcerptPlace& place,
                    const ReportColours& colours) {
  constexpr std::uint32_t kBefore = 70;
  constexpr std::size_t kWidth = 110;
  const std::uint32_t first = place.column > kBefore ? place.column - kBefore : 1;
  std::uint32_t c = 1;
  std::size_t at = 0;
  for (; c < first && at < text.size(); ++c) utf8::next(text, at);
  std::string shown;
  std::size_t column = 0, caret = 0, caret_end = 0;
  const std::size_t token_end = place.column + place.length;
  for (; at < text.size() && column < kWidth; ++c) {
    if (c == place.column) caret = column;
    const std::size_t from = at;
    const char32_t point = utf8::next(text, at);
    column += show_character(shown, text.substr(from, at - from), point, column);
    if (c >= place.column && c < token_end) caret_end = column;
  }
  if (c <= place.column) caret = column + (place.column - c);  // behind the line's end
  caret_end = std::max(caret_end, caret + 1);
  std::string number = std::to_string(place.line);
  if (number.size() < 4) number.insert(0, 4 - number.size(), ' ');
  const std::string_view cut_before = first > 1 ? "..." : "", cut_behind = at < text.size() ? "..." : "";
  add_coloured(out, colours.margin, number + " | ", colours);
  out.append(cut_before).append(shown).append(cut_behind).append("\n");
  add_coloured(out, colours.margin, std::string(number.size(), ' ') + " | ", colours);
  out.append(cut_before.size() + caret, ' ');
  add_coloured(out, colours.caret, std::string(caret_end - caret, '^'), colours);
  out += '\n';
}

}  // namespace vmrun
