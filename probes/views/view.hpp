// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "probes/views/view_settings.hpp"
#include "probes/vmtrace/presentation.hpp"

/// How a view shows what its script finds. A view that needs no more than D prints is this class
/// itself; others derive from it and are named in view.cpp. Only the consumer's thread uses it.
namespace vmrun::d {

class View : public Presentation {
 public:
  explicit View(Settings settings) : settings_(std::move(settings)) {}

  void begin(std::uint64_t now) override { looked_ = begun_ = now; }
  /// Returns a reason when probes fire more often than the option -r allows, so that the machine is
  /// not slowed down.
  std::string reason_to_end(std::uint64_t now, std::uint64_t firings) override;

  bool act(const Event&, const ActionInfo&, std::span<const Value>, Aggregates&, std::string&) override {
    return false;
  }

  /// Returns the name of a document, if the output is one. A document replaces what a file held
  /// before, and goes to a file of this name rather than to a screen. The name is empty when the
  /// output is ordinary text.
  virtual std::string file() const { return ""; }

 protected:
  const Settings& settings() const { return settings_; }
  std::uint64_t begun() const { return begun_; }

 private:
  Settings settings_;
  std::uint64_t begun_ = 0, looked_ = 0, firings_ = 0;  // when, and how many then
};

/// Makes a view by the word that views.tab has for it.
std::unique_ptr<View> make_view(Settings settings);

}  // namespace vmrun::d
