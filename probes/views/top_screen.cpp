// SPDX-License-Identifier: Apache-2.0
#include "probes/views/top_screen.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "probes/views/units.hpp"
#include "vm/base/utf8.hpp"

namespace vmrun::d {
namespace {

using screen::Key;
using screen::Line;
using screen::Look;
using screen::Piece;

constexpr std::size_t kLeastRows = 6;  // of the table with its headings; the head gives way to them

struct Help {
  const char* keys;
  const char* meaning;
};
constexpr Help kHelp[] = {
    {"q", "ends the view, and prints the table of the whole time"},
    {"?", "shows this page; any key leaves it"},
    {"up down", "move the cursor, as k and j do; also Page Up, Page Down, Home and End"},
    {"< >", "sort by the column to the left, to the right; so do the arrows"},
    {"r", "reverses the order"},
    {"/", "shows only processes whose names contain a text; Enter keeps it, Escape takes it away"},
};

void drop_last_character(std::string& text) {
  while (!text.empty() && utf8::is_continuation(static_cast<unsigned char>(text.back()))) text.pop_back();
  if (!text.empty()) text.pop_back();
}

std::vector<Line> help_lines(std::size_t width) {
  constexpr std::size_t kKeys = 10;
  std::vector<Line> lines{{{"keys of vmtrace top", Look::kStrong}}, {}};
  for (const Help& help : kHelp) {
    bool is_first = true;
    for (std::string& text : screen::broken(help.meaning, width > kKeys ? width - kKeys : 1, 0)) {
      const std::string keys = screen::padded(is_first ? help.keys : "", kKeys);
      lines.push_back({{keys, Look::kStrong}, {std::move(text)}});
      is_first = false;
    }
  }
  lines.emplace_back();
  for (std::string& text :
       screen::broken("A number with ! in front is near its limit, or more processes wait for a scheduler "
                      "than there are schedulers.",
                      width, 0))
    lines.push_back({{std::move(text)}});
  return lines;
}

/// Cuts what is wider than the screen. Rows are where there is room for a few columns only.
std::vector<Line> clipped(std::vector<Line> lines, std::size_t width) {
  for (Line& line : lines) {
    std::size_t left = width;
    for (Piece& piece : line) {
      piece.text = screen::cut_to(piece.text, left);
      left -= screen::columns_of(piece.text);
    }
  }
  return lines;
}

std::string uptime_text(std::uint64_t ms) {
  const std::uint64_t s = ms / 1000;
  return fmt::format("up {}{}:{:02}:{:02}", s >= 86400 ? fmt::format("{} d ", s / 86400) : "", s / 3600 % 24,
                     s / 60 % 60, s % 60);
}

}  // namespace

void TopScreen::set_totals(std::vector<Totals> now) {
  before_ = now.size() == now_.size() ? std::move(now_) : std::vector<Totals>();
  now_ = std::move(now);
}

bool TopScreen::press_in_prompt(const Key& key) {
  std::string text = table_.filter();
  switch (key.kind) {
    case Key::Kind::kEnter: is_typing_ = false; return true;
    case Key::Kind::kEscape:
      is_typing_ = false;
      text.clear();
      break;
    case Key::Kind::kBackspace: drop_last_character(text); break;
    case Key::Kind::kCharacter:
      if (key.character >= ' ') utf8::append(text, key.character);
      break;
    default: (void)table_.press(key); return true;
  }
  table_.set_filter(std::move(text));
  return true;
}

bool TopScreen::press(const Key& key) {
  if (key.kind == Key::Kind::kResize) return true;
  if (page_ == Page::kHelp) return page_ = Page::kTable, true;
  if (is_typing_) return press_in_prompt(key);
  if (key.is('q') || key.is('Q')) return false;
  if (key.is('?') || key.is('h')) page_ = Page::kHelp;
  else if (key.is('/')) is_typing_ = true;
  else if (key.kind == Key::Kind::kEscape) table_.set_filter("");
  else (void)table_.press(key);
  return true;
}

std::vector<Line> TopScreen::head(std::size_t width, std::size_t most) const {
  std::vector<Piece> title{{"top", Look::kStrong}, {title_}};
  if (now_.size() == 1) title.push_back({uptime_text(now_[0].value("wall_clock"))});
  if (dropped_ != 0) title.push_back({fmt::format("!{} dropped", dropped_), Look::kWarning});
  HeadParts parts = head_of(before_, now_);
  if (has_rows_) {
    if (parts.empty()) parts.emplace_back();
    parts.back().insert(parts.back().begin(), {fmt::format("messages {}/s", count_text(messages_))});
  }
  parts.insert(parts.begin(), std::move(title));
  std::vector<Line> lines;
  for (const auto& part : parts) std::ranges::move(screen::flow(part, width), std::back_inserter(lines));
  if (lines.size() > most) lines.resize(most);
  return lines;
}

Line TopScreen::foot(std::size_t width) const {
  if (is_typing_) return {{"/", Look::kStrong}, {table_.filter()}, {" ", Look::kChosen}};
  std::string text;
  if (!table_.filter().empty())
    text = fmt::format("/{}: {} of {}  ", table_.filter(), table_.shown(), table_.rows());
  text += "q quit  ? help  / filter  < > sort  r reverse";
  return {{screen::cut_to(text, width), Look::kFaint}};
}

std::vector<Line> TopScreen::lines(std::size_t width, std::size_t height) {
  if (page_ == Page::kHelp) return clipped(help_lines(width), width);
  std::vector<Line> lines = head(width, height > kLeastRows + 2 ? height - kLeastRows - 2 : 1);
  const std::size_t taken = lines.size() + 1;
  if (height <= taken) return clipped(std::move(lines), width);
  std::vector<Line> rows = table_.lines(width, height - taken);
  if (table_.shown() == 0 && rows.size() + taken < height)
    rows.push_back(
        {{!has_rows_ ? "(waiting for the first interval)" : "(no process has run)", Look::kFaint}});
  std::ranges::move(rows, std::back_inserter(lines));
  lines.resize(height - 1);
  lines.push_back(foot(width));
  return clipped(std::move(lines), width);
}

}  // namespace vmrun::d
