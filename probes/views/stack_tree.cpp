// SPDX-License-Identifier: Apache-2.0
#include "probes/views/stack_tree.hpp"

#include <algorithm>

#include "probes/views/json_writer.hpp"

namespace vmrun::d {
namespace {

/// Returns the place behind the atom that begins at `at`: its end, or that of its closing quote.
std::size_t end_of_atom(std::string_view text, std::size_t at, char end) {
  if (at >= text.size() || text[at] != '\'') return text.find(end, at);
  for (++at; at < text.size() && text[at] != '\''; ++at)
    if (text[at] == '\\') ++at;
  return at + 1 < text.size() && text[at + 1] == end ? at + 1 : std::string_view::npos;
}

}  // namespace

FrameText split_frame(std::string_view frame) {
  const std::size_t colon = end_of_atom(frame, 0, ':');
  if (colon == std::string_view::npos) return {frame, {}, {}};
  const std::size_t slash = end_of_atom(frame, colon + 1, '/');
  if (slash == std::string_view::npos) return {frame, {}, {}};
  std::size_t end = slash + 1;
  while (end < frame.size() && frame[end] >= '0' && frame[end] <= '9') ++end;
  if (end == slash + 1) return {frame, {}, {}};
  std::string_view place = frame.substr(end);
  if (place.starts_with(" (") && place.ends_with(')')) place = place.substr(2, place.size() - 3);
  else if (!place.empty()) return {frame, {}, {}};
  return {frame.substr(0, end), frame.substr(0, colon), place};
}

std::uint32_t StackTree::name_of(std::string_view label, std::string_view module, bool is_function) {
  std::string key(is_function ? "f" : "r");
  const auto [at, is_new] =
      name_numbers_.try_emplace(key += label, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back({std::string(label), std::string(module), is_function});
  return at->second;
}

std::int32_t StackTree::place_of(std::string_view place) {
  if (place.empty()) return -1;
  const auto [at, is_new] =
      place_numbers_.try_emplace(std::string(place), static_cast<std::int32_t>(places_.size()));
  if (is_new) places_.emplace_back(place);
  return at->second;
}

std::uint32_t StackTree::child_of(std::uint32_t node, std::uint32_t name, std::int32_t place) {
  const std::uint64_t key = std::uint64_t{name} << 32 | static_cast<std::uint32_t>(place);
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const auto [at, is_new] = nodes_[node].children.try_emplace(key, next);
  const std::uint32_t child = at->second;
  if (is_new) nodes_.push_back({name, place, 0, {}});
  return child;
}

void StackTree::add(std::string_view root, std::string_view lines, std::uint64_t weight) {
  std::uint32_t node = 0;
  if (!root.empty()) node = child_of(node, name_of(root, {}, false), -1);
  while (!lines.empty()) {  // begins at the last line, which is the outermost
    if (lines.back() == '\n') lines.remove_suffix(1);
    const std::size_t before = lines.rfind('\n') + 1;  // 0 for the first line
    const FrameText frame = split_frame(lines.substr(before));
    if (!frame.label.empty())
      node = child_of(node, name_of(frame.label, frame.module, !frame.module.empty()), place_of(frame.place));
    lines = lines.substr(0, before);
  }
  if (node == 0) node = child_of(node, name_of("no stack", {}, false), -1);
  nodes_[node].own += weight;
  total_ += weight;
}

void StackTree::put_members(std::string& json) const {
  const auto put_separator = [&json] {
    if (json.back() != '[') json += ',';
  };
  json += json.back() == '{' ? "\"names\":[" : ",\"names\":[";
  for (const Name& name : names_) {
    put_separator();
    json += '[';
    put_json(json, name.label);
    json += ',';
    if (name.is_function) put_json(json, name.module);
    else json += "null";
    json += ']';
  }
  json += "],\"places\":[";
  for (const std::string& place : places_) {
    put_separator();
    put_json(json, place);
  }
  json += "],\"nodes\":[";
  struct Step {
    std::uint32_t node, depth;
  };
  std::vector<Step> todo;
  const auto push_children = [&](const Node& node, std::uint32_t depth) {
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
      todo.push_back({child->second, depth});
  };
  push_children(nodes_[0], 0);
  while (!todo.empty()) {
    const auto [number, depth] = todo.back();
    todo.pop_back();
    const Node& node = nodes_[number];
    put_separator();
    json += '[';
    put_json(json, std::uint64_t{depth});
    json += ',';
    put_json(json, std::uint64_t{node.name});
    json += ',';
    put_json(json, std::int64_t{node.place});
    json += ',';
    put_json(json, node.own);
    json += ']';
    push_children(node, depth + 1);
  }
  json += ']';
}

}  // namespace vmrun::d
