#pragma once

#include <span>
#include <string>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"
#include "probes/print/aggregates.hpp"
#include "probes/print/value.hpp"

/// Shows a script's results in another way than D's actions do: as a table that is redrawn, or as a
/// file of another format. A script runs with or without one. Everything is called by the
/// consumer's thread; text that is appended to `out` goes where the script's output goes.
namespace vmrun::d {

class Presentation {
 public:
  /// What fired. Only to be looked at during the call.
  struct Event {
    const Record& record;  // time, scheduler, number of the probe (kEndProbe and timers among them)
    std::int64_t pid;      // of the machine
  };

  virtual ~Presentation() = default;

  /// now: nanoseconds, as records have them. Tracing begins.
  virtual void begin(std::uint64_t now) {}
  /// An action with its values, in the order of its fields; aggregations: as they are now, for
  /// printa. False: it is done as D says.
  virtual bool act(const Event& event, const ActionInfo& action, std::span<const Value> values,
                   Aggregates& aggregations, std::string& out) = 0;
  /// Whether SIGUSR1 is for it: what there is by then is written as if it were the end, and tracing
  /// goes on, from begin.
  virtual bool can_be_asked() const { return false; }
  /// About once a second: how often probes have fired since begin, all targets together. A text:
  /// tracing ends, for that reason.
  virtual std::string reason_to_end(std::uint64_t now, std::uint64_t firings) { return ""; }
  /// So many more records, keys and the like were dropped.
  virtual void dropped(std::uint64_t n) {}
  /// After END: nothing comes any more. What nobody printed is not printed by itself.
  virtual void end(Aggregates& aggregations, std::string& out) {}
  /// What has been written, in a line for the screen; empty: nothing is said.
  virtual std::string summary() const { return ""; }
};

}  // namespace vmrun::d
