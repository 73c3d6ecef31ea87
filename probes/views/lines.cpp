// SPDX-License-Identifier: Apache-2.0
#include "probes/views/lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "probes/print/format.hpp"
#include "probes/views/columns.hpp"
#include "probes/views/units.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kNumberWidth = 9, kTextWidth = 22;  // least widths; a longer text moves its line

std::string cell_of(const ViewColumn& column, const Value& value) {
  if (column.unit == Unit::kTime) return time_text(static_cast<double>(value.number));
  if (column.unit == Unit::kCount) return count_text(static_cast<double>(value.number));
  if (value.kind == Field::Kind::kInteger) return std::to_string(value.number);
  return value.is_null ? "-" : printable(until_nul(value.bytes));
}

}  // namespace

bool LinesView::is_full() const {
  const auto most = static_cast<std::size_t>(settings().number("lines"));
  return most != 0 && lines_ >= most;
}

void LinesView::put(std::string& out, const std::vector<std::string>& cells) const {
  const auto& columns = settings().view->tables.front().columns;
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t heading = characters(columns[i].heading);
    if (i != 0) line += "  ";
    if (is_text(columns[i])) put_left(line, cells[i], i == 0 ? heading : std::max(kTextWidth, heading));
    else put_right(line, cells[i], std::max(kNumberWidth, heading));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  (out += settings().width == 0 ? line : cut(line, settings().width)) += '\n';
}

bool LinesView::act(const Event& event, const ActionInfo& action, std::span<const Value> values, Aggregates&,
                    std::string& out) {
  if (action.kind != ActionKind::kPrintf) return false;
  if (is_full()) return true;
  const std::uint64_t when = std::max(event.record.timestamp, begun());
  const double after = static_cast<double>(when - begun()) / 1e9;  // seconds
  std::vector<std::string> cells;
  if (lines_++ == 0) {
    for (const ViewColumn& column : settings().view->tables.front().columns)
      cells.emplace_back(column.heading);
    put(out, cells);
    cells.clear();
  }
  for (const ViewColumn& column : settings().view->tables.front().columns) {
    if (column.key == 0) cells.push_back(fmt::format("{:.3f} s", after));
    else cells.push_back(column.key <= values.size() ? cell_of(column, values[column.key - 1]) : "");
  }
  put(out, cells);
  return true;
}

std::string LinesView::reason_to_end(std::uint64_t now, std::uint64_t firings) {
  if (!is_full()) return View::reason_to_end(now, firings);
  return fmt::format("{} lines are shown (-n); it ends", lines_);
}

void LinesView::end(Aggregates&, std::string& out) {
  if (lines_ == 0)
    out += fmt::format("{}: {}, nothing\n", settings().view->name, settings().view->tables.front().title);
}

}  // namespace vmrun::d
