// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/print/aggregates.hpp"
#include "probes/print/aggregation_print.hpp"
#include "probes/print/consumer_options.hpp"
#include "probes/print/format.hpp"
#include "probes/print/record_fields.hpp"
#include "probes/print/record_texts.hpp"
#include "probes/vmtrace/presentation.hpp"

/// Prints records: dtrace's columns, the actions that the consumer does, and drops and errors in
/// dtrace's words. A report has one object, however many targets there are. The consumer's thread
/// uses it. Spec: dtrace(1), the DTrace guide, "Output Formatting", "Actions".
namespace vmrun::d {

class Output {
 public:
  /// What a record needs to know about its target. The caller keeps it.
  struct Origin {
    const Script* script = nullptr;
    const std::vector<ProbeInfo>* probes = nullptr;
    Texts* texts = nullptr;
    std::int64_t pid = 0;
  };

  /// refresh: adds to `aggregates` what the targets have now. wait_to_write: returns when the file
  /// can be written, or false with errno when it cannot be. shows: may be null.
  Output(const Script& script, ConsumerOptions options, std::FILE* file, Aggregates& aggregates,
         std::function<void()> refresh, std::function<bool(int)> wait_to_write,
         Presentation* shows = nullptr);
  ~Output();

  void begin(std::uint64_t now) {
    if (shows_ != nullptr) shows_->begin(now);
  }
  /// words: what follows the head.
  void record(const Origin& origin, const Record& record, std::span<const std::uint64_t> words);
  /// Reports `n` more drops than the last report did.
  void drops(Drop kind, std::uint64_t n, std::uint32_t cpu);
  void target_gone(std::int64_t pid, bool is_command);
  /// Called about once a second. firings: how many since begin. Returns true when tracing is to
  /// end.
  bool has_reason_to_end(std::uint64_t now, std::uint64_t firings);
  /// The descriptor of keys, or -1.
  int keyboard() const { return shows_ == nullptr ? -1 : shows_->keyboard(); }
  /// Called in each turn of the loop. Returns true when the user ends the tracing.
  bool attend(std::span<const Presentation::Machine> machines) {
    return shows_ != nullptr && shows_->attend(machines);
  }
  /// Called when the loop has ended.
  void leave() {
    if (shows_ != nullptr) shows_->leave();
  }
  /// Prints at the end the aggregations that the script has not printed.
  void unprinted_aggregations();
  /// Puts a newline after the ^C of a terminal and before the aggregations printed at the end.
  void newline() {
    if (shows_ == nullptr) text_ += '\n';
  }
  void flush();

  /// Returns the status of the script's exit(), or nothing before that call.
  std::optional<int> exit_status() const { return exit_status_; }
  bool failed() const { return failed_; }
  const ConsumerOptions& options() const { return options_; }

 private:
  bool write_all(int file, std::string_view text);
  bool is_structure(std::uint32_t type) const;
  static ProbeInfo probe_of(const Origin& origin, const Record& record);
  void line_head(const Origin& origin, const Record& record);
  void fault(const Origin& origin, const Record& record, const Fault& fault);
  bool shown(const Origin& origin, const Record& record, const ActionInfo& action);
  void act(const ActionInfo& action, std::size_t number);
  void print_aggregations(const ActionInfo& action, std::size_t number);
  void change_aggregation(const ActionInfo& action);
  void run_command(const std::string& command);
  void reopen(const std::string& name);
  void set_option(const ActionInfo& action);
  void stack(const Value& value);
  void dump(const ActionInfo& action);
  void message(const std::string& text);

  const Script& script_;
  ConsumerOptions options_;
  std::FILE* file_;
  std::FILE* original_;
  Aggregates& aggregates_;
  std::function<void()> refresh_;
  std::function<bool(int)> wait_to_write_;
  Presentation* shows_;
  bool fresh_ = false;                            // the aggregations were refreshed since this record began
  std::vector<std::vector<Conversion>> formats_;  // by number of action
  std::vector<bool> printed_;                     // by number of aggregation
  std::vector<RecordField> fields_;
  std::vector<Value> values_;
  std::string text_;
  bool heading_ = false;
  std::size_t indent_ = 0;
  std::uint32_t last_probe_ = ~0U;
  std::uint16_t last_clause_ = 0;
  std::optional<int> exit_status_;
  bool failed_ = false;
};

}  // namespace vmrun::d
