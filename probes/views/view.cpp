#include "probes/views/view.hpp"

#include <string_view>

#include "probes/views/flame.hpp"
#include "probes/views/record.hpp"
#include "probes/views/table.hpp"
#include "probes/views/timeline_view.hpp"

namespace vmrun::d {
namespace {

template <class T>
std::unique_ptr<View> make(Settings settings) {
  return std::make_unique<T>(std::move(settings));
}

/// How views are shown: a name of views.tab, and what makes one.
constexpr struct {
  std::string_view name;
  std::unique_ptr<View> (*make)(Settings);
} kShown[] = {
    {"d", make<View>},          {"flame", make<FlameView>},       {"record", make<RecordView>},
    {"table", make<TableView>}, {"timeline", make<TimelineView>},
};

}  // namespace

std::unique_ptr<View> make_view(Settings settings) {
  for (const auto& shown : kShown)
    if (shown.name == settings.view->shown) return shown.make(std::move(settings));
  return nullptr;
}

}  // namespace vmrun::d
