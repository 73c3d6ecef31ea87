// SPDX-License-Identifier: Apache-2.0
#include "probes/views/view.hpp"

#include <string_view>

#include <fmt/format.h>

#include "probes/views/flame.hpp"
#include "probes/views/lines.hpp"
#include "probes/views/record_view.hpp"
#include "probes/views/table_view.hpp"
#include "probes/views/timeline_view.hpp"
#include "probes/views/top_view.hpp"
#include "probes/views/units.hpp"

namespace vmrun::d {
namespace {

template <class T>
std::unique_ptr<View> make(Settings settings) {
  return std::make_unique<T>(std::move(settings));
}

/// How views are shown: a name of views.tab, and the function that makes such a view.
constexpr struct {
  std::string_view name;
  std::unique_ptr<View> (*make)(Settings);
} kShown[] = {
    {"d", make<View>},          {"flame", make<FlameView>},
    {"lines", make<LinesView>}, {"record", make<RecordView>},
    {"table", make<TableView>}, {"timeline", make<TimelineView>},
    {"top", make<TopView>},
};

}  // namespace

std::string View::reason_to_end(std::uint64_t now, std::uint64_t firings) {
  const double seconds = static_cast<double>(now - looked_) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(firings - firings_) / seconds : 0;
  const std::int64_t most = settings_.number("most");
  looked_ = now;
  firings_ = firings;
  if (most == 0 || rate <= static_cast<double>(most)) return "";
  return fmt::format(
      "STOPPED after {}: probes fire {} times a second, more than {} (-r; -r 0 is no limit). What was found:",
      time_text(static_cast<double>(now - begun_)), count_text(rate), count_text(static_cast<double>(most)));
}

std::unique_ptr<View> make_view(Settings settings) {
  for (const auto& shown : kShown)
    if (shown.name == settings.view->shown) return shown.make(std::move(settings));
  return nullptr;
}

}  // namespace vmrun::d
