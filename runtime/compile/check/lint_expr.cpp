// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint_expr.hpp"

#include <algorithm>
#include <unordered_set>

#include "runtime/compile/check/format_call.hpp"
#include "runtime/compile/check/ms_transform.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"

namespace vmrun::compile {

void ExprLinter::body(ExprList exprs) {
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    expr(*exprs[i]);
    if (i + 1 < exprs.size()) ignored_value(*exprs[i]);
  }
}

/// Warns about a statement without effect.
void ExprLinter::ignored_value(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kAtom:  // `ok` in the middle of a body is a common placeholder, and erlc is silent on it
    case ExprKind::kVar: return;
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return;
    case ExprKind::kTuple:
    case ExprKind::kCons:
    case ExprKind::kBinary:
    case ExprKind::kFun:
    case ExprKind::kMap:
      if (e.is(ExprKind::kMap) && e.as<MapExpr>().base != nullptr) return;
      c_.warning(e.loc, "a term is constructed, but never used");
      return;
    case ExprKind::kComprehension: return;
    case ExprKind::kBinaryOp: {
      const Tok op = e.as<BinaryOpExpr>().op;
      if (op == Tok::kBang || op == Tok::kAndalso || op == Tok::kOrelse) return;
      c_.warning(
          e.loc,
          format_message(
              "the result of evaluating operator '%.*s'/2 is ignored (suppress the warning by assigning the "
              "expression to the _ variable)",
              VIEW(token_spelling(op))));
      return;
    }
    default: return;
  }
}

void ExprLinter::operands(const std::vector<const Expr*>& exprs) {
  Variables::Bindings all;
  for (const Expr* e : exprs) {
    const std::size_t start = vars_.mark();
    expr(*e);
    if (vars_.mark() == start) continue;
    Variables::Bindings own = vars_.take_since(start);
    for (auto& [name, v] : own)  // one that an earlier operand binds too is compared with it
      if (std::ranges::find(all, name, &Variables::Bindings::value_type::first) != all.end())
        v.usage->used = true;
    all.insert(all.end(), own.begin(), own.end());
  }
  vars_.put(all);
}

void ExprLinter::binary(const BinaryExpr& e) {
  std::vector<const Expr*> items;
  for (const Segment& s : e.segments) {
    items.push_back(s.value);
    if (s.size) items.push_back(s.size);
    guards_.segment(s, false, true);
  }
  operands(items);
}

void ExprLinter::record_expr(const RecordExpr& e) {
  std::vector<const Expr*> items;
  if (e.base) items.push_back(e.base);
  c_.record_expr(e, e.base == nullptr);
  const bool is_tuple = !c_.tables.meaning(e.id).is_native();
  for (const RecordFieldInit& f : e.fields) {
    items.push_back(f.value);
    if (is_tuple && e.base && f.name == "_") c_.error(f.loc, "'_' is not allowed in a record update");
  }
  operands(items);
}

void ExprLinter::fun_local(const FunLocalExpr& e) {
  FunctionName name{e.name, e.arity};
  if (!c_.tables.functions.count(name)) {
    if (auto import = c_.tables.imports.find(name); import != c_.tables.imports.end()) {
      import->second.used = true;
      return;
    }
    if (c_.tables.auto_imports(name)) return;
  }
  functions_.use(name, e.loc);
}

void ExprLinter::fun_expr(const FunExpr& e) {
  const std::size_t start = vars_.mark();
  if (!e.name.empty() && e.name != "_") {
    if (vars_.find(e.name) != nullptr && c_.enabled("nowarn_shadow_vars"))
      c_.warning(e.clauses[0]->loc, format_message("variable '%.*s' shadowed in 'named fun'", VIEW(e.name)));
    vars_.open_scope();
    vars_.bind(e.name, e.clauses[0]->loc);
    fun_clauses(e.clauses, "'fun'");
    vars_.close_scope();
  } else {
    fun_clauses(e.clauses, "'fun'");
  }
  vars_.undo(start);
  unreachable_clauses(e.clauses);
}

void ExprLinter::maybe_expr(const MaybeExpr& e) {
  const std::size_t start = vars_.mark();
  body(e.body);
  Variables::Bindings inner = vars_.take_since(start, "maybe", e.loc);
  vars_.put(inner);
  if (!e.else_clauses.empty()) {
    const std::size_t before = vars_.mark();
    for (const Clause* c : e.else_clauses) {
      const std::size_t s = vars_.mark();
      case_clause(*c);
      Variables::Bindings own = vars_.take_since(s, "else", e.loc);
      inner.insert(inner.end(), own.begin(), own.end());
    }
    vars_.undo(before);
    unreachable_clauses(e.else_clauses);
    vars_.put(inner);
  }
}

void ExprLinter::expr(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kVar: vars_.use(e.as<VarExpr>()); return;
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return;
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      std::vector<const Expr*> items(c.elements.begin(), c.elements.end());
      items.push_back(c.tail);
      operands(items);
      return;
    }
    case ExprKind::kTuple: operands(e.as<TupleExpr>().elements); return;
    case ExprKind::kMap: map_fields(e.as<MapExpr>()); return;
    case ExprKind::kBinary: binary(e.as<BinaryExpr>()); return;
    case ExprKind::kRecord: record_expr(e.as<RecordExpr>()); return;
    case ExprKind::kRecordField: {
      const auto& r = e.as<RecordFieldExpr>();
      c_.record_field_expr(r);
      expr(*r.base);
      return;
    }
    case ExprKind::kRecordIndex: c_.record_index(e.as<RecordIndexExpr>()); return;
    case ExprKind::kUnary: expr(*e.as<UnaryExpr>().operand); return;
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      if (b.op == Tok::kAndalso || b.op == Tok::kOrelse) {
        expr(*b.left);
        const std::size_t start = vars_.mark();
        expr(*b.right);
        vars_.put(vars_.take_since(start, token_spelling(b.op), e.loc));
        return;
      }
      operands({b.left, b.right});
      no_number(b);
      return;
    }
    case ExprKind::kMatch: {
      const auto& m = e.as<MatchExpr>();
      expr(*m.right);
      patterns_.pattern(*m.left, {vars_.mark(), {}});
      never_matches(m);
      return;
    }
    case ExprKind::kMaybeMatch: {
      const auto& m = e.as<MaybeMatchExpr>();
      expr(*m.right);
      patterns_.pattern(*m.left, {vars_.mark(), {}});
      return;
    }
    case ExprKind::kCall: call(e.as<CallExpr>()); return;
    case ExprKind::kRemote:
      c_.error(e.loc, "illegal expression");
      vars_.excuse(e);
      return;
    case ExprKind::kFunLocal: fun_local(e.as<FunLocalExpr>()); return;
    case ExprKind::kFunRemote: {
      const auto& f = e.as<FunRemoteExpr>();
      operands({f.module, f.function, f.arity});
      if (f.arity->is(ExprKind::kInteger) && !f.arity->as<IntegerExpr>().big())
        remote_call(*f.module, *f.function, static_cast<std::uint32_t>(f.arity->as<IntegerExpr>().value));
      return;
    }
    case ExprKind::kFun: fun_expr(e.as<FunExpr>()); return;
    case ExprKind::kBlock: body(e.as<BlockExpr>().body); return;
    case ExprKind::kIf:
      clauses(e.as<IfExpr>().clauses, "if", e.loc);
      for (const Clause* c : e.as<IfExpr>().clauses) never_taken(*c);
      return;
    case ExprKind::kCase:
      expr(*e.as<CaseExpr>().subject);
      clauses(e.as<CaseExpr>().clauses, "case", e.loc);
      unreachable_clauses(e.as<CaseExpr>().clauses);
      return;
    case ExprKind::kReceive: {
      const auto& r = e.as<ReceiveExpr>();
      if (r.timeout) expr(*r.timeout);
      clauses(r.clauses, "receive", e.loc, r.timeout ? &r.timeout_body : nullptr);
      unreachable_clauses(r.clauses);
      return;
    }
    case ExprKind::kTry: try_expr(e.as<TryExpr>()); return;
    case ExprKind::kCatch: {
      const std::size_t start = vars_.mark();
      expr(*e.as<CatchExpr>().body);
      vars_.put(vars_.take_since(start, "catch", e.loc));
      return;
    }
    case ExprKind::kMaybe: maybe_expr(e.as<MaybeExpr>()); return;
    case ExprKind::kComprehension: comprehension(e.as<ComprehensionExpr>()); return;
  }
}

void ExprLinter::map_fields(const MapExpr& e) {
  std::vector<const Expr*> items;
  if (e.base) items.push_back(e.base);
  for (const MapField& f : e.fields) {
    items.push_back(f.key);
    items.push_back(f.value);
    if (f.exact && !e.base)
      c_.error(f.loc, "only association operators '=>' are allowed in map construction");
  }
  operands(items);
}

void ExprLinter::case_clause(const Clause& c) {
  patterns_.patterns(c.patterns, {vars_.mark(), {}});
  guards_.guards(c.guards);
  body(c.body);
}

/// Checks branches of which one is taken. `extra_body` is the body behind `after`.
void ExprLinter::clauses(ClauseList list, std::string_view what, Loc loc, const ExprList* extra_body) {
  std::vector<Variables::Bindings> branches;
  for (const Clause* c : list) {
    const std::size_t start = vars_.mark();
    case_clause(*c);
    branches.push_back(vars_.take_since(start));
  }
  if (extra_body) {
    const std::size_t start = vars_.mark();
    body(*extra_body);
    branches.push_back(vars_.take_since(start));
  }
  vars_.merge(branches, what, loc);
}

/// Checks clauses of a function or fun. Their variables end with them.
void ExprLinter::fun_clauses(ClauseList list, std::string_view shadows) {
  for (const Clause* c : list) {
    const std::size_t start = vars_.mark();
    vars_.open_scope();
    patterns_.patterns(c->patterns, {start, shadows.empty() ? std::string_view("head") : shadows});
    guards_.guards(c->guards);
    body(c->body);
    vars_.undo(start);
    vars_.close_scope();
  }
}

void ExprLinter::try_expr(const TryExpr& e) {
  const std::size_t start = vars_.mark();
  body(e.body);
  Variables::Bindings all;
  for (const Clause* c : e.of_clauses) {
    const std::size_t s = vars_.mark();
    case_clause(*c);
    Variables::Bindings own = vars_.take_since(s, "try", e.loc);
    all.insert(all.end(), own.begin(), own.end());
  }
  unreachable_clauses(e.of_clauses);
  Variables::Bindings unsafe = vars_.take_since(start, "try", e.loc);
  vars_.put(unsafe);
  for (const Clause* c : e.catch_clauses) {
    const std::size_t s = vars_.mark();
    patterns_.patterns(c->patterns.first(2), {s, {}});
    const auto& stack = c->patterns[2]->as<VarExpr>();
    if (!stack.anonymous() && vars_.find(stack.name) != nullptr) {
      c_.error(stack.loc,
               format_message("stacktrace variable '%.*s' must not be previously bound", VIEW(stack.name)));
    } else if (stack.anonymous()) {
      guards_.guards(c->guards);
      body(c->body);
    } else {
      for (const ExprList& tests : c->guards)
        for (const Expr* t : tests) {
          auto visit = [&](auto& self, const Expr& x) -> void {
            if (x.is(ExprKind::kVar) && x.as<VarExpr>().name == stack.name)
              c_.error(x.loc, format_message("stacktrace variable '%.*s' must not be used in the guard",
                                             VIEW(stack.name)));
            for_each_child(x, [&](const Expr& child) { self(self, child); });
          };
          visit(visit, *t);
        }
      vars_.bind(stack.name, stack.loc);
      guards_.guards(c->guards);
      body(c->body);
    }
    Variables::Bindings own = vars_.take_since(s, "try", e.loc);
    all.insert(all.end(), own.begin(), own.end());
  }
  vars_.put(all);
  if (!e.after.empty()) {
    const std::size_t s = vars_.mark();
    body(e.after);
    Variables::Bindings own = vars_.take_since(s, "try", e.loc);
    vars_.put(own);
  }
}

void ExprLinter::generator_pattern(const Qualifier& q, const PatternPlace& place) {
  if (q.kind == QualifierKind::kBinary && !q.pattern->is(ExprKind::kBinary)) {
    c_.error(q.pattern->loc, "illegal pattern: a binary generator takes a binary, as in <<X>> <= Bytes");
    vars_.excuse(*q.pattern);
    return;
  }
  if (q.kind == QualifierKind::kBinary) patterns_.sized_fields(q.pattern->as<BinaryExpr>());
  patterns_.pattern(*q.pattern, place);
  if (q.value_pattern) patterns_.pattern(*q.value_pattern, place);
}

void ExprLinter::comprehension(const ComprehensionExpr& e) {
  const std::size_t start = vars_.mark();
  vars_.open_scope();
  for (const Qualifier& q : e.qualifiers) {
    if (!q.generates()) {
      expr(*q.source);
      continue;
    }
    // A source does not see the variables that the generators bind, and does not export its own.
    const std::size_t s = vars_.mark();
    for (const Qualifier& part : q.parts()) {
      if (!part.generates()) continue;  // the parser has reported it
      vars_.open_scope();
      expr(*part.source);
      vars_.undo(s);
      vars_.close_scope();
    }
    for (const Qualifier& part : q.parts())
      if (part.generates()) generator_pattern(part, {s, "generate"});
  }
  std::vector<const Expr*> values;
  for (const ComprehensionValue& made : e.values) {
    if (made.key) values.push_back(made.key);
    values.push_back(made.value);
  }
  operands(values);
  vars_.undo(start);
  vars_.close_scope();
}

/// Warns about clauses behind one that always matches.
void ExprLinter::unreachable_clauses(ClauseList list) {
  const Clause* always = nullptr;
  for (const Clause* c : list) {
    if (always) {
      c_.warning(c->loc, format_message(
                             "this clause cannot match because a previous clause at line %u always matches",
                             always->loc.line));
      continue;
    }
    bool open = true;
    std::unordered_set<std::string_view> names;
    for (const Expr* p : c->patterns)
      open = open && p->is(ExprKind::kVar) &&
             (p->as<VarExpr>().anonymous() || names.insert(p->as<VarExpr>().name).second);
    if (!open) continue;
    if (!c->guards.empty()) {
      const bool sure = c->guards.size() == 1 && c->guards[0].size() == 1 &&
                        c->guards[0][0]->is(ExprKind::kAtom) &&
                        c->guards[0][0]->as<AtomExpr>().name == "true";
      if (!sure) continue;
    }
    // A variable that already has a value is compared. Patterns of case and receive do not bind any
    // that is visible here.
    bool compared =
        std::any_of(names.begin(), names.end(), [&](std::string_view n) { return vars_.find(n) != nullptr; });
    const bool head = !c->name.empty();
    if (!compared || head) always = c;
  }
}

// --- calls ---------------------------------------------------------------------------------------

void ExprLinter::call(const CallExpr& e) {
  if (const Expr* spec = match_spec_call(c_.session, c_.tables, e)) return expr(*spec);
  if (e.target->is(ExprKind::kAtom)) {
    local_call(e, e.target->as<AtomExpr>().name);
    return;
  }
  std::vector<const Expr*> items;
  if (e.target->is(ExprKind::kRemote)) {
    const auto& r = e.target->as<RemoteExpr>();
    callee(*r.module, "module");
    callee(*r.function, "function");
    items = {r.module, r.function};
    remote_call(*r.module, *r.function, static_cast<std::uint32_t>(e.args.size()));
    if (r.module->is(ExprKind::kAtom) && r.function->is(ExprKind::kAtom))
      check_format_call(c_, e, r.module->as<AtomExpr>().name, r.function->as<AtomExpr>().name);
  } else {
    callee(*e.target, "function");
    items.push_back(e.target);
  }
  items.insert(items.end(), e.args.begin(), e.args.end());
  operands(items);
}

/// Warns about an atom in place of a variable, as in x = 5.
void ExprLinter::never_matches(const MatchExpr& m) {
  const bool value = m.right->is(ExprKind::kInteger) || m.right->is(ExprKind::kFloat) ||
                     m.right->is(ExprKind::kString) || m.right->is(ExprKind::kNil);
  if (!m.left->is(ExprKind::kAtom) || !value) return;
  c_.warning(m.left->loc, format_message("no clause will ever match: %s is an atom (the name of a variable "
                                         "begins with a capital letter)",
                                         quote_atom(m.left->as<AtomExpr>().name).c_str()));
}

/// Warns about arithmetic with a term that is not a number.
void ExprLinter::no_number(const BinaryOpExpr& b) {
  const bool arithmetic = b.op == Tok::kPlus || b.op == Tok::kMinus || b.op == Tok::kStar ||
                          b.op == Tok::kSlash || b.op == Tok::kDiv || b.op == Tok::kRem;
  const auto none = [](const Expr& e) {
    return e.is(ExprKind::kString) || e.is(ExprKind::kAtom) || e.is(ExprKind::kBinary);
  };
  if (!arithmetic || !(none(*b.left) || none(*b.right))) return;
  const bool joins = b.op == Tok::kPlus && (b.left->is(ExprKind::kString) || b.right->is(ExprKind::kString));
  c_.warning(b.loc, format_message("evaluation of operator '%.*s'/2 will fail with a 'badarith' exception%s",
                                   VIEW(token_spelling(b.op)), joins ? " (strings are joined by '++')" : ""));
}

/// Warns about a guard that is an atom, as in `else ->`.
void ExprLinter::never_taken(const Clause& c) {
  if (c.guards.size() != 1 || c.guards[0].size() != 1 || !c.guards[0][0]->is(ExprKind::kAtom)) return;
  const std::string_view atom = c.guards[0][0]->as<AtomExpr>().name;
  if (atom == "true") return;
  c_.warning(c.loc, format_message("this clause cannot match because its guard evaluates to 'false'%s",
                                   atom == "else" ? " (the last clause of an if is 'true ->')" : ""));
}

/// Reports a call of a variable without a value; the user may have meant a name.
void ExprLinter::callee(const Expr& e, std::string_view what) {
  if (!e.is(ExprKind::kVar) || vars_.find(e.as<VarExpr>().name) != nullptr) return;
  const std::string_view name = e.as<VarExpr>().name;
  std::string small(name);
  if (small[0] >= 'A' && small[0] <= 'Z') small[0] |= 0x20;
  c_.tables.excused.insert(c_.session.names.intern(small));
  vars_.use(e.as<VarExpr>(), format_message(" (the name of a %.*s begins with a small letter)", VIEW(what)));
}

void ExprLinter::remote_call(const Expr& module, const Expr& function, std::uint32_t arity) {
  if (!c_.session.check_remote_call || !module.is(ExprKind::kAtom) || !function.is(ExprKind::kAtom)) return;
  const std::string_view m = module.as<AtomExpr>().name, f = function.as<AtomExpr>().name;
  if (m == c_.tables.name) return;
  auto [known, fresh] = remote_calls_.try_emplace({m, f, arity});
  if (fresh) known->second = c_.session.check_remote_call(m, f, arity);
  if (!known->second.empty()) c_.warning(function.loc, known->second);
}

void ExprLinter::local_call(const CallExpr& e, std::string_view plain) {
  FunctionName name{plain, static_cast<std::uint32_t>(e.args.size())};
  if (plain == "record_info" && name.arity == 2 && !c_.tables.functions.count(name)) {
    const bool good =
        e.args[0]->is(ExprKind::kAtom) && e.args[1]->is(ExprKind::kAtom) &&
        (e.args[0]->as<AtomExpr>().name == "fields" || e.args[0]->as<AtomExpr>().name == "size");
    if (!good) c_.error(e.loc, "illegal record info");
    else if (c_.tables.meaning(e.args[1]->as<AtomExpr>().name).is_native())
      c_.error(e.loc, "record_info/2 is only supported for tuple records");
    else c_.record(e.args[1]->as<AtomExpr>().name, e.args[1]->loc);
    return;
  }
  operands(e.args);
  const Builtin* builtin = find_builtin(name.name, name.arity);
  if (c_.tables.functions.count(name)) {
    if (builtin && builtin->auto_imported && c_.tables.auto_imports(name) && c_.enabled("nowarn_bif_clash")) {
      c_.warning(e.loc, format_message(
                            "ambiguous call of overridden auto-imported BIF %.*s/%u - use erlang:%.*s/%u or "
                            "\"-compile({no_auto_import,[%.*s/%u]}).\" to resolve name clash",
                            VIEW(plain), name.arity, VIEW(plain), name.arity, VIEW(plain), name.arity));
    }
    functions_.use(name, e.loc);
    return;
  }
  if (auto import = c_.tables.imports.find(name); import != c_.tables.imports.end()) {
    import->second.used = true;
    check_format_call(c_, e, import->second.module, plain);
    return;
  }
  if (builtin && builtin->auto_imported && c_.tables.auto_imports(name)) {
    if (plain == "is_record" && name.arity == 2 && e.args[1]->is(ExprKind::kAtom))
      if (auto r = c_.tables.records.find(e.args[1]->as<AtomExpr>().name); r != c_.tables.records.end())
        r->second.used = true;
    return;
  }
  functions_.use(name, e.loc);
}

}  // namespace vmrun::compile
