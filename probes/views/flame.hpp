// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "probes/views/stack_tree.hpp"
#include "probes/views/view.hpp"

/// A flame graph: what the script counts by process and stack, as one page of HTML that needs
/// nothing else (flame.html). Only the consumer's thread uses it.
namespace vmrun::d {

class FlameView final : public View {
 public:
  using View::View;

  void begin(std::uint64_t now) override { began_ = now; }
  void dropped(std::uint64_t n) override { dropped_ += n; }
  void end(Aggregates& aggregations, std::string& out) override;
  std::string file() const override { return "flame.html"; }
  std::string summary() const override { return summary_; }

 private:
  std::string about(std::string_view unit, std::uint64_t total) const;

  std::uint64_t began_ = 0, dropped_ = 0;
  std::string summary_;
};

/// Returns the page of a tree. unit: that of the weights. title and about: shown above the tree.
std::string flame_page(const StackTree& tree, std::string_view unit, std::string_view title,
                       std::string_view about);

}  // namespace vmrun::d
