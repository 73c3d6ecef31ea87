// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/views/view.hpp"

/// A view whose script prints a line for each event. The fields of each printf become the columns
/// of its only table in views.tab. Widths do not change on the way, because lines are shown as they
/// come. The view ends after a given number of lines. Only the consumer's thread uses it.
namespace vmrun::d {

class LinesView : public View {
 public:
  explicit LinesView(Settings settings) : View(std::move(settings)) {}

  bool act(const Event& event, const ActionInfo& action, std::span<const Value> values,
           Aggregates& aggregations, std::string& out) override;
  std::string reason_to_end(std::uint64_t now, std::uint64_t firings) override;
  void end(Aggregates& aggregations, std::string& out) override;

 private:
  bool is_full() const;
  void put(std::string& out, const std::vector<std::string>& cells) const;

  std::size_t lines_ = 0;
};

}  // namespace vmrun::d
