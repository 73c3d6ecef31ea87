// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source/diagnostics.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <tuple>

#include "vm/base/did_you_mean.hpp"
#include "vm/base/source_excerpt.hpp"

namespace vmrun::compile {

namespace {

constexpr std::size_t kMaxKept = 10000;  // a hostile text must not fill memory with messages

/// Returns the rest of the line that begins with this character.
std::string_view from_column(std::string_view line, std::uint32_t column) {
  std::size_t at = 0;
  for (std::uint32_t c = 1; c < column && at < line.size(); ++c) next_code_point(line, at);
  return line.substr(at);
}

void render_excerpt(std::string& out, std::string_view line, Loc loc, Diagnostics::TokenLength token_length,
                    const ReportColours& colours) {
  const std::string_view rest = from_column(line, loc.column);
  append_excerpt(out, line, {loc.line, loc.column, rest.empty() ? 1 : token_length(rest)}, colours);
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
  const ReportColours& colours = in_colour ? kReportColours : kNoReportColours;
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
      add_coloured(out, colours.place, place + ":", colours);
      out += ' ';
    }
    if (d.severity == Severity::kError) add_coloured(out, colours.error, "error:", colours);
    else add_coloured(out, colours.warning, "warning:", colours);
    out += ' ';
    add_coloured(out, colours.message, d.message, colours);
    out += '\n';
    if (!d.loc.known() || d.loc.file >= sources.count()) continue;
    const std::string_view line = sources.line(d.loc.file, d.loc.line);
    if (!line.empty()) render_excerpt(out, line, d.loc, token_length, colours);
  }
  return out;
}

std::string did_you_mean(const std::string& name) { return vmrun::did_you_mean(name); }

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
