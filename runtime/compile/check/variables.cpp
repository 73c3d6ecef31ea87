// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/variables.hpp"

#include <algorithm>

#include "runtime/compile/syntax/ast_walk.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::compile {

namespace {

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

}  // namespace

Variables::Variable* Variables::find(std::string_view name) {
  auto it = vars_.find(name);
  Variable* known = it == vars_.end() ? nullptr : &it->second;
  if (std::ranges::find(hidden_.own, name) == hidden_.own.end())
    for (std::size_t i = hidden_.to; i-- > hidden_.from;)
      if (trail_[i].name == name) known = &trail_[i].previous;
  return !known || known->state == State::kUnbound ? nullptr : known;
}

void Variables::set(std::string_view name, Variable v) {
  Variable& slot = vars_[name];
  trail_.push_back({name, slot});
  slot = v;
}

Variables::Usage* Variables::usage_of(std::string_view name) {
  Scope& scope = scopes_.back();
  auto [it, fresh] = scope.usages.try_emplace(name);
  if (fresh) {
    usages_.emplace_back();
    it->second = &usages_.back();
    scope.order.emplace_back(name, it->second);
  }
  return it->second;
}

void Variables::bind(std::string_view name, Loc loc) {
  Variable v;
  v.state = State::kBound;
  v.usage = usage_of(name);
  v.usage->bound_at.push_back(loc);
  v.loc = loc;
  set(name, v);
}

void Variables::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    vars_[trail_.back().name] = trail_.back().previous;
    trail_.pop_back();
  }
}

Variables::Bindings Variables::bound_since(std::size_t mark) {
  Bindings out;
  for (std::size_t i = mark; i < trail_.size(); ++i) {
    auto same = [&](auto& b) { return b.first == trail_[i].name; };
    if (std::none_of(out.begin(), out.end(), same)) out.emplace_back(trail_[i].name, vars_[trail_[i].name]);
  }
  return out;
}

Variables::Bindings Variables::take_since(std::size_t mark, std::string_view where, Loc loc) {
  Bindings out = bound_since(mark);
  undo(mark);
  for (auto& [name, v] : out) {
    if (where.empty() || v.state == State::kUnsafe) continue;
    v.state = State::kUnsafe;
    v.where = where;
    v.loc = loc;
  }
  return out;
}

void Variables::put(const Bindings& bindings) {
  for (auto& [name, v] : bindings) {
    Variable* old = find(name);
    if (old && old->state == State::kUnsafe) continue;
    set(name, v);
  }
}

/// Returns a visible variable with a similar name, or an atom that other languages write with a
/// capital.
std::string Variables::meant_by(std::string_view name) {
  NearName near(name);
  for (const auto& [known, variable] : vars_)
    if (variable.state != State::kUnbound) near.offer(known);
  if (!near.found().empty()) vars_[near.found()].usage->used = true;
  if (!near.found().empty()) return "'" + std::string(near.found()) + "'";
  static constexpr std::string_view kAtoms[] = {"true", "false", "undefined", "ok", "error", "infinity"};
  for (const std::string_view atom : kAtoms)
    if (same_but_for_case(name, atom)) return "the atom " + std::string(atom);
  return {};
}

void Variables::excuse(const Expr& e) {
  if (e.is(ExprKind::kVar) && !e.as<VarExpr>().anonymous()) {
    const auto& v = e.as<VarExpr>();
    Variable* const known = find(v.name);
    if (!known) bind(v.name, v.loc);
    (known ? known->usage : usage_of(v.name))->used = true;
  }
  if (e.is(ExprKind::kCall) && e.as<CallExpr>().target->is(ExprKind::kAtom))
    c_.tables.excused.insert(e.as<CallExpr>().target->as<AtomExpr>().name);
  if (e.is(ExprKind::kFunLocal)) c_.tables.excused.insert(e.as<FunLocalExpr>().name);
  if (e.is(ExprKind::kRecord)) c_.tables.excused.insert(e.as<RecordExpr>().name);
  if (e.is(ExprKind::kRecordField)) c_.tables.excused.insert(e.as<RecordFieldExpr>().name);
  if (e.is(ExprKind::kRecordIndex)) c_.tables.excused.insert(e.as<RecordIndexExpr>().name);
  for_each_child(e, [&](const Expr& child) { excuse(child); });
}

void Variables::use(const VarExpr& v, const std::string& hint) {
  if (v.anonymous()) return c_.error(v.loc, "variable '_' is unbound");
  Variable* known = find(v.name);
  if (known) {
    known->usage->used = true;
    if (known->state == State::kBound && known->where.empty()) return;
    if (known->state == State::kBound) {
      Variable read = *known;
      read.where = {};
      return set(v.name, read);
    }
    c_.error(v.loc, format_message("variable '%.*s' unsafe in '%.*s' (line %u, column %u)", VIEW(v.name),
                                   VIEW(known->where), known->loc.line, known->loc.column));
  } else {
    const std::string meant = meant_by(v.name);
    c_.error(v.loc, format_message("variable '%.*s' is unbound", VIEW(v.name)) +
                        (meant.empty() ? hint : did_you_mean(meant)));
  }
  // One message suffices, so the variable counts as bound from now on.
  Variable now;
  now.state = State::kBound;
  now.usage = usage_of(v.name);
  now.usage->used = true;
  now.loc = v.loc;
  set(v.name, now);
}

void Variables::close_scope() {
  if (c_.enabled("nowarn_unused_vars"))
    for (auto& [name, usage] : scopes_.back().order)
      if (!usage->used && !name.starts_with('_'))
        for (Loc loc : usage->bound_at)
          c_.warning(loc, format_message("variable '%.*s' is unused", VIEW(name)));
  scopes_.pop_back();
}

/// A variable that every branch binds is bound behind them; one that only some bind is unsafe
/// there.
void Variables::merge(std::vector<Bindings>& branches, std::string_view what, Loc loc) {
  std::vector<std::pair<std::string_view, Variable>> order;
  std::unordered_map<std::string_view, std::pair<std::size_t, bool>>
      seen;  // branches that bind it; unsafe in one
  for (Bindings& branch : branches)
    for (auto& [name, v] : branch) {
      auto [it, fresh] = seen.try_emplace(name, 0, false);
      ++it->second.first;
      it->second.second = it->second.second || v.state == State::kUnsafe;
      if (fresh) order.emplace_back(name, v);
      else if (v.state == State::kUnsafe)
        for (auto& o : order)
          if (o.first == name) o.second = v;
    }
  for (auto& [name, v] : order) {
    auto [count, unsafe] = seen[name];
    if (unsafe) continue;
    if (count < branches.size()) v.state = State::kUnsafe;
    v.where = what;
    v.loc = loc;
  }
  put(order);
}

void Variables::matched_again(const VarExpr& v, const Variable& known, bool same_pattern) {
  if (known.state != State::kBound) return;
  if (!known.where.empty())
    c_.warning(v.loc, format_message("variable '%.*s' exported from '%.*s' (line %u, column %u)",
                                     VIEW(v.name), VIEW(known.where), known.loc.line, known.loc.column));
  if (!v.name.starts_with('_') || !c_.enabled("nowarn_underscore_match")) return;
  static constexpr const char* kAdvice =
      "If you mean to ignore this value, use '_' or a different underscore-prefixed name";
  if (!same_pattern)
    return c_.warning(v.loc, format_message("variable '%.*s' is already bound. %s", VIEW(v.name), kAdvice));
  const std::string twice =
      format_message("variable '%.*s' is bound multiple times in this pattern. %s", VIEW(v.name), kAdvice);
  if (!known.usage->used) c_.warning(known.loc, twice);
  c_.warning(v.loc, twice);
}

bool Variables::bound_here(std::string_view name, std::size_t start) const {
  for (std::size_t i = start; i < trail_.size(); ++i)
    if (trail_[i].name == name) return true;
  return false;
}

}  // namespace vmrun::compile
