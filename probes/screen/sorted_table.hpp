// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "probes/screen/key.hpp"
#include "probes/screen/screen_lines.hpp"

/// A table with a cursor that a user sorts by any column, reverses, filters and moves through. It
/// makes texts only for the rows that it shows, so there may be very many. Its rows are replaced as
/// often as the caller likes; the cursor stays with its row. One thread uses it.
namespace vmrun::screen {

class SortedTable {
 public:
  struct Column {
    std::string heading;
    bool is_text = false;   // aligned left, sorted by its text; numbers are sorted by value
    std::size_t least = 0;  // the least width
  };
  struct Row {
    std::string id;               // the same in each set of rows
    std::vector<double> numbers;  // by column
  };
  /// Returns what a column shows of a row.
  using CellText = std::function<std::string(const Row&, std::size_t column)>;

  SortedTable(std::vector<Column> columns, CellText text)
      : columns_(std::move(columns)), text_(std::move(text)) {}

  void set_rows(std::vector<Row> rows);
  void sort_by(std::size_t column, bool reversed);
  std::size_t sorted_by() const { return sorted_by_; }
  /// Shows only rows with a text column that contains this, in letters of any case.
  void set_filter(std::string filter);
  const std::string& filter() const { return filter_; }

  /// Handles the keys that move, sort (`<` `>`) and reverse (`r`). Returns whether it was one.
  bool press(const Key& key);

  /// Returns the row of the cursor, or null when there are no rows.
  const Row* chosen() const;
  /// Returns the row of that id, also when the filter leaves it out, or null.
  const Row* find(const std::string& id) const;
  std::size_t shown() const { return order_.size(); }
  std::size_t rows() const { return rows_.size(); }
  const std::vector<Row>& all() const { return rows_; }

  /// Returns the headings and rows around the cursor: `height` lines at most.
  std::vector<Line> lines(std::size_t width, std::size_t height);

 private:
  bool matches(const Row& row) const;
  void order();
  void move_to(std::size_t at);
  std::vector<std::size_t> columns_for(std::size_t width) const;
  std::vector<std::size_t> widths_for(const std::vector<std::size_t>& which, std::size_t width,
                                      std::size_t last) const;

  std::vector<Column> columns_;
  CellText text_;
  std::vector<Row> rows_;
  std::vector<std::size_t> order_;  // of the rows that the filter lets through
  std::string filter_, wanted_;     // as it was given; in lower case
  std::size_t sorted_by_ = 0;
  bool is_reversed_ = false;  // largest, or last, at the end
  // The cursor: its place in order_, and once the user has moved it, the row that it stays with.
  std::size_t at_ = 0, first_ = 0, page_ = 1;
  std::string kept_;
};

}  // namespace vmrun::screen
