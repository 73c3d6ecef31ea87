// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/compile/check/lint_context.hpp"

/// The variables of the function or record that lint walks: which names are visible at this point,
/// and what is known about them. Changes are logged in a trail, so that leaving a clause, fun or
/// comprehension undoes them. The use of a variable is counted per scope (function clause, fun
/// clause, comprehension) and name, over all branches. One compilation, one thread.
namespace vmrun::compile {

class Variables {
 public:
  enum class State : std::uint8_t { kUnbound, kBound, kUnsafe };
  struct Usage {
    std::vector<Loc> bound_at;
    bool used = false;
  };
  struct Variable {
    State state = State::kUnbound;
    Usage* usage = nullptr;
    // An unsafe variable has 'case', 'try', … here; a bound one that has not been read since, the
    // construct that exported it.
    std::string_view where;
    Loc loc;
  };
  using Bindings = std::vector<std::pair<std::string_view, Variable>>;

  explicit Variables(LintContext& context) : c_(context) {}

  void open_scope() { scopes_.emplace_back(); }
  /// Warns about variables that have not been used in the scope.
  void close_scope();

  std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);
  Variable* find(std::string_view name);
  void bind(std::string_view name, Loc loc);
  /// hint: the end of the message if the variable is unbound and no other has a similar name.
  void use(const VarExpr& v, const std::string& hint = {});
  /// For an expression that is wrong itself. The names in it count as used, and its unbound
  /// variables as bound, so that one mistake is reported once.
  void excuse(const Expr& e);
  /// Handles a variable in a pattern that already has a value.
  void matched_again(const VarExpr& v, const Variable& known, bool same_pattern);
  bool bound_here(std::string_view name, std::size_t start) const;

  /// Undoes the bindings since a mark and returns them as unsafe (unchanged if `where` is empty).
  Bindings take_since(std::size_t mark, std::string_view where = {}, Loc loc = {});
  void put(const Bindings& bindings);
  void merge(std::vector<Bindings>& branches, std::string_view what, Loc loc);

  /// Until `show_all` only the bindings before `mark` and `own` are visible.
  void hide_since(std::size_t mark, std::span<const std::string_view> own) {
    hidden_ = {mark, trail_.size(), own};
  }
  void show_all() { hidden_ = {}; }

 private:
  struct Change {
    std::string_view name;
    Variable previous;
  };
  struct Scope {
    std::unordered_map<std::string_view, Usage*> usages;
    std::vector<std::pair<std::string_view, Usage*>> order;
  };

  void set(std::string_view name, Variable v);
  std::string meant_by(std::string_view name);
  Bindings bound_since(std::size_t mark);
  Usage* usage_of(std::string_view name);

  LintContext& c_;
  std::unordered_map<std::string_view, Variable> vars_;
  std::vector<Change> trail_;
  struct {
    std::size_t from = 0, to = 0;           // range of the trail
    std::span<const std::string_view> own;  // visible nevertheless
  } hidden_;
  std::deque<Usage> usages_;
  std::vector<Scope> scopes_;
};

}  // namespace vmrun::compile
