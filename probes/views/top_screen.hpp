// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probes/screen/sorted_table.hpp"
#include "probes/views/totals_head.hpp"

/// The screen of `vmtrace top`: what it shows, and what keys do. It knows neither terminal nor
/// machine: the view hands it what has been found, and shows its lines. One thread uses it.
namespace vmrun::d {

class TopScreen {
 public:
  /// title: what is traced, in words.
  TopScreen(std::string title, std::vector<screen::SortedTable::Column> columns,
            screen::SortedTable::CellText text)
      : title_(std::move(title)), table_(std::move(columns), std::move(text)) {}

  screen::SortedTable& table() { return table_; }
  /// now: of each machine; those of the call before are the beginning of the interval.
  void set_totals(std::vector<Totals> now);
  /// messages: that have been queued in the interval, a second.
  void set_messages(double messages) { messages_ = messages; }
  /// dropped: things that were lost because a buffer was full, since the beginning.
  void set_dropped(std::uint64_t dropped) { dropped_ = dropped; }
  /// Called when the table has the rows of an interval.
  void set_has_rows() { has_rows_ = true; }

  /// Returns false when the key ends the view.
  bool press(const screen::Key& key);
  std::vector<screen::Line> lines(std::size_t width, std::size_t height);

 private:
  enum class Page { kTable, kHelp };

  bool press_in_prompt(const screen::Key& key);
  std::vector<screen::Line> head(std::size_t width, std::size_t most) const;
  screen::Line foot(std::size_t width) const;

  std::string title_;
  screen::SortedTable table_;
  std::vector<Totals> before_, now_;
  double messages_ = 0;
  std::uint64_t dropped_ = 0;
  bool has_rows_ = false, is_typing_ = false;
  Page page_ = Page::kTable;
};

}  // namespace vmrun::d
