// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_set>

#include "vm/base/node_arena.hpp"

/// Names (atoms, variables) stored once per compilation. One compilation, one thread.
namespace vmrun::compile {

/// The views that it returns stay valid as long as the arena.
class Names {
 public:
  explicit Names(NodeArena& arena) : arena_(arena) {}
  std::string_view intern(std::string_view text) {
    auto it = set_.find(text);
    if (it != set_.end()) return *it;
    std::string_view kept = arena_.copy(text);
    set_.insert(kept);
    return kept;
  }

 private:
  NodeArena& arena_;
  std::unordered_set<std::string_view> set_;
};

}  // namespace vmrun::compile
