#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/engine/session.hpp"
#include "probes/print/texts.hpp"

/// The aggregations of a script as the reader has them: elements of all targets added up, by key.
/// What is drained from a target is added here and is zero there, so clear, trunc and normalize are
/// the reader's alone. The reader's thread.
/// Spec: the DTrace guide, "Aggregations".
namespace vmrun::d {

/// -x aggsortkey, aggsortrev, aggsortpos, aggsortkeypos.
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
    std::vector<std::uint64_t> words;  // of the key, as it was recorded
    std::vector<std::uint64_t> values;
    std::uint64_t normal = 1;
    bool cleared = false;  // zeros, until something is taken in again
  };
  /// What a line of a table shows: a key, and for each aggregation asked for its values.
  struct Line {
    const Row* key;
    std::vector<const Row*> columns;
  };

  explicit Aggregates(const Script& script);

  void take(const Element& element, Texts& texts);
  /// Takes all of them, whose names are asked for together.
  void take(const std::vector<Element>& elements, Texts& texts);
  void clear(std::uint32_t aggregation);
  /// keep: so many of the largest, negative: of the smallest; without one all go.
  void trunc(std::uint32_t aggregation, std::optional<std::int64_t> keep);
  void normalize(std::uint32_t aggregation, std::uint64_t by);
  /// What an action of a script says: clear, trunc, normalize, denormalize. number: its field.
  void change(const ActionInfo& action, std::optional<std::int64_t> number);

  /// Lines in dtrace's order. What one aggregation lacks at a key is a row of zeros.
  std::vector<Line> lines(const std::vector<std::uint32_t>& aggregations, const SortOptions& sort);

  const Aggregation& description(std::uint32_t aggregation) const {
    return script_.program.aggregations[aggregation];
  }
  std::size_t size() const { return rows_.size(); }

 private:
  /// False: it is none of the script's.
  bool read_key(const Element& element, std::vector<std::uint64_t>& words,
                std::vector<RecordField>& fields) const;
  int compare_values(const Row& a, const Row& b) const;
  int compare_keys(const Row& a, const Row& b, std::size_t position) const;

  const Script& script_;
  std::vector<std::unordered_map<std::string, Row>> rows_;  // by aggregation, by key
  std::vector<Row> zeros_;
};

}  // namespace vmrun::d
