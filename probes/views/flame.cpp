// SPDX-License-Identifier: Apache-2.0
#include "probes/views/flame.hpp"

#include <fmt/format.h>

#include "probes/engine/trace_clock.hpp"
#include "probes/print/plots.hpp"
#include "probes/views/json_writer.hpp"

namespace vmrun::d {

extern const std::string_view kFlamePage;  // flame.html

namespace {

constexpr std::string_view kDataGoesHere = "{{data}}";

/// Puts JSON inside a script element: no text may contain what would end it. A < occurs only in
/// texts.
void put_in_html(std::string& out, std::string_view json) {
  for (const char c : json)
    if (c == '<') out += "\\u003c";
    else out += c;
}

/// Adds an aggregation by process and stack.
void add_stacks(StackTree& tree, Aggregates& aggregations, std::uint32_t which) {
  const Aggregation& how = aggregations.description(which);
  for (const Aggregates::Line& line : aggregations.lines({which}, {})) {
    const auto& key = line.key->key;
    if (key.size() != 2 || key[1].kind != Field::Kind::kStack) continue;
    const std::int64_t weight = single_value(how, line.columns[0]->values.data(), 1);
    if (weight > 0) tree.add(key[0].bytes, key[1].bytes, static_cast<std::uint64_t>(weight));
  }
}

}  // namespace

std::string flame_page(const StackTree& tree, std::string_view unit, std::string_view title,
                       std::string_view about) {
  std::string data = "{";
  put_member(data, "title", title);
  put_member(data, "about", about);
  put_member(data, "unit", unit);
  tree.put_members(data);
  data += '}';
  const std::size_t at = kFlamePage.find(kDataGoesHere);
  std::string page(kFlamePage.substr(0, at));
  put_in_html(page, data);
  return page += kFlamePage.substr(at + kDataGoesHere.size());
}

std::string FlameView::about(std::string_view unit, std::uint64_t total) const {
  const double seconds = static_cast<double>(timestamp() - began_) / 1e9;
  std::string text = fmt::format("{} {} in {:.1f} s", total, unit, seconds);
  if (unit == "samples")
    text += fmt::format(", {} in each second of a thread's processor time", settings().number("rate"));
  if (dropped_ != 0) text += fmt::format("; {} dropped", dropped_);
  return text;
}

void FlameView::end(Aggregates& aggregations, std::string& out) {
  StackTree tree;
  for (std::uint32_t i = 0; i < aggregations.size(); ++i) add_stacks(tree, aggregations, i);
  const bool allocation = !settings().text("allocation").empty();
  const std::string_view unit = allocation ? "words" : "samples";
  const std::string title = fmt::format("{} of {}", allocation ? "Allocation" : "Time", settings().target);
  summary_ = fmt::format("{} {}", tree.total(), unit);
  out += flame_page(tree, unit, title, about(unit, tree.total()));
}

}  // namespace vmrun::d
