// SPDX-License-Identifier: Apache-2.0
#include "probes/views/record_view.hpp"

#include <ctime>

#include <fmt/format.h>

#include "probes/engine/trace_clock.hpp"

namespace vmrun::d {

std::string time_of_day(std::uint64_t ns_since_1970) {
  const auto seconds = static_cast<std::time_t>(ns_since_1970 / 1'000'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:09}", text, ns_since_1970 % 1'000'000'000);
}

RecordView::RecordView(Settings settings) : View(settings) {
  if (settings.text("format") == "timeline") timeline_ = std::make_unique<TimelineView>(std::move(settings));
}

void RecordView::begin(std::uint64_t now) {
  epoch_ = wall_time_ns() - now;
  events_ = dropped_ = 0;
  formats_.clear();
  if (timeline_) timeline_->begin(now);
}

/// Puts a line for each printf, as the script would print it.
bool RecordView::act(const Event& event, const ActionInfo& action, std::span<const Value> values,
                     Aggregates& aggregations, std::string& out) {
  if (timeline_) return timeline_->act(event, action, values, aggregations, out);
  if (action.kind != ActionKind::kPrintf) return false;
  const auto [format, is_new] = formats_.try_emplace(&action);
  if (is_new) format->second = parse_format(action.format);
  ++events_;
  fmt::format_to(std::back_inserter(out), "{} {:3} ", time_of_day(epoch_ + event.record.timestamp),
                 event.record.cpu);
  format_values(out, format->second, {values.begin(), values.end()});
  return true;
}

void RecordView::dropped(std::uint64_t n) {
  dropped_ += n;
  if (timeline_) timeline_->dropped(n);
}

void RecordView::end(Aggregates& aggregations, std::string& out) {
  if (timeline_) timeline_->end(aggregations, out);
}

std::string RecordView::summary() const {
  if (timeline_) return timeline_->summary();
  return fmt::format("the last {} events{}", events_,
                     dropped_ == 0 ? "" : fmt::format("; {} were dropped", dropped_));
}

}  // namespace vmrun::d
