// SPDX-License-Identifier: Apache-2.0
#include "vm/base/bind_order.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <type_traits>

namespace vmrun {
namespace {

constexpr BindType kDefault = BindType::kThreadNoNodeProcessorSpread;

using Texts = std::remove_cvref_t<decltype(*kBindTypes)>;

std::optional<BindType> find(std::string_view Texts::*column, std::string_view text,
                             std::string_view of_default) {
  if (text == of_default) return kDefault;
  const Texts* found = std::ranges::find(kBindTypes, text, column);
  if (found == std::end(kBindTypes)) return {};
  return static_cast<BindType>(found - kBindTypes);
}

/// Where a processor is among its siblings: the first of its kind has 0.
struct Ranks {
  int thread = 0;   // in its core
  int core = 0;     // in its package, or in the node inside
  int part = 0;     // of the nodes in its package
  int package = 0;  // in its node, or among neighbours that are in none
  int node = 0;     // of all nodes, those inside packages too
};

/// Ranks of sorted places, computed from one to the next.
class Ranking {
 public:
  explicit Ranking(const std::vector<ProcessorPlace>& places) : places_(places) {}

  std::vector<Ranks> all() {
    std::vector<Ranks> ranks;
    Ranks last;
    for (std::size_t i = 0; i < places_.size(); ++i) ranks.push_back(last = i ? next(i, last) : Ranks{});
    return ranks;
  }

 private:
  Ranks next(std::size_t i, Ranks r) const {
    const ProcessorPlace &before = places_[i - 1], &here = places_[i];
    if (before.package != here.package) return in_new_package(i, r);
    if (before.part != here.part) return {.part = r.part + 1, .package = r.package, .node = r.node + 1};
    if (before.core == here.core) {
      ++r.thread;
      return r;
    }
    r.thread = 0;
    ++r.core;
    return r;
  }

  Ranks in_new_package(std::size_t i, const Ranks& last) const {
    const ProcessorPlace &before = places_[i - 1], &here = places_[i];
    const bool same_around = before.node == here.node;
    const bool same_node = same_around && before.part < 0 && here.part < 0;
    return {.package = same_around ? last.package + 1 : 0, .node = same_node ? last.node : last.node + 1};
  }

  const std::vector<ProcessorPlace>& places_;
};

using Key = std::array<int, 4>;

/// What counts before the order of the places.
Key key_of(const Ranks& r, BindType type) {
  switch (type) {
    case BindType::kUnbound:
    case BindType::kNoSpread: return {};
    case BindType::kThreadSpread: return {r.thread};
    case BindType::kProcessorSpread: return {r.thread, r.part, r.core};
    case BindType::kSpread: return {r.thread, r.core, r.part, r.package};
    case BindType::kNoNodeThreadSpread: return {r.node, r.thread};
    case BindType::kNoNodeProcessorSpread: return {r.node, r.thread, r.core};
    case BindType::kThreadNoNodeProcessorSpread: return {r.thread, r.node, r.core};
  }
  return {};
}

}  // namespace

std::optional<BindType> bind_type_of_letters(std::string_view letters) {
  return find(&Texts::letters, letters, "db");
}

std::optional<BindType> bind_type_named(std::string_view name) {
  return find(&Texts::name, name, "default_bind");
}

std::vector<int> bind_order(const std::vector<ProcessorPlace>& places, BindType type) {
  if (type == BindType::kUnbound) return {};
  const std::vector<Ranks> ranks = Ranking(places).all();
  std::vector<std::tuple<Key, std::size_t>> order;
  for (std::size_t i = 0; i < places.size(); ++i) order.emplace_back(key_of(ranks[i], type), i);
  std::sort(order.begin(), order.end());
  std::vector<int> processors;
  for (const auto& [key, i] : order) processors.push_back(places[i].logical);
  return processors;
}

}  // namespace vmrun
