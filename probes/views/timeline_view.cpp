// SPDX-License-Identifier: Apache-2.0
#include "probes/views/timeline_view.hpp"

#include <fmt/format.h>

namespace vmrun::d {

void TimelineView::begin(std::uint64_t) {
  text_.clear();
  dropped_ = 0;
  timeline_ = std::make_unique<Timeline>(text_, static_cast<std::uint64_t>(settings().number("events")));
}

bool TimelineView::act(const Event& event, const ActionInfo& action, std::span<const Value> values,
                       Aggregates&, std::string& out) {
  const bool is_ours = timeline_->take(event, action, values);
  out += text_;
  text_.clear();
  return is_ours;
}

std::string TimelineView::reason_to_end(std::uint64_t, std::uint64_t) {
  if (!timeline_->is_full()) return "";
  return fmt::format("{} events are all that -n allows", timeline_->taken());
}

void TimelineView::end(Aggregates&, std::string& out) {
  timeline_->finish(dropped_);
  out += text_;
}

std::string TimelineView::summary() const {
  std::string text = fmt::format("{} events, for ui.perfetto.dev or chrome://tracing", timeline_->taken());
  if (timeline_->left_out() != 0) text += fmt::format("; {} more were left out", timeline_->left_out());
  if (dropped_ != 0) text += fmt::format("; {} were dropped: -b makes buffers larger", dropped_);
  return text;
}

}  // namespace vmrun::d
