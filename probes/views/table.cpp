#include "probes/views/table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "probes/engine/aggregation.hpp"
#include "probes/print/plots.hpp"
#include "probes/views/columns.hpp"
#include "probes/views/units.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kMostTotals = 1 << 16;  // rows kept of earlier intervals; the smallest go
constexpr const char* kClearScreen = "\033[H\033[J";
constexpr double kWordBytes = 8;

std::string key_text(const Value& value) {
  if (value.kind == Field::Kind::kInteger) return std::to_string(value.number);
  if (value.is_null) return "-";
  return printable(value.bytes.substr(0, value.bytes.find('\0')));
}

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

bool is_text(const ViewColumn& column) { return column.unit == Unit::kProcess || column.unit == Unit::kText; }

std::string identity(const std::vector<std::string>& keys) {
  std::string id;
  for (const std::string& key : keys) (id += key) += '\0';
  return id;
}

}  // namespace

const ViewTable* TableView::table_of(const ActionInfo& action, Aggregates& aggregations) const {
  if (action.kind != ActionKind::kPrinta || action.aggregations.empty()) return nullptr;
  const std::string& name = aggregations.description(action.aggregations[0]).name;
  const auto& tables = settings().view->tables;
  const auto found = std::ranges::find_if(tables, [&](const ViewTable& t) { return t.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

TableView::Rows TableView::rows_of(const ViewTable& table, const ActionInfo& action,
                                   Aggregates& aggregations) const {
  Rows some;
  some.table = &table;
  for (const std::uint32_t a : action.aggregations) some.aggregations.push_back(&aggregations.description(a));
  for (const Aggregates::Line& line : aggregations.lines(action.aggregations, {})) {
    Row row;
    for (const Value& key : line.key->key) row.keys.push_back(key_text(key));
    for (const Aggregates::Row* column : line.columns) row.values.push_back(column->values);
    some.rows.push_back(std::move(row));
  }
  sort(some);
  return some;
}

/// Largest first, by the aggregation of the option's column or else the first; of what is equal
/// there the following ones decide.
void TableView::sort(Rows& rows) const {
  const auto& how = rows.aggregations;
  std::size_t first = 0;
  for (const ViewColumn& column : rows.table->columns)
    for (std::size_t i = 0; i < how.size(); ++i)
      if (column.heading == settings().text("sort") && how[i]->name == column.aggregation) first = i;
  std::ranges::sort(rows.rows, [&](const Row& a, const Row& b) {
    for (std::size_t i = 0; i < how.size(); ++i) {
      const std::size_t at = (first + i) % how.size();
      const std::int64_t left = single_value(*how[at], a.values[at].data(), 1),
                         right = single_value(*how[at], b.values[at].data(), 1);
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
  for (const Row& row : some.rows) {
    const auto [at, is_new] = all.by_key.try_emplace(identity(row.keys), all.rows.size());
    if (is_new) {
      all.rows.push_back(row);
      continue;
    }
    for (std::size_t i = 0; i < row.values.size(); ++i)
      merge_values(*all.aggregations[i], all.rows[at->second].values[i].data(), row.values[i].data());
  }
  if (all.rows.size() < kMostTotals) return;
  sort(all);
  all.rows.resize(kMostTotals / 2);
  all.by_key.clear();
  for (std::size_t i = 0; i < all.rows.size(); ++i) all.by_key[identity(all.rows[i].keys)] = i;
}

std::string TableView::cell(const ViewColumn& column, const Rows& rows, const Row& row,
                            std::uint64_t ns) const {
  if (column.key != 0) {
    if (column.key > row.keys.size()) return "";
    const std::string& key = row.keys[column.key - 1];
    return column.unit == Unit::kProcess ? printable(names_.of(key)) : key;
  }
  for (std::size_t i = 0; i < rows.aggregations.size(); ++i)
    if (rows.aggregations[i]->name == column.aggregation)
      return unit_text(column.unit,
                       static_cast<double>(single_value(*rows.aggregations[i], row.values[i].data(), 1)), ns);
  return "";
}

void TableView::put(std::string& out, const Rows& rows, std::uint64_t ns) {
  std::vector<Column> columns;
  for (const ViewColumn& column : rows.table->columns) columns.push_back({column.heading, !is_text(column)});
  std::vector<std::vector<std::string>> cells;
  const auto most = static_cast<std::size_t>(settings().number("rows"));
  for (const Row& row : rows.rows) {
    if (most != 0 && cells.size() == most) break;
    cells.emplace_back();
    for (const ViewColumn& column : rows.table->columns) cells.back().push_back(cell(column, rows, row, ns));
  }
  put_columns(out, columns, cells, settings().width);
  if (cells.size() < rows.rows.size()) out += fmt::format("({} more)\n", rows.rows.size() - cells.size());
  if (rows.rows.empty()) out += "(nothing)\n";
}

/// Tables of one record belong to one interval.
void TableView::begin_table(std::string& out, std::uint64_t now) {
  const bool more = last_ == now;
  if (!more) {
    interval_ns_ = now - (last_ == 0 ? begun_ : last_);
    last_ = now;
    ++intervals_;
  }
  if (settings().terminal && !more) out += kClearScreen;
  else if (more || intervals_ > 1) out += '\n';
}

bool TableView::act(const Event& event, const ActionInfo& action, std::span<const Value>,
                    Aggregates& aggregations, std::string& out) {
  const ViewTable* table = table_of(action, aggregations);
  if (table == nullptr) return false;
  names_.learn(aggregations);
  const Rows some = rows_of(*table, action, aggregations);
  add(some);
  const std::uint64_t now = ended_ = event.record.timestamp;
  if (event.record.probe == kEndProbe) return true;  // shown with the rest
  begin_table(out, now);
  out += fmt::format("{}: {}, {} after {}\n", settings().view->name, table->title, settings().target,
                     time_text(static_cast<double>(now - begun_)));
  put(out, some, interval_ns_);
  return true;
}

void TableView::end(Aggregates& aggregations, std::string& out) {
  const std::uint64_t ns = ended_ - std::min(ended_, begun_);
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
