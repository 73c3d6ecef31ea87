// Lowering of case, if, receive, try and maybe, and of the variables they hand on.

#include <algorithm>

#include "runtime/compile/core/to_core_state.hpp"

namespace vmrun::compile {

/// A clause in a scope of its own; its result and statements are not put together yet.
Lowering::LoweredClause Lowering::clause(const Clause& c, bool in_head, bool wanted) {
  size_t start = mark();
  LoweredClause out{&c, {}, nullptr, {}, nullptr, {}};
  PatternContext context{start, in_head};
  std::vector<core::Pat*> patterns;
  for (const Expr* p : c.patterns) patterns.push_back(pattern(*p, context));
  out.patterns = keep(patterns);
  out.guard = guard(c.guards, context.tests);
  out.result = body_into(c.body, out.block, wanted);
  out.bound = bound_since(start);
  undo(start);
  return out;
}

core::ClauseList Lowering::closed_clauses(ClauseList clauses) {
  std::vector<core::Clause*> out;
  for (const Clause* c : clauses) {
    LoweredClause l = clause(*c, false);
    out.push_back(make<core::Clause>(core::Clause{c->loc, l.patterns, l.guard, finish(l.block, l.result)}));
  }
  return keep(out);
}

core::Expr* Lowering::join(const Expr& e, std::vector<LoweredClause>& clauses, Block& block, bool wanted,
                           const std::function<CExpr*(core::ClauseList)>& build) {
  // What every clause binds and later code reads.
  std::vector<std::string_view> names;
  if (!clauses.empty()) {
    for (auto& [name, var] : clauses[0].bound) {
      auto binds = [&, n = name](const LoweredClause& c) {
        return std::any_of(c.bound.begin(), c.bound.end(), [&](auto& b) { return b.first == n; });
      };
      if (used_after(e, name) && std::all_of(clauses.begin(), clauses.end(), binds)) names.push_back(name);
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
          if (bound == name) values.push_back(ref(var));
      result = values.size() == 1 ? values[0] : make<core::Values>(e.loc, keep(values));
    }
    out.push_back(
        make<core::Clause>(core::Clause{c.source->loc, c.patterns, c.guard, finish(c.block, result)}));
  }
  CExpr* whole = build(keep(out));
  if (names.empty()) return whole;
  std::vector<Var*> vars;
  Var* result = wanted ? fresh() : nullptr;
  if (wanted) vars.push_back(result);
  for (std::string_view name : names) vars.push_back(bind(name));
  block.push_back({Statement::Kind::kLet, e.loc, keep(vars), whole});
  return wanted ? ref(result) : nullptr;
}

core::Expr* Lowering::case_expr(const CaseExpr& e, Block& block, bool wanted) {
  CExpr* subject = value(*e.subject, block);
  if (e.clauses.size() == 1) {
    // One clause: what follows may as well stand inside it, and sees its variables.
    const Clause& c = *e.clauses[0];
    bool hands_on = false;
    size_t start = mark();
    PatternContext context{start, false};
    core::Pat* p = pattern(*c.patterns[0], context);
    CExpr* test = guard(c.guards, context.tests);
    Block inner;
    CExpr* result = body_into(c.body, inner, wanted);
    for (auto& [name, var] : bound_since(start)) hands_on = hands_on || used_after(e, name);
    if (hands_on) {
      block.push_back({Statement::Kind::kMatch, e.loc, {}, subject, p, test, core::Fail::kCaseClause});
      block.insert(block.end(), inner.begin(), inner.end());
      return result;
    }
    undo(start);
    core::Clause* only =
        make<core::Clause>(core::Clause{c.loc, arena_.copy(&p, 1), test, finish(inner, result)});
    return make<core::Case>(e.loc, arena_.copy(&subject, 1), arena_.copy(&only, 1), core::Fail::kCaseClause);
  }
  std::vector<LoweredClause> clauses;
  for (const Clause* c : e.clauses) clauses.push_back(clause(*c, false, wanted));
  return join(e, clauses, block, wanted, [&](core::ClauseList list) {
    return make<core::Case>(e.loc, arena_.copy(&subject, 1), list, core::Fail::kCaseClause);
  });
}

core::Expr* Lowering::if_expr(const IfExpr& e, Block& block, bool wanted) {
  std::vector<LoweredClause> clauses;
  for (const Clause* c : e.clauses) clauses.push_back(clause(*c, false, wanted));
  return join(e, clauses, block, wanted, [&](core::ClauseList list) {
    return make<core::Case>(e.loc, core::ExprList(), list, core::Fail::kIfClause);
  });
}

core::Expr* Lowering::receive_expr(const ReceiveExpr& e, Block& block, bool wanted) {
  CExpr* timeout = e.timeout != nullptr ? named(value(*e.timeout, block), block, "Timeout") : nullptr;
  std::vector<LoweredClause> clauses;
  for (const Clause* c : e.clauses) clauses.push_back(clause(*c, false, wanted));
  if (timeout != nullptr) {  // `after` joins in as one more clause without a pattern
    const Clause* after = make<Clause>(e.timeout->loc, std::string_view(), ExprList(),
                                       std::span<const ExprList>(), e.timeout_body);
    clauses.push_back(clause(*after, false, wanted));
  }
  return join(e, clauses, block, wanted, [&](core::ClauseList list) {
    CExpr* action = timeout != nullptr ? list.back()->body : nullptr;
    return make<core::Receive>(e.loc, timeout != nullptr ? list.first(list.size() - 1) : list, timeout,
                               action);
  });
}

/// try Body of Clauses catch Handlers after After. The after-part is a local function, called on
/// the way out of everything else, however that ends.
core::Expr* Lowering::try_expr(const TryExpr& e) {
  auto exception_vars = [&] {
    Var* vars[3] = {fresh("Class"), fresh("Reason"), fresh("Stack")};
    return std::span<Var* const>(arena_.copy(vars, 3));
  };
  auto raise_again = [&](std::span<Var* const> v) {
    CExpr* args[3] = {ref(v[0]), ref(v[1]), ref(v[2])};
    return make<core::Primop>(e.loc, core::Prim::kRawRaise, arena_.copy(args, 3));
  };
  auto protected_part = [&]() -> CExpr* {
    bool plain = e.of_clauses.empty() && e.catch_clauses.empty();
    if (plain) return body(e.body);
    size_t start = mark();
    Block block;
    CExpr* result = body_into(e.body, block);
    // The clauses after `of` see what the body bound.
    std::vector<CExpr*> values{result};
    std::vector<Var*> vars{fresh("Value")};
    std::vector<std::pair<std::string_view, Var*>> handed;
    for (auto& [name, var] : bound_since(start)) {
      if (e.of_clauses.empty() || !used_after(*e.body.back(), name)) continue;
      values.push_back(ref(var));
      handed.emplace_back(name, fresh(name));
      vars.push_back(handed.back().second);
    }
    if (values.size() > 1) result = make<core::Values>(e.loc, keep(values));
    CExpr* arg = finish(block, result);
    undo(start);
    CExpr* success = ref(vars[0]);
    if (!e.of_clauses.empty()) {
      for (auto& [name, var] : handed) bind_to(name, var);
      core::ClauseList clauses = closed_clauses(e.of_clauses);
      undo(start);
      success = make<core::Case>(e.loc, arena_.copy(&success, 1), clauses, core::Fail::kTryClause);
    }
    auto evars = exception_vars();
    CExpr* handler;
    if (e.catch_clauses.empty()) {
      handler = raise_again(evars);
    } else {
      std::vector<core::Clause*> clauses;
      for (const Clause* c : e.catch_clauses) {
        size_t inner = mark();
        PatternContext context{inner, false};
        std::vector<core::Pat*> patterns{pattern(*c->patterns[0], context),
                                         pattern(*c->patterns[1], context)};
        CExpr* test = guard(c->guards, context.tests);
        Block body_block;
        const auto& stack = c->patterns[2]->as<VarExpr>();
        if (!stack.anonymous()) {
          CExpr* raw = ref(evars[2]);
          Var* trace = fresh(stack.name);
          bind_to(stack.name, trace);
          let(body_block, trace,
              make<core::Primop>(c->loc, core::Prim::kBuildStacktrace, arena_.copy(&raw, 1)));
        }
        CExpr* value = body_into(c->body, body_block);
        undo(inner);
        clauses.push_back(
            make<core::Clause>(core::Clause{c->loc, keep(patterns), test, finish(body_block, value)}));
      }
      core::Pat* any[2] = {wild(), wild()};
      clauses.push_back(
          make<core::Clause>(core::Clause{{}, arena_.copy(any, 2), nullptr, raise_again(evars)}));
      CExpr* subjects[2] = {ref(evars[0]), ref(evars[1])};
      handler = make<core::Case>(e.loc, arena_.copy(subjects, 2), keep(clauses), core::Fail::kImpossible);
    }
    return make<core::Try>(e.loc, arg, keep(vars), success, evars, handler);
  };
  if (e.after.empty()) return protected_part();
  core::LetrecFun* after = loop_function("after$^", e.after[0]->loc, {});
  after->body = body(e.after);
  CExpr* inner = protected_part();
  auto run_after = [&] { return make<core::ApplyLetrec>(e.loc, after, core::ExprList()); };
  Var* v = fresh("Value");
  auto evars = exception_vars();
  CExpr* success = make<core::Seq>(e.loc, run_after(), ref(v));
  CExpr* failure = make<core::Seq>(e.loc, run_after(), raise_again(evars));
  CExpr* whole = make<core::Try>(e.loc, inner, arena_.copy(&v, 1), success, evars, failure);
  return make<core::Letrec>(e.loc, arena_.copy(&after, 1), whole);
}

/// Each `P ?= E` puts what follows into the matching clause; a value that does not match is the
/// result, or goes to the else clauses.
core::Expr* Lowering::maybe_expr(const MaybeExpr& e) {
  core::LetrecFun* otherwise = nullptr;
  if (!e.else_clauses.empty()) {
    Var* v = fresh("Value");
    otherwise = loop_function("else$^", e.loc, {v});
    CExpr* subject = ref(v);
    otherwise->body = make<core::Case>(e.loc, arena_.copy(&subject, 1), closed_clauses(e.else_clauses),
                                       core::Fail::kElseClause);
  }
  size_t start = mark();
  Block block;
  CExpr* result = nullptr;
  for (size_t i = 0; i < e.body.size(); i++) {
    bool last = i + 1 == e.body.size();
    const Expr& x = *e.body[i];
    if (!x.is(ExprKind::kMaybeMatch)) {
      if (last) result = value(x, block);
      else effect(x, block);
      continue;
    }
    const auto& m = x.as<MaybeMatchExpr>();
    CExpr* v = named(value(*m.right, block), block);
    auto again = [&]() -> CExpr* {
      return is_literal(v) ? literal({}, literal_of(v)) : ref(v->as<core::VarRef>().var);
    };
    PatternContext context{mark(), false};
    core::Pat* p = pattern(*m.left, context);
    CExpr* test = guard({}, context.tests);
    CExpr* out = again();
    if (otherwise != nullptr) out = make<core::ApplyLetrec>(x.loc, otherwise, arena_.copy(&out, 1));
    core::Pat* any = wild();
    core::Clause* no = make<core::Clause>(core::Clause{{}, arena_.copy(&any, 1), nullptr, out});
    if (last) result = again();
    block.push_back(
        {Statement::Kind::kMatch, x.loc, {}, v, p, test, core::Fail::kImpossible, arena_.copy(&no, 1)});
  }
  CExpr* whole = finish(block, result);
  undo(start);
  return otherwise == nullptr ? whole : make<core::Letrec>(e.loc, arena_.copy(&otherwise, 1), whole);
}

}  // namespace vmrun::compile
