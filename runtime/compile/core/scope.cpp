// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/scope.hpp"

#include <algorithm>

namespace vmrun::compile {

core::Var* Scope::lookup(std::string_view name) const {
  if (std::ranges::find(hidden_.own, name) == hidden_.own.end())
    for (std::size_t i = hidden_.from; i < hidden_.to; ++i)
      if (trail_[i].name == name) return trail_[i].previous;
  const auto it = scope_.find(name);
  return it == scope_.end() ? nullptr : it->second;
}

void Scope::bind_to(std::string_view name, Var* var) {
  Var*& slot = scope_[name];
  trail_.push_back({name, slot});
  slot = var;
}

core::Var* Scope::bind(std::string_view name) {
  Var* v = nodes_.fresh(name);
  bind_to(name, v);
  return v;
}

std::vector<std::pair<std::string_view, core::Var*>> Scope::bound_since(std::size_t mark) const {
  std::vector<std::pair<std::string_view, Var*>> out;
  for (std::size_t i = mark; i < trail_.size(); ++i) {
    auto same = [&](auto& p) { return p.first == trail_[i].name; };
    if (std::none_of(out.begin(), out.end(), same))
      out.emplace_back(trail_[i].name, scope_.at(trail_[i].name));
  }
  return out;
}

void Scope::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    scope_[trail_.back().name] = trail_.back().previous;
    trail_.pop_back();
  }
}

bool Scope::bound_between(std::string_view name, std::size_t from, std::size_t to) const {
  return std::any_of(trail_.begin() + static_cast<std::ptrdiff_t>(from),
                     trail_.begin() + static_cast<std::ptrdiff_t>(to),
                     [&](const Binding& b) { return b.name == name; });
}

bool Scope::bound_by_sibling(std::string_view name) const {
  return std::ranges::any_of(siblings_,
                             [&](auto& range) { return bound_between(name, range.first, range.second); });
}

Scope::Siblings Scope::hide_siblings() {
  const std::size_t now = mark();
  for (auto range = siblings_.rbegin(); range != siblings_.rend(); ++range)
    for (std::size_t i = range->second; i-- > range->first;)
      if (!bound_between(trail_[i].name, range->second, now)) bind_to(trail_[i].name, trail_[i].previous);
  return std::exchange(siblings_, {});
}

bool Scope::bound_after(std::string_view name, std::size_t mark) const {
  return bound_between(name, mark, trail_.size());
}

void Scope::clear() {
  scope_.clear();
  trail_.clear();
}

}  // namespace vmrun::compile
