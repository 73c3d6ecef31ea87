// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_control.hpp"

#include <algorithm>

#include "runtime/compile/core/to_core_comprehension.hpp"
#include "runtime/compile/core/to_core_expr.hpp"
#include "runtime/compile/core/to_core_guard.hpp"
#include "runtime/compile/core/to_core_pattern.hpp"

namespace vmrun::compile {

/// Lowers a clause in a scope of its own; its result and statements are not combined yet.
LoweredClause ControlToCore::clause(const Clause& c, bool in_head, bool wanted) {
  const std::size_t start = scope_.mark();
  LoweredClause out{&c, {}, nullptr, {}, nullptr, {}};
  PatternContext context{start, in_head};
  std::vector<core::Pat*> patterns;
  for (const Expr* p : c.patterns) patterns.push_back(c_.patterns.pattern(*p, context));
  out.patterns = nodes_.keep(patterns);
  out.guard = c_.guards.guard(c.guards, context.tests);
  out.result = c_.exprs.body_into(c.body, out.block, wanted);
  out.bound = scope_.bound_since(start);
  scope_.undo(start);
  return out;
}

core::ClauseList ControlToCore::closed_clauses(ClauseList clauses) {
  std::vector<core::Clause*> out;
  for (const Clause* c : clauses) {
    LoweredClause l = clause(*c, false);
    out.push_back(nodes_.make<core::Clause>(
        core::Clause{c->loc, l.patterns, l.guard, nodes_.finish(l.block, l.result)}));
  }
  return nodes_.keep(out);
}

core::Expr* ControlToCore::join(const Expr& e, std::vector<LoweredClause>& clauses, Block& block, bool wanted,
                                const std::function<CExpr*(core::ClauseList)>& build) {
  // Variables that every clause binds and later code reads.
  std::vector<std::string_view> names;
  if (!clauses.empty()) {
    for (auto& [name, var] : clauses[0].bound) {
      auto binds = [&, n = name](const LoweredClause& c) {
        return std::any_of(c.bound.begin(), c.bound.end(), [&](auto& b) { return b.first == n; });
      };
      if (c_.uses.used_after(e, name) && std::all_of(clauses.begin(), clauses.end(), binds))
        names.push_back(name);
    }
  }
  std::vector<core::Clause*> out;
  for (LoweredClause& c : clauses) {
    CExpr* result = c.result;
    if (!names.empty()) {
      std::vector<CExpr*> values;
      if (wanted) values.push_back(result);
      else if (!is_atomic(result)) c.block.push_back({Statement::Kind::kSeq, result->loc, {}, result});
      for (std::string_view name : names)
        for (auto& [bound, var] : c.bound)
          if (bound == name) values.push_back(nodes_.ref(var));
      result = values.size() == 1 ? values[0] : nodes_.make<core::Values>(e.loc, nodes_.keep(values));
    }
    out.push_back(nodes_.make<core::Clause>(
        core::Clause{c.source->loc, c.patterns, c.guard, nodes_.finish(c.block, result)}));
  }
  CExpr* whole = build(nodes_.keep(out));
  if (names.empty()) return whole;
  std::vector<Var*> vars;
  Var* result = wanted ? nodes_.fresh() : nullptr;
  if (wanted) vars.push_back(result);
  for (std::string_view name : names) vars.push_back(scope_.bind(name));
  block.push_back({Statement::Kind::kLet, e.loc, nodes_.keep(vars), whole});
  return wanted ? nodes_.ref(result) : nullptr;
}

/// Parameters and body of a function or fun.
core::Expr* ControlToCore::function_body(Loc loc, ClauseList clauses, std::span<Var* const>& params) {
  const std::size_t arity = clauses[0]->patterns.size();
  std::vector<Var*> vars;
  // The common case of one clause with plain distinct variables needs no case.
  bool plain = clauses.size() == 1 && clauses[0]->guards.empty();
  for (std::size_t i = 0; plain && i < arity; ++i) {
    const Expr& p = *clauses[0]->patterns[i];
    plain = p.is(ExprKind::kVar);
    for (std::size_t k = 0; plain && k < i; ++k)
      plain =
          p.as<VarExpr>().anonymous() || p.as<VarExpr>().name != clauses[0]->patterns[k]->as<VarExpr>().name;
  }
  const std::size_t start = scope_.mark();
  CExpr* result;
  if (plain) {
    for (const Expr* p : clauses[0]->patterns) {
      const auto& v = p->as<VarExpr>();
      vars.push_back(v.anonymous() ? nodes_.fresh() : scope_.bind(v.name));
    }
    result = c_.exprs.body(clauses[0]->body);
  } else {
    std::vector<CExpr*> subjects;
    for (std::size_t i = 0; i < arity; ++i) {
      vars.push_back(nodes_.fresh());
      subjects.push_back(nodes_.ref(vars[i]));
    }
    std::vector<core::Clause*> lowered;
    for (const Clause* c : clauses) {
      LoweredClause l = clause(*c, true);
      lowered.push_back(nodes_.make<core::Clause>(
          core::Clause{c->loc, l.patterns, l.guard, nodes_.finish(l.block, l.result)}));
    }
    result = nodes_.make<core::Case>(loc, nodes_.keep(subjects), nodes_.keep(lowered),
                                     core::Fail::kFunctionClause);
  }
  scope_.undo(start);
  params = nodes_.keep(vars);
  return result;
}

core::Expr* ControlToCore::case_expr(const CaseExpr& e, Block& block, bool wanted) {
  CExpr* subject = c_.exprs.value(*e.subject, block);
  if (e.clauses.size() == 1) {
    // With one clause the following code may stand inside it, where it sees the clause's variables.
    const Clause& c = *e.clauses[0];
    bool hands_on = false;
    const std::size_t start = scope_.mark();
    PatternContext context{start, false};
    core::Pat* p = c_.patterns.pattern(*c.patterns[0], context);
    CExpr* test = c_.guards.guard(c.guards, context.tests);
    Block inner;
    CExpr* result = c_.exprs.body_into(c.body, inner, wanted);
    for (auto& [name, var] : scope_.bound_since(start)) hands_on = hands_on || c_.uses.used_after(e, name);
    if (hands_on) {
      block.push_back({Statement::Kind::kMatch, e.loc, {}, subject, p, test, core::Fail::kCaseClause});
      block.insert(block.end(), inner.begin(), inner.end());
      return result;
    }
    scope_.undo(start);
    core::Clause* only = nodes_.make<core::Clause>(
        core::Clause{c.loc, nodes_.copy(&p, 1), test, nodes_.finish(inner, result)});
    return nodes_.make<core::Case>(e.loc, nodes_.copy(&subject, 1), nodes_.copy(&only, 1),
                                   core::Fail::kCaseClause);
  }
  std::vector<LoweredClause> clauses;
  for (const Clause* c : e.clauses) clauses.push_back(clause(*c, false, wanted));
  return join(e, clauses, block, wanted, [&](core::ClauseList list) {
    return nodes_.make<core::Case>(e.loc, nodes_.copy(&subject, 1), list, core::Fail::kCaseClause);
  });
}

core::Expr* ControlToCore::if_expr(const IfExpr& e, Block& block, bool wanted) {
  std::vector<LoweredClause> clauses;
  for (const Clause* c : e.clauses) clauses.push_back(clause(*c, false, wanted));
  return join(e, clauses, block, wanted, [&](core::ClauseList list) {
    return nodes_.make<core::Case>(e.loc, core::ExprList(), list, core::Fail::kIfClause);
  });
}

core::Expr* ControlToCore::receive_expr(const ReceiveExpr& e, Block& block, bool wanted) {
  CExpr* timeout = e.timeout ? nodes_.named(c_.exprs.value(*e.timeout, block), block, "Timeout") : nullptr;
  std::vector<LoweredClause> clauses;
  for (const Clause* c : e.clauses) clauses.push_back(clause(*c, false, wanted));
  if (timeout) {  // `after` counts as one more clause without a pattern
    const Clause* after = nodes_.make<Clause>(e.timeout->loc, std::string_view(), ExprList(),
                                              std::span<const ExprList>(), e.timeout_body);
    clauses.push_back(clause(*after, false, wanted));
  }
  return join(e, clauses, block, wanted, [&](core::ClauseList list) {
    CExpr* action = timeout ? list.back()->body : nullptr;
    return nodes_.make<core::Receive>(e.loc, timeout ? list.first(list.size() - 1) : list, timeout, action);
  });
}

/// try Body of Clauses catch Handlers after After. The after-part is a local function, which is
/// called whenever the rest ends, in whatever way.
core::Expr* ControlToCore::try_expr(const TryExpr& e) {
  auto exception_vars = [&] {
    Var* vars[3] = {nodes_.fresh("Class"), nodes_.fresh("Reason"), nodes_.fresh("Stack")};
    return std::span<Var* const>(nodes_.copy(vars, 3));
  };
  auto raise_again = [&](std::span<Var* const> v) {
    CExpr* args[3] = {nodes_.ref(v[0]), nodes_.ref(v[1]), nodes_.ref(v[2])};
    return nodes_.make<core::Primop>(e.loc, core::Prim::kRawRaise, nodes_.copy(args, 3));
  };
  auto protected_part = [&]() -> CExpr* {
    const bool plain = e.of_clauses.empty() && e.catch_clauses.empty();
    if (plain) return c_.exprs.body(e.body);
    const std::size_t start = scope_.mark();
    Block block;
    CExpr* result = c_.exprs.body_into(e.body, block);
    // The clauses after `of` see what the body bound.
    std::vector<CExpr*> values{result};
    std::vector<Var*> vars{nodes_.fresh("Value")};
    std::vector<std::pair<std::string_view, Var*>> handed;
    for (auto& [name, var] : scope_.bound_since(start)) {
      if (e.of_clauses.empty() || !c_.uses.used_after(*e.body.back(), name)) continue;
      values.push_back(nodes_.ref(var));
      handed.emplace_back(name, nodes_.fresh(name));
      vars.push_back(handed.back().second);
    }
    if (values.size() > 1) result = nodes_.make<core::Values>(e.loc, nodes_.keep(values));
    CExpr* arg = nodes_.finish(block, result);
    scope_.undo(start);
    CExpr* success = nodes_.ref(vars[0]);
    if (!e.of_clauses.empty()) {
      for (auto& [name, var] : handed) scope_.bind_to(name, var);
      core::ClauseList clauses = closed_clauses(e.of_clauses);
      scope_.undo(start);
      success = nodes_.make<core::Case>(e.loc, nodes_.copy(&success, 1), clauses, core::Fail::kTryClause);
    }
    const auto evars = exception_vars();
    CExpr* handler;
    if (e.catch_clauses.empty()) {
      handler = raise_again(evars);
    } else {
      std::vector<core::Clause*> clauses;
      for (const Clause* c : e.catch_clauses) {
        const std::size_t inner = scope_.mark();
        PatternContext context{inner, false};
        std::vector<core::Pat*> patterns{c_.patterns.pattern(*c->patterns[0], context),
                                         c_.patterns.pattern(*c->patterns[1], context)};
        CExpr* test = c_.guards.guard(c->guards, context.tests);
        Block body_block;
        const auto& stack = c->patterns[2]->as<VarExpr>();
        if (!stack.anonymous()) {
          CExpr* raw = nodes_.ref(evars[2]);
          Var* trace = nodes_.fresh(stack.name);
          scope_.bind_to(stack.name, trace);
          nodes_.let(body_block, trace,
                     nodes_.make<core::Primop>(c->loc, core::Prim::kBuildStacktrace, nodes_.copy(&raw, 1)));
        }
        CExpr* value = c_.exprs.body_into(c->body, body_block);
        scope_.undo(inner);
        clauses.push_back(nodes_.make<core::Clause>(
            core::Clause{c->loc, nodes_.keep(patterns), test, nodes_.finish(body_block, value)}));
      }
      core::Pat* any[2] = {nodes_.wild(), nodes_.wild()};
      clauses.push_back(
          nodes_.make<core::Clause>(core::Clause{{}, nodes_.copy(any, 2), nullptr, raise_again(evars)}));
      CExpr* subjects[2] = {nodes_.ref(evars[0]), nodes_.ref(evars[1])};
      handler = nodes_.make<core::Case>(e.loc, nodes_.copy(subjects, 2), nodes_.keep(clauses),
                                        core::Fail::kImpossible);
    }
    return nodes_.make<core::Try>(e.loc, arg, nodes_.keep(vars), success, evars, handler);
  };
  if (e.after.empty()) return protected_part();
  core::LetrecFun* after = c_.comprehensions.loop_function("after$^", &e, e.after[0]->loc, {});
  CExpr* inner = protected_part();
  after->body = c_.exprs.body(e.after);
  auto run_after = [&] { return nodes_.make<core::ApplyLetrec>(e.loc, after, core::ExprList()); };
  Var* v = nodes_.fresh("Value");
  const auto evars = exception_vars();
  CExpr* success = nodes_.make<core::Seq>(e.loc, run_after(), nodes_.ref(v));
  CExpr* failure = nodes_.make<core::Seq>(e.loc, run_after(), raise_again(evars));
  CExpr* whole = nodes_.make<core::Try>(e.loc, inner, nodes_.copy(&v, 1), success, evars, failure);
  return nodes_.make<core::Letrec>(e.loc, nodes_.copy(&after, 1), whole);
}

/// Each `P ?= E` puts the following expressions into its matching clause. A value that does not
/// match is the result, or goes to the else clauses.
core::Expr* ControlToCore::maybe_expr(const MaybeExpr& e) {
  core::LetrecFun* otherwise = nullptr;
  if (!e.else_clauses.empty()) {
    Var* v = nodes_.fresh("Value");
    otherwise = c_.comprehensions.loop_function("else$^", &e, e.loc, {v});
    CExpr* subject = nodes_.ref(v);
    otherwise->body = nodes_.make<core::Case>(e.loc, nodes_.copy(&subject, 1), closed_clauses(e.else_clauses),
                                              core::Fail::kElseClause);
  }
  const std::size_t start = scope_.mark();
  Block block;
  CExpr* result = nullptr;
  for (std::size_t i = 0; i < e.body.size(); ++i) {
    const bool last = i + 1 == e.body.size();
    const Expr& x = *e.body[i];
    if (!x.is(ExprKind::kMaybeMatch)) {
      if (last) result = c_.exprs.value(x, block);
      else c_.exprs.effect(x, block);
      continue;
    }
    const auto& m = x.as<MaybeMatchExpr>();
    CExpr* v = nodes_.named(c_.exprs.value(*m.right, block), block);
    auto again = [&]() -> CExpr* {
      return is_literal(v) ? nodes_.literal({}, literal_of(v)) : nodes_.ref(v->as<core::VarRef>().var);
    };
    PatternContext context{scope_.mark(), false};
    core::Pat* p = c_.patterns.pattern(*m.left, context);
    CExpr* test = c_.guards.guard({}, context.tests);
    CExpr* out = again();
    if (otherwise) out = nodes_.make<core::ApplyLetrec>(x.loc, otherwise, nodes_.copy(&out, 1));
    core::Pat* any = nodes_.wild();
    core::Clause* no = nodes_.make<core::Clause>(core::Clause{{}, nodes_.copy(&any, 1), nullptr, out});
    if (last) result = again();
    block.push_back(
        {Statement::Kind::kMatch, x.loc, {}, v, p, test, core::Fail::kImpossible, nodes_.copy(&no, 1)});
  }
  CExpr* whole = nodes_.finish(block, result);
  scope_.undo(start);
  return !otherwise ? whole : nodes_.make<core::Letrec>(e.loc, nodes_.copy(&otherwise, 1), whole);
}

}  // namespace vmrun::compile
