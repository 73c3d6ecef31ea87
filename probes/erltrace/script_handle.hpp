// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"
#include "probes/print/aggregates.hpp"
#include "probes/print/consumer_options.hpp"
#include "probes/print/format.hpp"
#include "probes/print/merge.hpp"
#include "probes/print/record_texts.hpp"

/// The handle of erltrace:open/0: a script, its session in this machine, and the records that have
/// not been handed over yet. Any thread may call, one at a time. Calls wait for the tracing thread
/// (probes/attach/endpoint.hpp), so schedulers must not call. A call hands over whatever fired
/// before it.
namespace vmrun::erltrace {

struct Running;

/// Why something was not done. It is empty when it was done.
struct Refusal {
  const char* reason = nullptr;  // the name of an atom: no_prog, already_running, stopped ...
  std::string text;              // or words for the user: {dtrace, Text}

  explicit operator bool() const { return reason || !text.empty(); }
};

class Handle {
 public:
  Handle();
  /// Ends and frees everything, without waiting.
  ~Handle();
  Handle(const Handle&) = delete;

  Refusal set_option(const std::string& name, const std::string& value);
  Refusal compile(const std::string& text);
  /// Returns when BEGIN has run and the probes are enabled.
  Refusal go();
  /// Returns when the probes are disabled and END has run.
  Refusal stop();

  /// Hands over the records since the last call in the order of their timestamps, then how much was
  /// dropped since then. Once tracing has ended and everything was handed over, it returns the
  /// reason for the end.
  using TakeRecord = std::function<void(const d::Record& record, std::span<const std::uint64_t> words)>;
  using TakeDrops = std::function<void(d::Drop kind, std::uint64_t n)>;
  Refusal consume(const TakeRecord& take, const TakeDrops& take_drops);

  /// Hands over what was taken in since the last walk, by aggregation, sorted; or one aggregation,
  /// when it is named.
  using TakeElement = std::function<void(const d::Aggregates::Row& row)>;
  Refusal walk(std::optional<std::string_view> name, const TakeElement& take);

  /// Ends tracing. Nothing is handed over any more. Any thread may call it; it does not wait.
  void close();

  // The script of a handle. It may be called inside the functions above when the handle has one.
  const d::Script& script() const { return *script_; }
  d::Aggregates& aggregates() { return *aggregates_; }
  d::Texts& texts() { return texts_; }
  d::ConsumerOptions& options() { return options_; }
  const std::vector<d::Conversion>& format(std::size_t action) const { return formats_[action]; }
  /// Adds what has been aggregated by now.
  void refresh();

 private:
  using Drops = std::array<std::uint64_t, static_cast<std::size_t>(d::Drop::kCount)>;
  Refusal refuse_unless_compiled() const;
  void fill_streams();
  std::vector<d::Element> new_elements();
  void remember_functions();
  void take_over();

  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> given_options_;
  std::unique_ptr<d::Script> script_;
  std::unique_ptr<d::Aggregates> aggregates_;
  d::Texts texts_;
  d::ConsumerOptions options_;
  std::vector<std::vector<d::Conversion>> formats_;        // by number of action
  std::vector<std::unique_ptr<d::RecordStream>> streams_;  // of the session's rings
  std::vector<d::Element> left_elements_;                  // of a session that is gone
  Drops drops_{}, reported_drops_{};
  const std::shared_ptr<Running> running_;
};

}  // namespace vmrun::erltrace
