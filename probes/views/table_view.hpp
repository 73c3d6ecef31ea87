// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/views/process_names.hpp"
#include "probes/views/view.hpp"

/// A view whose script prints aggregations. Each printa becomes a table with the columns of
/// views.tab, largest first. On a terminal the table is redrawn in place, elsewhere tables follow
/// each other. The totals of all intervals come at the end. Only the consumer's thread uses it.
namespace vmrun::d {

/// Returns a value as its column shows it. ns: the time in which it has come together.
std::string unit_text(Unit unit, double n, std::uint64_t ns);

class TableView : public View {
 public:
  explicit TableView(Settings settings) : View(std::move(settings)) {}

  bool act(const Event& event, const ActionInfo& action, std::span<const Value> values,
           Aggregates& aggregations, std::string& out) override;
  void end(Aggregates& aggregations, std::string& out) override;

 protected:
  struct Row {
    std::vector<std::string> keys;
    std::vector<std::vector<std::uint64_t>> values;  // beside Rows::aggregations
  };
  /// The rows of a printa, or of one table over all intervals.
  struct Rows {
    const ViewTable* table = nullptr;
    std::vector<const Aggregation*> aggregations;
    std::vector<Row> rows;
    std::unordered_map<std::string, std::size_t> by_key;  // until they are sorted

    void add(Row row);
  };

  /// Shows what a printa of the script has found in the interval that ends now. It is called for
  /// each interval but the last, which belongs to the totals of all.
  virtual void show(std::string& out, const Rows& rows, std::uint64_t now);
  /// Returns the text of a key in that column.
  std::string key_cell(const ViewColumn& column, const std::string& key) const;
  std::uint64_t interval_ns() const { return interval_ns_; }

 private:
  const ViewTable* table_of(const ActionInfo& action, Aggregates& aggregations) const;
  Rows rows_of(const ViewTable& table, const std::vector<std::uint32_t>& which,
               Aggregates& aggregations) const;
  void sort(Rows& rows) const;
  void add(const Rows& some);
  void add_unprinted(Aggregates& aggregations);
  void put(std::string& out, const Rows& rows, std::uint64_t ns);
  void put_plots(std::string& out, const Rows& rows) const;
  bool is_next_interval(std::uint64_t now);
  std::vector<double> sums_of(const Rows& rows) const;
  /// sums: by aggregation, over all rows. A key does not need them.
  std::string cell(const ViewColumn& column, const Rows& rows, const Row& row, std::span<const double> sums,
                   std::uint64_t ns) const;

  ProcessNames names_;
  std::map<const ViewTable*, Rows> totals_;
  std::vector<const ViewTable*> order_;  // of the totals
  std::uint64_t ended_ = 0, last_ = 0, interval_ns_ = 0;
  std::size_t intervals_ = 0;
  bool has_ended_ = false, is_next_ = true;
};

}  // namespace vmrun::d
