// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source/diagnostics.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <tuple>

#include "vm/base/character_width.hpp"

namespace vmrun::compile {

namespace {

constexpr std::size_t kMaxKept = 10000;  // a hostile text must not fill memory with messages

/// The escape sequences of each colour; all are empty for output without colours.
struct Colours {
  std::string_view place, error, warning, message, margin, caret, off;
};
constexpr Colours kColours{"\x1b[1m",    "\x1b[1;31m", "\x1b[1;35m", "\x1b[1m",
                           "\x1b[1;34m", "\x1b[1;32m", "\x1b[0m"};
constexpr Colours kNoColours{};

void add(std::string& out, std::string_view colour, std::string_view text, const Colours& colours) {
  out.append(colour).append(text).append(colours.off);
}

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

/// Shows a line and underlines the token at a place (counted in characters). Of a very long line
/// only the part around the place is shown.
void render_excerpt(std::string& out, std::string_view line, Loc loc, Diagnostics::TokenLength token_length,
                    const Colours& colours) {
  constexpr std::uint32_t kBefore = 70;
  constexpr std::size_t kWidth = 110;
  const std::uint32_t first = loc.column > kBefore ? loc.column - kBefore : 1;
  std::uint32_t c = 1;
  std::size_t at = 0;
  for (; c < first && at < line.size(); ++c) next_code_point(line, at);
  std::string shown;
  std::size_t column = 0, caret = 0, caret_end = 0, token_end = 0;
  for (; at < line.size() && column < kWidth; ++c) {
    if (c == loc.column) {
      caret = column;
      token_end = c + token_length(line.substr(at));
    }
    const std::size_t from = at;
    const char32_t point = next_code_point(line, at);
    column += show_character(shown, line.substr(from, at - from), point, column);
    if (c >= loc.column && c < token_end) caret_end = column;
  }
  if (c <= loc.column) caret = column + (loc.column - c);  // behind the line's end
  caret_end = std::max(caret_end, caret + 1);
  std::string number = std::to_string(loc.line);
  if (number.size() < 4) number.insert(0, 4 - number.size(), ' ');
  const std::string_view cut_before = first > 1 ? "..." : "", cut_behind = at < line.size() ? "..." : "";
  add(out, colours.margin, number + " | ", colours);
  out.append(cut_before).append(shown).append(cut_behind).append("\n");
  add(out, colours.margin, std::string(number.size(), ' ') + " | ", colours);
  out.append(cut_before.size() + caret, ' ');
  add(out, colours.caret, std::string(caret_end - caret, '^'), colours);
  out += '\n';
}

}  // namespace

void Diagnostics::error(Loc loc, std::string message) {
  ++errors_;
  if (items_.size() < kMaxKept) items_.push_back({Severity::kError, loc, std::move(message)});
}

void Diagnostics::warning(Loc loc, std::string message) {
  ++warnings_;
  if (items_.size() < kMaxKept) items_.push_back({Severity::kWarning, loc, std::move(message)});
}

void Diagnostics::sort() {
  auto key = [](const Diagnostic& d) { return std::make_tuple(d.loc.file, d.loc.line, d.loc.column); };
  std::stable_sort(items_.begin(), items_.end(), [&](auto& a, auto& b) { return key(a) < key(b); });
  auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.severity == b.severity && a.loc == b.loc && a.message == b.message;
  };
  items_.erase(std::unique(items_.begin(), items_.end(), same), items_.end());
}

void Diagnostics::promote_warnings() {
  for (Diagnostic& d : items_) d.severity = Severity::kError;
  errors_ += warnings_;
  warnings_ = 0;
}

void Diagnostics::drop_warnings() {
  std::erase_if(items_, [](const Diagnostic& d) { return d.severity == Severity::kWarning; });
  warnings_ = 0;
}

std::string Diagnostics::render(const Sources& sources, TokenLength token_length, bool in_colour,
                                std::size_t limit) const {
  const Colours& colours = in_colour ? kColours : kNoColours;
  std::string out;
  std::size_t shown = 0;
  for (const Diagnostic& d : items_) {
    if (shown++ == limit) {
      out += format_message("... and %zu more\n", items_.size() - limit);
      break;
    }
    if (d.loc.file < sources.count()) {
      std::string place = sources.name(d.loc.file);
      if (d.loc.known()) place += format_message(":%u:%u", d.loc.line, d.loc.column);
      add(out, colours.place, place + ":", colours);
      out += ' ';
    }
    if (d.severity == Severity::kError) add(out, colours.error, "error:", colours);
    else add(out, colours.warning, "warning:", colours);
    out += ' ';
    add(out, colours.message, d.message, colours);
    out += '\n';
    if (!d.loc.known() || d.loc.file >= sources.count()) continue;
    const std::string_view line = sources.line(d.loc.file, d.loc.line);
    if (!line.empty()) render_excerpt(out, line, d.loc, token_length, colours);
  }
  return out;
}

std::string did_you_mean(const std::string& name) {
  return name.empty() ? std::string() : ", did you mean " + name + "?";
}

std::string format_message(const char* format, ...) {
  char buffer[512];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int n = vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  std::string out;
  if (n >= 0 && static_cast<std::size_t>(n) < sizeof buffer) {
    out.assign(buffer, static_cast<std::size_t>(n));
  } else if (n > 0) {
    out.resize(static_cast<std::size_t>(n) + 1);
    vsnprintf(out.data(), out.size(), format, again);
    out.resize(static_cast<std::size_t>(n));
  }
  va_end(again);
  return out;
}

}  // namespace vmrun::compile
