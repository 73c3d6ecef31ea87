// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Stacks folded into a tree, as a flame graph shows them: each path from the root is a stack. One
/// thread builds and writes it.
namespace vmrun::d {

/// A frame as ustack() prints it, `m:f/a (file:line)`, in its parts.
struct FrameText {
  std::string_view label;   // m:f/a, or all of it when it has another form
  std::string_view module;  // empty when it has another form
  std::string_view place;   // file:line; empty: unknown
};
/// Names of functions are quoted atoms, so nothing in them can be mistaken for another part.
FrameText split_frame(std::string_view frame);

class StackTree {
 public:
  /// Adds a stack. lines: one frame a line, innermost first. root: a frame outside all of them that
  /// is not a function (a process); empty: none. weight: samples, or words. A stack without any
  /// frame counts for its root alone, or for a frame that says so.
  void add(std::string_view root, std::string_view lines, std::uint64_t weight);

  std::uint64_t total() const { return total_; }
  std::size_t size() const { return nodes_.size() - 1; }

  /// Appends members of a JSON object that has begun:
  ///   names   [label, module], module null: no function
  ///   places  file:line
  ///   nodes   [depth, name, place (-1: none), weight of stacks that end here], in preorder
  void put_members(std::string& json) const;

 private:
  struct Node {
    std::uint32_t name = 0;
    std::int32_t place = -1;
    std::uint64_t own = 0;
    std::map<std::uint64_t, std::uint32_t> children;  // by name and place
  };
  struct Name {
    std::string label, module;
    bool is_function;
  };

  std::uint32_t name_of(std::string_view label, std::string_view module, bool is_function);
  std::int32_t place_of(std::string_view place);
  std::uint32_t child_of(std::uint32_t node, std::uint32_t name, std::int32_t place);

  std::vector<Node> nodes_{1};
  std::vector<Name> names_;
  std::vector<std::string> places_;
  std::unordered_map<std::string, std::uint32_t> name_numbers_;
  std::unordered_map<std::string, std::int32_t> place_numbers_;
  std::uint64_t total_ = 0;
};

}  // namespace vmrun::d
