// SPDX-License-Identifier: Apache-2.0
#include "probes/views/table_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "probes/engine/aggregation.hpp"
#include "probes/engine/trace_clock.hpp"
#include "probes/print/plots.hpp"
#include "probes/views/columns.hpp"
#include "probes/views/histogram.hpp"
#include "probes/views/units.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kMostTotals = 1 << 16;  // rows kept of earlier intervals; the smallest go
constexpr const char* kClearScreen = "\033[H\033[J";
constexpr double kWordBytes = 8;
constexpr std::size_t kPlots = 2;  // plots of a table

/// Returns `lists:reverse/1` for `lists:reverse/1 (lists.erl:147)`, for each line of a stack.
std::string functions_of(std::string_view stack) {
  std::string text;
  for (std::size_t at = 0; at < stack.size();) {
    const std::size_t end = std::min(stack.find('\n', at), stack.size());
    const std::string_view frame = stack.substr(at, end - at);
    text += printable(frame.substr(0, frame.find(" ("))) + '\n';
    at = end + 1;
  }
  return text;
}

/// Returns the line with that number, counted from 0.
std::string line_of(std::string_view text, unsigned number) {
  for (; number != 0 && !text.empty(); --number)
    text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  return text.empty() ? "-" : std::string(text.substr(0, text.find('\n')));
}

std::string key_text(const Value& value) {
  if (value.kind == Field::Kind::kInteger) return std::to_string(value.number);
  if (value.is_null) return "-";
  if (value.kind == Field::Kind::kStack) return functions_of(value.bytes);
  return printable(until_nul(value.bytes));
}

std::string identity(const std::vector<std::string>& keys) {
  std::string id;
  for (const std::string& key : keys) (id += key) += '\0';
  return id;
}

/// Returns the value by which a row is sorted and which it shows.
std::int64_t value_of(const Aggregation& how, const std::vector<std::uint64_t>& values) {
  return is_plot(how) ? values_in(how, values.data()) : single_value(how, values.data(), 1);
}

}  // namespace

std::string unit_text(Unit unit, double n, std::uint64_t ns) {
  const double elapsed = std::max<double>(static_cast<double>(ns), 1);
  switch (unit) {
    case Unit::kRate: return count_text(n * 1e9 / elapsed);
    case Unit::kTime: return time_text(n);
    case Unit::kShare: return share_text(n / elapsed);
    case Unit::kWords: return bytes_text(n * kWordBytes);
    case Unit::kBytes: return bytes_text(n);
    default: return count_text(n);
  }
}

void TableView::Rows::add(Row row) {
  const auto [at, is_new] = by_key.try_emplace(identity(row.keys), rows.size());
  if (is_new) return rows.push_back(std::move(row));
  for (std::size_t i = 0; i < row.values.size(); ++i)
    merge_values(*aggregations[i], rows[at->second].values[i].data(), row.values[i].data());
}

const ViewTable* TableView::table_of(const ActionInfo& action, Aggregates& aggregations) const {
  if (action.kind != ActionKind::kPrinta || action.aggregations.empty()) return nullptr;
  const std::string& name = aggregations.description(action.aggregations[0]).name;
  const auto& tables = settings().view->tables;
  const auto found = std::ranges::find_if(tables, [&](const ViewTable& t) { return t.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

TableView::Rows TableView::rows_of(const ViewTable& table, const std::vector<std::uint32_t>& which,
                                   Aggregates& aggregations) const {
  Rows some;
  some.table = &table;
  for (const std::uint32_t a : which) some.aggregations.push_back(&aggregations.description(a));
  for (const Aggregates::Line& line : aggregations.lines(which, {})) {
    Row row;
    for (const Value& key : line.key->key) row.keys.push_back(key_text(key));
    for (const Aggregates::Row* column : line.columns) row.values.push_back(column->values);
    some.add(std::move(row));
  }
  sort(some);
  return some;
}

/// Sorts the largest first, by the aggregation of the option's column or else the first. Where rows
/// are equal, the following aggregations decide.
void TableView::sort(Rows& rows) const {
  const auto& how = rows.aggregations;
  std::size_t first = 0;
  for (const ViewColumn& column : rows.table->columns)
    for (std::size_t i = 0; i < how.size(); ++i)
      if (has_heading(column, settings().text("sort")) && how[i]->name == column.aggregation) first = i;
  std::ranges::sort(rows.rows, [&](const Row& a, const Row& b) {
    for (std::size_t i = 0; i < how.size(); ++i) {
      const std::size_t at = (first + i) % how.size();
      const std::int64_t left = value_of(*how[at], a.values[at]), right = value_of(*how[at], b.values[at]);
      if (left != right) return left > right;
    }
    return a.keys < b.keys;
  });
}

void TableView::add(const Rows& some) {
  auto [found, fresh] = totals_.try_emplace(some.table);
  Rows& all = found->second;
  if (fresh) {
    order_.push_back(some.table);
    all.table = some.table;
    all.aggregations = some.aggregations;
  }
  for (const Row& row : some.rows) all.add(row);
  if (all.rows.size() < kMostTotals) return;
  sort(all);
  all.rows.resize(kMostTotals / 2);
  all.by_key.clear();
  for (std::size_t i = 0; i < all.rows.size(); ++i) all.by_key[identity(all.rows[i].keys)] = i;
}

std::string TableView::key_cell(const ViewColumn& column, const std::string& key) const {
  switch (column.unit) {
    case Unit::kProcess: return printable(names_.of(key));
    case Unit::kFunction: return line_of(key, 0);
    case Unit::kCaller: return line_of(key, 1);
    default: return key;
  }
}

std::vector<double> TableView::sums_of(const Rows& rows) const {
  std::vector<double> sums(rows.aggregations.size());
  for (const Row& row : rows.rows)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += static_cast<double>(value_of(*rows.aggregations[i], row.values[i]));
  return sums;
}

std::string TableView::cell(const ViewColumn& column, const Rows& rows, const Row& row,
                            std::span<const double> sums, std::uint64_t ns) const {
  if (column.key != 0) return column.key <= row.keys.size() ? key_cell(column, row.keys[column.key - 1]) : "";
  std::size_t i = 0;
  while (i < rows.aggregations.size() && rows.aggregations[i]->name != column.aggregation) ++i;
  if (i == rows.aggregations.size()) return "";
  const Aggregation& how = *rows.aggregations[i];
  const auto value = static_cast<double>(value_of(how, row.values[i]));
  if (column.unit == Unit::kTime && value == 0 && how.how != Aggregating::kSum) return "-";  // no value
  if (column.unit == Unit::kMedian) return "<" + time_text(quantile(how, row.values[i].data(), 0.5));
  if (column.unit == Unit::kNinety) return "<" + time_text(quantile(how, row.values[i].data(), 0.99));
  if (column.unit != Unit::kPart) return unit_text(column.unit, value, ns);
  return share_text(sums[i] == 0 ? 0 : value / sums[i]);
}

/// Puts what a column cannot show: the distributions of the first rows.
void TableView::put_plots(std::string& out, const Rows& rows) const {
  for (std::size_t i = 0; i < rows.aggregations.size(); ++i) {
    if (!is_plot(*rows.aggregations[i])) continue;
    for (std::size_t at = 0; at < std::min(kPlots, rows.rows.size()); ++at) {
      const Row& row = rows.rows[at];
      out += '\n';
      for (const ViewColumn& column : rows.table->columns)
        if (column.key != 0) (out += cell(column, rows, row, {}, 1)) += '\n';
      put_times(out, *rows.aggregations[i], row.values[i].data());
    }
  }
}

void TableView::put(std::string& out, const Rows& rows, std::uint64_t ns) {
  std::vector<Column> columns;
  for (const ViewColumn& column : rows.table->columns) columns.push_back({column.heading, !is_text(column)});
  std::vector<std::vector<std::string>> cells;
  const auto most = static_cast<std::size_t>(settings().number("rows"));
  const std::vector<double> sums = sums_of(rows);
  for (const Row& row : rows.rows) {
    if (most != 0 && cells.size() == most) break;
    cells.emplace_back();
    for (const ViewColumn& column : rows.table->columns)
      cells.back().push_back(cell(column, rows, row, sums, ns));
  }
  put_columns(out, columns, cells, settings().width);
  if (cells.size() < rows.rows.size()) out += fmt::format("({} more)\n", rows.rows.size() - cells.size());
  if (rows.rows.empty()) out += "(nothing)\n";
  put_plots(out, rows);
}

/// Tables of one record belong to one interval.
bool TableView::is_next_interval(std::uint64_t now) {
  if (last_ == now) return false;
  interval_ns_ = now - (last_ == 0 ? begun() : last_);
  last_ = now;
  ++intervals_;
  return true;
}

void TableView::show(std::string& out, const Rows& rows, std::uint64_t now) {
  if (settings().terminal && is_next_) out += kClearScreen;
  else if (!is_next_ || intervals_ > 1) out += '\n';
  out += fmt::format("{}: {}, {} after {}\n", settings().view->name, rows.table->title, settings().target,
                     time_text(static_cast<double>(now - begun())));
  put(out, rows, interval_ns_);
}

bool TableView::act(const Event& event, const ActionInfo& action, std::span<const Value>,
                    Aggregates& aggregations, std::string& out) {
  const ViewTable* table = table_of(action, aggregations);
  if (table == nullptr) return false;
  names_.learn(aggregations);
  const Rows some = rows_of(*table, action.aggregations, aggregations);
  add(some);
  const std::uint64_t now = ended_ = event.record.timestamp;
  has_ended_ |= event.record.probe == kEndProbe;
  if (has_ended_) return true;  // shown with the rest
  is_next_ = is_next_interval(now);
  show(out, some, now);
  return true;
}

/// Adds what the script of a machine would have printed in END. A machine that was killed has not
/// run END.
void TableView::add_unprinted(Aggregates& aggregations) {
  names_.learn(aggregations);
  for (const ViewTable& table : settings().view->tables) {
    std::vector<std::uint32_t> which;
    const auto take = [&](std::string_view name) {
      for (std::uint32_t i = 0; i < aggregations.size(); ++i)
        if (aggregations.description(i).name == name && std::ranges::find(which, i) == which.end())
          which.push_back(i);
    };
    take(table.name);
    for (const ViewColumn& column : table.columns) take(column.aggregation);
    if (!which.empty()) add(rows_of(table, which, aggregations));
  }
  ended_ = timestamp();
}

void TableView::end(Aggregates& aggregations, std::string& out) {
  if (!has_ended_) add_unprinted(aggregations);
  const std::uint64_t ns = ended_ - std::min(ended_, begun());
  for (const ViewTable* table : order_) {
    Rows& all = totals_[table];
    sort(all);
    if (intervals_ != 0 || table != order_.front()) out += '\n';
    out += fmt::format("{}: {}, {}, {} in all\n", settings().view->name, table->title, settings().target,
                       time_text(static_cast<double>(ns)));
    put(out, all, ns);
  }
}

}  // namespace vmrun::d
