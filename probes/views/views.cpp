// SPDX-License-Identifier: Apache-2.0
#include "probes/views/views.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vm/base/near_name.hpp"

namespace vmrun::d {

bool has_heading(const ViewColumn& column, std::string_view word) {
  const auto lower = [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : int{c}; };
  return std::ranges::equal(std::string_view(column.heading), word, {}, lower, lower);
}

bool is_text(const ViewColumn& column) {
  return column.unit == Unit::kProcess || column.unit == Unit::kText || column.unit == Unit::kFunction ||
         column.unit == Unit::kCaller;
}

const ViewInfo* find_view(std::string_view name) {
  const auto found = std::ranges::find_if(kViews, [&](const ViewInfo& v) { return v.name == name; });
  return found == kViews.end() ? nullptr : &*found;
}

std::string_view view_like(std::string_view word) {
  NearName near(word);
  for (const ViewInfo& view : kViews) near.offer(view.name);
  return near.found();
}

std::string list_of_views() {
  std::string text;
  for (const ViewInfo& view : kViews) text += fmt::format("  vmtrace {:<9} {}\n", view.name, view.purpose);
  return text;
}

}  // namespace vmrun::d
