#pragma once

#include <memory>

#include "probes/views/settings.hpp"
#include "probes/vmtrace/presentation.hpp"

/// How a view shows what its script finds. A view that needs no more than D prints is this class
/// itself; others derive from it and are named in view.cpp. The reader's thread.
namespace vmrun::d {

class View : public Presentation {
 public:
  explicit View(Settings settings) : settings_(std::move(settings)) {}

  void begin(std::uint64_t now) override { looked_ = begun_ = now; }
  /// When probes fire more often than the option -r allows, so that the machine keeps its time.
  std::string reason_to_end(std::uint64_t now, std::uint64_t firings) override;

  bool act(const Event&, const ActionInfo&, std::span<const Value>, Aggregates&, std::string&) override {
    return false;
  }

  /// The name of a document that the output is, if it is one: it replaces what a file held before,
  /// and goes to a file of this name rather than to a screen. Empty: it is text like any other.
  virtual std::string file() const { return ""; }

 protected:
  const Settings& settings() const { return settings_; }
  std::uint64_t begun() const { return begun_; }

 private:
  Settings settings_;
  std::uint64_t begun_ = 0, looked_ = 0, firings_ = 0;  // when, and how many then
};

/// By the word that views.tab has for it.
std::unique_ptr<View> make_view(Settings settings);

}  // namespace vmrun::d
