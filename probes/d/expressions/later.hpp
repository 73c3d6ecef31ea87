// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "probes/d/syntax/c_types.hpp"
#include "probes/d/syntax/tree.hpp"

/// Variables that a script uses before the clause that assigns them. Their types are known only at
/// that clause, so such a script is compiled again with what was learned. All compilations of a
/// script share one object.
namespace vmrun::d::lang {

class LaterVariables {
 public:
  /// The type of a variable that an earlier compilation has found assigned.
  struct Type {
    TypeId id = 0;
    bool associative = false;
  };

  /// Called when a compilation begins.
  void begin() { wanted_.clear(), has_learned_ = false; }
  std::optional<Type> find(Types& types, VariableScope scope, const std::string& name) const;
  /// Called when an unknown variable is used.
  void want(VariableScope scope, const std::string& name) { wanted_.emplace(scope, name); }
  bool wants_any() const { return !wanted_.empty(); }
  /// Called when an assignment makes a variable.
  void assigned(const Types& types, VariableScope scope, const std::string& name, Type type);
  /// Whether another compilation may succeed.
  bool has_learned() const { return has_learned_; }

 private:
  using Key = std::pair<VariableScope, std::string>;
  /// A type in a form that another compilation finds again: a built-in one or a named structure,
  /// under `pointers` pointers.
  struct Spelled {
    TypeId builtin;
    std::string tag;
    unsigned pointers;
    bool associative;
  };

  std::map<Key, Spelled> known_;
  std::set<Key> wanted_;
  bool has_learned_ = false;
};

}  // namespace vmrun::d::lang
