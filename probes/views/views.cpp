#include "probes/views/views.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

/// Levenshtein's: letters to put in, take out or change.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_text(const ViewColumn& column) {
  return column.unit == Unit::kProcess || column.unit == Unit::kText || column.unit == Unit::kFunction ||
         column.unit == Unit::kCaller;
}

const ViewInfo* find_view(std::string_view name) {
  const auto found = std::ranges::find_if(kViews, [&](const ViewInfo& v) { return v.name == name; });
  return found == kViews.end() ? nullptr : &*found;
}

std::string_view view_like(std::string_view word) {
  if (word.size() > 20) return "";
  std::string_view nearest;
  std::size_t least = word.size() < 4 ? 2 : 3;  // letters that are wrong
  for (const ViewInfo& view : kViews)
    if (const std::size_t wrong = distance(word, view.name); wrong < least) {
      least = wrong;
      nearest = view.name;
    }
  return nearest;
}

std::string list_of_views() {
  std::string text;
  for (const ViewInfo& view : kViews) text += fmt::format("  vmtrace {:<9} {}\n", view.name, view.purpose);
  return text;
}

}  // namespace vmrun::d
