// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "probes/views/timeline.hpp"
#include "probes/views/view.hpp"

/// The events of timeline.d as a document for Perfetto's viewer. Only the consumer's thread uses
/// it.
namespace vmrun::d {

class TimelineView final : public View {
 public:
  explicit TimelineView(Settings settings) : View(std::move(settings)) {}

  void begin(std::uint64_t now) override;
  bool act(const Event& event, const ActionInfo& action, std::span<const Value> values,
           Aggregates& aggregations, std::string& out) override;
  std::string reason_to_end(std::uint64_t now, std::uint64_t firings) override;
  void dropped(std::uint64_t n) override { dropped_ += n; }
  void end(Aggregates& aggregations, std::string& out) override;
  std::string file() const override { return "timeline.json"; }
  std::string summary() const override;

 private:
  std::string text_;  // not handed over yet
  std::unique_ptr<Timeline> timeline_;
  std::uint64_t dropped_ = 0;
};

}  // namespace vmrun::d
