// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "probes/screen/terminal.hpp"
#include "probes/views/table_view.hpp"
#include "probes/views/top_screen.hpp"

/// `vmtrace top`: a screen on a terminal, and the printed tables of TableView elsewhere. Only the
/// consumer's thread uses it.
namespace vmrun::d {

class TopView : public TableView {
 public:
  explicit TopView(Settings settings) : TableView(std::move(settings)) {}

  void begin(std::uint64_t now) override;
  int keyboard() const override { return terminal_ ? terminal_->descriptor() : -1; }
  bool attend(std::span<const Machine> machines) override;
  void dropped(std::uint64_t n) override { dropped_ += n; }
  bool shows_drops() const override { return terminal_ != nullptr; }
  std::string reason_to_end(std::uint64_t now, std::uint64_t firings) override;
  void leave() override { terminal_.reset(); }

 protected:
  void show(std::string& out, const Rows& rows, std::uint64_t now) override;

 private:
  bool wants_screen() const;
  void take(const Rows& rows);

  std::unique_ptr<screen::Terminal> terminal_;  // null: tables are printed
  std::unique_ptr<TopScreen> screen_;           // beside it
  std::uint64_t dropped_ = 0;
  bool is_due_ = true;  // an interval has ended: ask for the totals, and draw
};

}  // namespace vmrun::d
