// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/compile/core/core_nodes.hpp"

/// Which Core variable a name of the source stands for at this point of a function. Changes are
/// logged in a trail, so that leaving a construct undoes them, and so that ranges of them can be
/// hidden. One compilation, one thread.
namespace vmrun::compile {

class Scope {
 public:
  using Siblings = std::vector<std::pair<std::size_t, std::size_t>>;

  explicit Scope(Nodes& nodes) : nodes_(nodes) {}

  /// Prepares for the next function.
  void clear();
  Var* lookup(std::string_view name) const;
  Var* bind(std::string_view name);
  void bind_to(std::string_view name, Var* var);
  std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);
  /// Returns the names bound since a mark, with the latest variable of each.
  std::vector<std::pair<std::string_view, Var*>> bound_since(std::size_t mark) const;
  bool bound_after(std::string_view name, std::size_t mark) const;

  /// Until `show_all` only the bindings before `mark` and `own` are visible.
  void hide_since(std::size_t mark, std::span<const std::string_view> own) {
    hidden_ = {mark, trail_.size(), own};
  }
  void show_all() { hidden_ = {}; }

  /// The bindings from `start` to here belong to operands to the left of the next one.
  void open_sibling(std::size_t start) { siblings_.emplace_back(start, mark()); }
  void close_sibling() { siblings_.pop_back(); }
  bool bound_by_sibling(std::string_view name) const;

  /// While it lives, the scope is that of a fun or comprehension: it does not see what operands to
  /// its left have bound, and its own variables are not visible outside.
  class Own {
   public:
    explicit Own(Scope& scope) : scope_(scope), start_(scope.mark()), siblings_(scope.hide_siblings()) {}
    ~Own() {
      scope_.undo(start_);
      scope_.siblings_ = std::move(siblings_);
    }
    Own(const Own&) = delete;

   private:
    Scope& scope_;
    std::size_t start_;
    Siblings siblings_;
  };

 private:
  Siblings hide_siblings();
  struct Binding {
    std::string_view name;
    Var* previous;
  };
  bool bound_between(std::string_view name, std::size_t from, std::size_t to) const;

  Nodes& nodes_;
  std::unordered_map<std::string_view, Var*> scope_;
  std::vector<Binding> trail_;
  struct {
    std::size_t from = 0, to = 0;           // range of the trail
    std::span<const std::string_view> own;  // visible nevertheless
  } hidden_;
  Siblings siblings_;  // ranges of the trail: bindings of operands to the left of the current ones
};

}  // namespace vmrun::compile
