// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/print/format.hpp"
#include "probes/views/timeline_view.hpp"
#include "probes/views/view.hpp"

/// A flight recorder. The machine's buffers keep the newest events. They are written when the user
/// asks or when the machine ends, however it ends: as lines of text with the time of day, or as a
/// timeline. Only the consumer's thread uses it.
namespace vmrun::d {

class RecordView final : public View {
 public:
  explicit RecordView(Settings settings);

  void begin(std::uint64_t now) override;
  bool act(const Event& event, const ActionInfo& action, std::span<const Value> values,
           Aggregates& aggregations, std::string& out) override;
  void dropped(std::uint64_t n) override;
  void end(Aggregates& aggregations, std::string& out) override;
  bool can_be_asked() const override { return true; }
  std::string file() const override { return timeline_ ? "record.json" : "record.txt"; }
  std::string summary() const override;

 private:
  std::unique_ptr<TimelineView> timeline_;  // for -f timeline
  std::uint64_t epoch_ = 0;                 // added to a record's time, it gives ns since 1970
  std::uint64_t events_ = 0, dropped_ = 0;
  std::unordered_map<const ActionInfo*, std::vector<Conversion>> formats_;
};

/// Returns 2026-11-23 14:05:09.012345678, in the time zone of vmtrace.
std::string time_of_day(std::uint64_t ns_since_1970);

}  // namespace vmrun::d
