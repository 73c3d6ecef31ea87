#pragma once
// The variables of the function or record that lint walks through: which names are visible at this
// point, and what is known of them. Changes are logged in a trail, so that leaving a clause, fun or
// comprehension undoes them. Whether a variable is used is counted per scope (function clause, fun
// clause, comprehension) and name, over all branches. One compilation, one thread.

#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/compile/check/lint_context.hpp"

namespace vmrun::compile {

class Variables {
 public:
  enum class State : uint8_t { kUnbound, kBound, kUnsafe };
  struct Usage {
    std::vector<Loc> bound_at;
    bool used = false;
  };
  struct Variable {
    State state = State::kUnbound;
    Usage* usage = nullptr;
    // of an unsafe one: 'case', 'try', …; of a bound one that has not been read since: what handed
    // it on
    std::string_view where;
    Loc loc;
  };
  using Bindings = std::vector<std::pair<std::string_view, Variable>>;

  explicit Variables(LintContext& context) : c_(context) {}

  void open_scope() { scopes_.emplace_back(); }
  /// Warns of what has not been used in it.
  void close_scope();

  size_t mark() const { return trail_.size(); }
  void undo(size_t mark);
  Variable* find(std::string_view name);
  void bind(std::string_view name, Loc loc);
  /// hint: the end of the message if it is unbound and no variable has a name like it.
  void use(const VarExpr& v, const std::string& hint = {});
  /// The expression is in error itself: what it names counts as used, and variables that have no
  /// value as bound, so that one mistake is reported once.
  void excuse(const Expr& e);
  /// A variable that has a value already stands in a pattern.
  void matched_again(const VarExpr& v, const Variable& known, bool same_pattern);
  bool bound_here(std::string_view name, size_t start) const;

  /// Undoes what was bound since a mark and gives it back as unsafe (`where` empty: as it is).
  Bindings take_since(size_t mark, std::string_view where = {}, Loc loc = {});
  void put(const Bindings& bindings);
  void merge(std::vector<Bindings>& branches, std::string_view what, Loc loc);

  /// Until `show_all` only what was bound before `mark` is visible, and `own`.
  void hide_since(size_t mark, std::span<const std::string_view> own) {
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
  Bindings bound_since(size_t mark);
  Usage* usage_of(std::string_view name);

  LintContext& c_;
  std::unordered_map<std::string_view, Variable> vars_;
  std::vector<Change> trail_;
  struct {
    size_t from = 0, to = 0;                // of the trail
    std::span<const std::string_view> own;  // visible all the same
  } hidden_;
  std::deque<Usage> usages_;
  std::vector<Scope> scopes_;
};

}  // namespace vmrun::compile
