// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/compile_report.hpp"

#include <fmt/format.h>

#include "vm/base/source_excerpt.hpp"

namespace vmrun::d {
namespace {

std::string place_of(const CompileError& error) {
  if (error.file.empty()) return "vmtrace:";
  if (error.line == 0) return error.file + ":";
  return fmt::format("{}:{}:{}:", error.file, error.line, error.column);
}

void put(std::string& out, const CompileError& error, bool with_tag, const ReportColours& colours) {
  add_coloured(out, colours.place, place_of(error), colours);
  out += ' ';
  add_coloured(out, colours.error, "error:", colours);
  out += ' ';
  if (with_tag) out += "[" + error.tag + "] ";
  add_coloured(out, colours.message, error.text, colours);
  out += '\n';
  if (error.line != 0 && !error.source_line.empty())
    append_excerpt(out, error.source_line, {error.line, error.column, error.length}, colours);
}

}  // namespace

std::string compile_report(const std::vector<CompileError>& errors, bool with_tags, bool in_colour,
                           std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < errors.size() && i < limit; i++)
    put(out, errors[i], with_tags, in_colour ? kReportColours : kNoReportColours);
  if (errors.size() > limit) out += fmt::format("... and {} more\n", errors.size() - limit);
  return out;
}

}  // namespace vmrun::d
