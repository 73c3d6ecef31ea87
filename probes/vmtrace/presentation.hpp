// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"
#include "probes/print/aggregates.hpp"
#include "probes/print/value.hpp"
#include "probes/vmtrace/target.hpp"

/// Shows a script's results in another way than D's actions do: as a table that is redrawn, or as a
/// file of another format. A script runs with or without one. The consumer's thread calls
/// everything. Text that is appended to `out` goes where the script's output goes.
namespace vmrun::d {

class Presentation {
 public:
  /// A firing. It is valid only during the call.
  struct Event {
    const Record& record;  // time, scheduler, number of the probe (kEndProbe and timers among them)
    std::int64_t pid;      // of the machine
  };

  virtual ~Presentation() = default;

  /// Called when tracing begins. now: nanoseconds, as records have them.
  virtual void begin(std::uint64_t now) {}
  /// Handles an action with its values, in the order of its fields. aggregations: their present
  /// state, for printa. Returns false when the action is to be done as D says.
  virtual bool act(const Event& event, const ActionInfo& action, std::span<const Value> values,
                   Aggregates& aggregations, std::string& out) = 0;
  /// Whether SIGUSR1 asks this presentation for its results. They are then written as at the end,
  /// and tracing goes on, from begin.
  virtual bool can_be_asked() const { return false; }
  /// Called about once a second. firings: how often probes have fired since begin, in all targets
  /// together. Returns a reason when tracing is to end, else an empty text.
  virtual std::string reason_to_end(std::uint64_t now, std::uint64_t firings) { return ""; }
  /// Called when `n` more records, keys or other things were dropped.
  virtual void dropped(std::uint64_t n) {}
  /// Whether it tells the user of drops itself, so that standard error need not.
  virtual bool shows_drops() const { return false; }

  /// A machine that is traced, and what stands before the names of its processes.
  struct Machine {
    Target* target;
    std::string_view name;
  };
  /// The descriptor that is readable when a key has been pressed; -1: nobody waits for keys.
  virtual int keyboard() const { return -1; }
  /// Called in each turn of the consumer's loop: for keys, and for what the machines tell when they
  /// are asked. Returns true when the user ends the tracing.
  virtual bool attend(std::span<const Machine> machines) { return false; }
  /// Called when the loop has ended. What is written from now on goes to the terminal as it was.
  virtual void leave() {}
  /// Called after END, when nothing comes any more. Aggregations that were not printed are not
  /// printed automatically.
  virtual void end(Aggregates& aggregations, std::string& out) {}
  /// Returns a line for the screen about what has been written, or an empty text.
  virtual std::string summary() const { return ""; }
};

}  // namespace vmrun::d
