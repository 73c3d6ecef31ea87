// SPDX-License-Identifier: Apache-2.0
#include "probes/print/aggregates.hpp"

#include <algorithm>
#include <bit>

#include "probes/engine/aggregation.hpp"
#include "probes/print/plots.hpp"

namespace vmrun::d {
namespace {

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare_value(const Value& a, const Value& b) {
  if (a.kind == Field::Kind::kInteger)
    return a.is_signed ? three_way(a.number, b.number) : three_way(a.raw(), b.raw());
  const int order = a.bytes.compare(b.bytes);
  return three_way(order, 0);
}

/// Returns a text that is the same for the same key, whichever target the key came from.
std::string identity(const std::vector<Value>& key) {
  std::string id;
  for (const Value& value : key) {
    const std::uint64_t head = value.kind == Field::Kind::kInteger ? static_cast<std::uint64_t>(value.number)
                                                                   : value.bytes.size() * 2 + value.is_null;
    id.append(reinterpret_cast<const char*>(&head), sizeof head);
    id += value.bytes;
  }
  return id;
}

}  // namespace

Aggregates::Aggregates(const Script& script) : script_(script), rows_(script.program.aggregations.size()) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row zero;
    zero.aggregation = static_cast<std::uint32_t>(i);
    zero.values.resize(value_words(script.program.aggregations[i]));
    zeros_.push_back(std::move(zero));
  }
}

bool Aggregates::read_key(const Element& element, std::vector<std::uint64_t>& words,
                          std::vector<RecordField>& fields) const {
  if (element.aggregation >= rows_.size()) return false;
  if (element.values.size() != value_words(description(element.aggregation))) return false;
  words.resize(element.key.size() / 8);
  std::copy_n(element.key.data(), words.size() * 8, reinterpret_cast<char*>(words.data()));
  const std::uint64_t* at = words.data();
  return read_fields(script_.aggregations[element.aggregation].keys, at, at + words.size(), fields);
}

void Aggregates::take(const std::vector<Element>& elements, Texts& texts) {
  std::vector<std::uint64_t> words;
  std::vector<RecordField> fields;
  for (const Element& element : elements)
    if (read_key(element, words, fields))
      for (const RecordField& field : fields) texts.want(field);
  texts.ask();
  for (const Element& element : elements) take(element, texts);
}

void Aggregates::take(const Element& element, Texts& texts) {
  std::vector<std::uint64_t> words;
  std::vector<RecordField> fields;
  if (!read_key(element, words, fields)) return;
  const Aggregation& how = description(element.aggregation);
  std::vector<Value> key;
  for (const RecordField& field : fields) key.push_back(texts.value(field));
  auto [found, fresh] = rows_[element.aggregation].try_emplace(identity(key));
  Row& row = found->second;
  if (fresh) {
    row.aggregation = element.aggregation;
    row.storage.reserve(key.size());
    for (Value& value : key) value.bytes = row.storage.emplace_back(value.bytes);
    row.key = std::move(key);
    row.words = std::move(words);
  }
  texts.forget_made();
  if (fresh || row.cleared) row.values = element.values;
  else merge_values(how, row.values.data(), element.values.data());
  row.cleared = false;
}

void Aggregates::clear(std::uint32_t aggregation) {
  for (auto& [id, row] : rows_.at(aggregation)) {
    std::fill(row.values.begin(), row.values.end(), 0);
    row.cleared = true;
  }
}

void Aggregates::normalize(std::uint32_t aggregation, std::uint64_t by) {
  for (auto& [id, row] : rows_.at(aggregation)) row.normal = by == 0 ? 1 : by;
}

void Aggregates::trunc(std::uint32_t aggregation, std::optional<std::int64_t> keep) {
  auto& rows = rows_.at(aggregation);
  if (!keep || *keep == 0) return rows.clear();
  std::vector<std::pair<const Row*, std::string>> order;
  for (auto& [id, row] : rows) order.emplace_back(&row, id);
  const int sign = *keep < 0 ? 1 : -1;
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    int c = compare_values(*a.first, *b.first);
    if (c == 0) c = compare_keys(*a.first, *b.first, 0);
    return c * sign < 0;
  });
  const auto most = *keep < 0 ? 0 - static_cast<std::uint64_t>(*keep) : static_cast<std::uint64_t>(*keep);
  for (std::size_t i = most; i < order.size(); ++i) rows.erase(order[i].second);
}

void Aggregates::change(const ActionInfo& action, std::optional<std::int64_t> number) {
  if (action.aggregations.empty()) return;
  const std::uint32_t a = action.aggregations[0];
  switch (action.kind) {
    case ActionKind::kClear: return clear(a);
    case ActionKind::kTrunc: return trunc(a, number);
    case ActionKind::kNormalize: return normalize(a, static_cast<std::uint64_t>(number.value_or(1)));
    case ActionKind::kDenormalize: return normalize(a, 1);
    default: return;
  }
}

int Aggregates::compare_values(const Row& a, const Row& b) const {
  const Aggregation& how = description(a.aggregation);
  switch (how.how) {
    case Aggregating::kCount:
    case Aggregating::kSum:
    case Aggregating::kMin:
    case Aggregating::kMax:
      if (!how.is_signed) return three_way(a.values[0], b.values[0]);
      return three_way(static_cast<std::int64_t>(a.values[0]), static_cast<std::int64_t>(b.values[0]));
    case Aggregating::kAvg: {
      const auto mean = [](const Row& r) {
        return r.values[0] == 0 ? 0.0L
                                : static_cast<long double>(static_cast<std::int64_t>(r.values[1])) /
                                      static_cast<long double>(r.values[0]);
      };
      return three_way(mean(a), mean(b));
    }
    case Aggregating::kStddev:
      return three_way(standard_deviation(a.values.data(), 1), standard_deviation(b.values.data(), 1));
    default: {
      const PlotWeight left = plot_weight(how, a.values.data()), right = plot_weight(how, b.values.data());
      if (const int c = three_way(left.sum, right.sum); c != 0) return c;
      return three_way(left.at_zero, right.at_zero);
    }
  }
}

int Aggregates::compare_keys(const Row& a, const Row& b, std::size_t position) const {
  const std::size_t n = a.key.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = (i + (position < n ? position : 0)) % n;
    if (const int c = compare_value(a.key[at], b.key[at]); c != 0) return c;
  }
  return 0;
}

std::vector<Aggregates::Line> Aggregates::lines(const std::vector<std::uint32_t>& aggregations,
                                                const SortOptions& sort) {
  std::unordered_map<std::string_view, Line> by_key;
  for (std::size_t column = 0; column < aggregations.size(); ++column)
    for (const auto& [id, row] : rows_.at(aggregations[column])) {
      Line& line = by_key[id];
      if (line.columns.empty()) {
        line.key = &row;
        for (const std::uint32_t other : aggregations) line.columns.push_back(&zeros_[other]);
      }
      line.columns[column] = &row;
    }
  std::vector<Line> lines;
  lines.reserve(by_key.size());
  for (auto& [id, line] : by_key) lines.push_back(std::move(line));
  const std::size_t n = aggregations.size(), first = sort.position < n ? sort.position : 0;
  const int sign = sort.reversed ? -1 : 1;
  std::sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
    int c = sort.by_key ? compare_keys(*a.key, *b.key, sort.key_position) : 0;
    for (std::size_t i = 0; c == 0 && i < n; ++i)
      c = compare_values(*a.columns[(first + i) % n], *b.columns[(first + i) % n]);
    if (c == 0) c = compare_keys(*a.key, *b.key, sort.key_position);
    return c * sign < 0;
  });
  return lines;
}

}  // namespace vmrun::d
