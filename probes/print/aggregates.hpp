// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/engine/session.hpp"
#include "probes/print/record_texts.hpp"

/// The aggregations of a script as the consumer has them: the elements of all targets added up, by
/// key. What is drained from a target is added here and starts from zero there. So clear, trunc and
/// normalize concern only the consumer. Only the consumer's thread uses this. Spec: the DTrace
/// guide, "Aggregations".
namespace vmrun::d {

/// The options aggsortkey, aggsortrev, aggsortpos and aggsortkeypos.
struct SortOptions {
  bool by_key = false, reversed = false;
  std::size_t position = 0, key_position = 0;
};

class Aggregates {
 public:
  struct Row {
    std::uint32_t aggregation = 0;
    std::vector<Value> key;  // their bytes are in `storage`
    std::vector<std::string> storage;
    std::vector<std::uint64_t> words;  // the key as it was recorded
    std::vector<std::uint64_t> values;
    std::uint64_t normal = 1;
    bool cleared = false;  // zeros, until something is taken in again
  };
  /// A line of a table: a key, and the values of each aggregation that was asked for.
  struct Line {
    const Row* key;
    std::vector<const Row*> columns;
  };

  explicit Aggregates(const Script& script);

  void take(const Element& element, Texts& texts);
  /// Takes all elements. The names in them are asked for together.
  void take(const std::vector<Element>& elements, Texts& texts);
  void clear(std::uint32_t aggregation);
  /// Keeps as many of the largest elements as `keep` says, or of the smallest when it is negative.
  /// Without `keep` all go.
  void trunc(std::uint32_t aggregation, std::optional<std::int64_t> keep);
  void normalize(std::uint32_t aggregation, std::uint64_t by);
  /// Does what an action of a script says: clear, trunc, normalize, denormalize. number: its field.
  void change(const ActionInfo& action, std::optional<std::int64_t> number);

  /// Returns the lines in dtrace's order. An aggregation without values at a key has a row of
  /// zeros.
  std::vector<Line> lines(const std::vector<std::uint32_t>& aggregations, const SortOptions& sort);

  const Aggregation& description(std::uint32_t aggregation) const {
    return script_.program.aggregations[aggregation];
  }
  std::size_t size() const { return rows_.size(); }

 private:
  /// Returns false when the element does not belong to the script.
  bool read_key(const Element& element, std::vector<std::uint64_t>& words,
                std::vector<RecordField>& fields) const;
  int compare_values(const Row& a, const Row& b) const;
  int compare_keys(const Row& a, const Row& b, std::size_t position) const;

  const Script& script_;
  std::vector<std::unordered_map<std::string, Row>> rows_;  // by aggregation, by key
  std::vector<Row> zeros_;
};

}  // namespace vmrun::d
