#include "runtime/compile/source/diagnostics.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <tuple>

namespace vmrun::compile {

namespace {

constexpr size_t kMaxKept = 10000;  // a hostile text must not fill memory with messages

/// Shows a line with a caret under a column; of very long lines only the part around the column.
void render_excerpt(std::string& out, std::string_view line, uint32_t line_number, uint32_t column) {
  constexpr size_t kBefore = 70, kWidth = 110;
  size_t at = 0;
  uint32_t first = column > kBefore ? column - static_cast<uint32_t>(kBefore) : 1;
  for (uint32_t c = 1; c < first && at < line.size(); c++) next_code_point(line, at);
  std::string shown, pad;
  uint32_t c = first;
  for (; at < line.size() && c < first + kWidth; c++) {
    size_t from = at;
    char32_t point = next_code_point(line, at);
    bool control = point < 0x20 && point != '\t';
    shown.append(control ? std::string_view(" ") : line.substr(from, at - from));
    if (c < column) pad.push_back(point == '\t' ? '\t' : ' ');
  }
  for (; c < column; c++) pad.push_back(' ');
  std::string number = std::to_string(line_number);
  if (number.size() < 4) number.insert(0, 4 - number.size(), ' ');
  out += number + " | " + (first > 1 ? "..." : "") + shown + (at < line.size() ? "..." : "") + "\n";
  out += std::string(number.size(), ' ') + " | " + (first > 1 ? "   " : "") + pad + "^\n";
}

}  // namespace

void Diagnostics::error(Loc loc, std::string message) {
  errors_++;
  if (items_.size() < kMaxKept) items_.push_back({Severity::kError, loc, std::move(message)});
}

void Diagnostics::warning(Loc loc, std::string message) {
  warnings_++;
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

std::string Diagnostics::render(const Sources& sources, size_t limit) const {
  std::string out;
  size_t shown = 0;
  for (const Diagnostic& d : items_) {
    if (shown++ == limit) {
      out += format_message("... and %zu more\n", items_.size() - limit);
      break;
    }
    if (d.loc.file < sources.count()) {
      out += sources.name(d.loc.file);
      if (d.loc.known()) out += format_message(":%u:%u", d.loc.line, d.loc.column);
      out += ": ";
    }
    out += d.severity == Severity::kError ? "error: " : "warning: ";
    out += d.message;
    out += '\n';
    if (!d.loc.known() || d.loc.file >= sources.count()) continue;
    std::string_view line = sources.line(d.loc.file, d.loc.line);
    if (!line.empty()) render_excerpt(out, line, d.loc.line, d.loc.column);
  }
  return out;
}

std::string format_message(const char* format, ...) {
  char buffer[512];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  std::string out;
  if (n >= 0 && static_cast<size_t>(n) < sizeof buffer) {
    out.assign(buffer, static_cast<size_t>(n));
  } else if (n > 0) {
    out.resize(static_cast<size_t>(n) + 1);
    vsnprintf(out.data(), out.size(), format, again);
    out.resize(static_cast<size_t>(n));
  }
  va_end(again);
  return out;
}

}  // namespace vmrun::compile
