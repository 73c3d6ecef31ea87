// SPDX-License-Identifier: Apache-2.0
#include "probes/views/top_view.hpp"

#include <utility>

#include "probes/engine/aggregation.hpp"
#include "probes/print/plots.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kNumberWidth = 7;

std::vector<screen::SortedTable::Column> columns_of(const ViewTable& table) {
  std::vector<screen::SortedTable::Column> columns;
  for (const ViewColumn& column : table.columns)
    columns.push_back({column.heading, is_text(column), is_text(column) ? 0 : kNumberWidth});
  return columns;
}

}  // namespace

/// A command of -c has the terminal too, so its output would stand in the middle of a screen.
bool TopView::wants_screen() const {
  return settings().terminal && settings().number("batch") == 0 && settings().number("interval") != 0 &&
         settings().line.commands.empty();
}

void TopView::begin(std::uint64_t now) {
  TableView::begin(now);
  if (!wants_screen()) return;
  terminal_ = screen::Terminal::open();
  if (!terminal_) return;
  const ViewTable& table = settings().view->tables.front();
  screen_ = std::make_unique<TopScreen>(settings().target, columns_of(table),
                                        [this, &table](const screen::SortedTable::Row& row, std::size_t i) {
                                          const ViewColumn& column = table.columns[i];
                                          return column.key != 0
                                                     ? key_cell(column, row.id)
                                                     : unit_text(column.unit, row.numbers[i], interval_ns());
                                        });
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (has_heading(table.columns[i], settings().text("sort"))) screen_->table().sort_by(i, false);
}

/// Takes the rows of an interval. The key of a row, its process, is its identity.
void TopView::take(const Rows& rows) {
  std::vector<screen::SortedTable::Row> taken;
  double messages = 0;
  for (const Row& row : rows.rows) {
    auto& to = taken.emplace_back(row.keys.front(), std::vector<double>(rows.table->columns.size()));
    for (std::size_t i = 0; i < rows.aggregations.size(); ++i) {
      const Aggregation& how = *rows.aggregations[i];
      const auto value = static_cast<double>(single_value(how, row.values[i].data(), 1));
      if (how.name == "in") messages += value;
      for (std::size_t c = 0; c < to.numbers.size(); ++c)
        if (how.name == rows.table->columns[c].aggregation) to.numbers[c] = value;
    }
  }
  screen_->table().set_rows(std::move(taken));
  screen_->set_has_rows();
  screen_->set_messages(interval_ns() == 0 ? 0 : messages * 1e9 / static_cast<double>(interval_ns()));
}

void TopView::show(std::string& out, const Rows& rows, std::uint64_t now) {
  if (!terminal_) return TableView::show(out, rows, now);
  take(rows);
  is_due_ = true;
}

bool TopView::attend(std::span<const Machine> machines) {
  if (!terminal_) return false;
  bool has_changed = false;
  while (const std::optional<screen::Key> key = terminal_->key()) {
    if (!screen_->press(*key)) return true;
    has_changed = true;
  }
  if (std::exchange(is_due_, false)) {
    std::vector<Totals> totals;
    for (const Machine& machine : machines)
      if (Totals some; machine.target->totals(some)) totals.push_back(std::move(some));
    screen_->set_totals(std::move(totals));
    screen_->set_dropped(dropped_);
    has_changed = true;
  }
  if (has_changed) terminal_->show(screen_->lines(terminal_->width(), terminal_->height()));
  return false;
}

std::string TopView::reason_to_end(std::uint64_t now, std::uint64_t firings) {
  std::string why = TableView::reason_to_end(now, firings);
  if (!why.empty()) leave();
  return why;
}

}  // namespace vmrun::d
