// SPDX-License-Identifier: Apache-2.0
#include "probes/views/columns.hpp"

#include <algorithm>

#include "vm/base/utf8.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kGap = 2, kNarrowest = 10;  // characters between columns; least width of a cut text

bool continues(char c) { return utf8::is_continuation(static_cast<unsigned char>(c)); }

std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t widest = characters(columns[i].heading);
    for (const auto& row : rows) widest = std::max(widest, characters(row[i]));
    widths.push_back(widest);
  }
  return widths;
}

void fit(std::vector<std::size_t>& widths, const std::vector<Column>& columns, std::size_t width) {
  std::size_t all = widths.size() * kGap - kGap;
  for (const std::size_t w : widths) all += w;
  for (; all > width; --all) {
    std::size_t longest = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!columns[i].right && widths[i] > kNarrowest &&
          (longest == columns.size() || widths[i] > widths[longest]))
        longest = i;
    if (longest == columns.size()) return;
    --widths[longest];
  }
}

void put_line(std::string& out, const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
              const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string text = cut(cells[i], widths[i]);
    const std::string blanks(widths[i] - characters(text), ' ');
    if (i != 0) line.append(kGap, ' ');
    line += columns[i].right ? blanks + text : text + blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  (out += line) += '\n';
}

}  // namespace

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return out;
}

std::string cut(std::string_view text, std::size_t width) {
  if (characters(text) <= width) return std::string(text);
  const std::size_t keep = width < 2 ? 0 : width - 2;
  std::size_t bytes = 0, seen = 0;
  for (; bytes < text.size(); ++bytes)
    if (!continues(text[bytes]) && seen++ == keep) break;
  return std::string(text.substr(0, bytes)) + std::string(std::min<std::size_t>(width, 2), '.');
}

void put_columns(std::string& out, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths = widths_of(columns, rows);
  if (width != 0) fit(widths, columns, width);
  std::vector<std::string> headings;
  for (const Column& column : columns) headings.push_back(column.heading);
  put_line(out, columns, widths, headings);
  for (const auto& row : rows) put_line(out, columns, widths, row);
}

}  // namespace vmrun::d
