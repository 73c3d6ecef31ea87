// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_expr.hpp"

#include "runtime/compile/check/ms_transform.hpp"
#include "runtime/compile/core/to_core_binary.hpp"
#include "runtime/compile/core/to_core_comprehension.hpp"
#include "runtime/compile/core/to_core_constant.hpp"
#include "runtime/compile/core/to_core_control.hpp"
#include "runtime/compile/core/to_core_guard.hpp"
#include "runtime/compile/core/to_core_pattern.hpp"
#include "runtime/compile/core/to_core_record.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/map.hpp"

namespace vmrun::compile {

core::Expr* ExprToCore::body_into(ExprList exprs, Block& block, bool wanted) {
  for (std::size_t i = 0; i + 1 < exprs.size(); ++i) effect(*exprs[i], block);
  CExpr* last = value(*exprs.back(), block, wanted);
  return last ? last : nodes_.literal({}, Term::nil());
}

core::Expr* ExprToCore::body(ExprList exprs) {
  const std::size_t start = scope_.mark();
  Block block;
  CExpr* result = body_into(exprs, block);
  scope_.undo(start);
  return nodes_.finish(block, result);
}

void ExprToCore::effect(const Expr& e, Block& block) {
  CExpr* v = value(e, block, false);
  if (v && !is_atomic(v)) block.push_back({Statement::Kind::kSeq, v->loc, {}, v});
}

/// Lowers several operands, from left to right.
std::vector<core::Expr*> ExprToCore::operands(const std::vector<const Expr*>& exprs, Block& block) {
  std::vector<CExpr*> out;
  const std::size_t start = scope_.mark();
  for (const Expr* e : exprs) {
    Block inner;
    scope_.open_sibling(start);
    CExpr* v = value(*e, inner);
    scope_.close_sibling();
    if (!inner.empty()) {
      for (CExpr*& earlier : out)
        if (!is_atomic(earlier)) earlier = nodes_.named(earlier, block);
      block.insert(block.end(), inner.begin(), inner.end());
    }
    out.push_back(v);
  }
  return out;
}

core::Expr* ExprToCore::value(const Expr& e, Block& block, bool wanted) {
  auto many = [&](ExprList items) { return operands({items.begin(), items.end()}, block); };
  switch (e.kind) {
    case ExprKind::kVar: {
      Var* v = scope_.lookup(e.as<VarExpr>().name);
      if (v) return nodes_.ref(v, e.loc);
      c_.session.diagnostics.error(e.loc,
                                   format_message("variable '%.*s' is unbound", VIEW(e.as<VarExpr>().name)));
      return nodes_.literal(e.loc, Term::nil());
    }
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil:
    case ExprKind::kRecordIndex: return nodes_.literal(e.loc, c_.constants.constant(e, false));
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      std::vector<const Expr*> items(c.elements.begin(), c.elements.end());
      items.push_back(c.tail);
      const auto parts = operands(items, block);
      CExpr* list = parts.back();
      for (std::size_t i = parts.size() - 1; i-- > 0;) list = nodes_.cons(e.loc, parts[i], list);
      return list;
    }
    case ExprKind::kTuple: return nodes_.tuple(e.loc, many(e.as<TupleExpr>().elements));
    case ExprKind::kMap: return map_expr(e.as<MapExpr>(), block);
    case ExprKind::kBinary: return c_.binaries.binary_expr(e.as<BinaryExpr>(), block);
    case ExprKind::kRecord:
      return e.as<RecordExpr>().base != nullptr ? c_.records.record_update(e.as<RecordExpr>(), block)
                                                : c_.records.record_new(e.as<RecordExpr>(), block);
    case ExprKind::kRecordField: return c_.records.record_field(e.as<RecordFieldExpr>(), block);
    case ExprKind::kUnary: {
      const auto& u = e.as<UnaryExpr>();
      std::vector<CExpr*> args{value(*u.operand, block)};
      if (CExpr* folded = nodes_.fold_operator(e.loc, token_spelling(u.op), args)) return folded;
      return nodes_.erlang(e.loc, token_spelling(u.op), {args[0]});
    }
    case ExprKind::kBinaryOp: return operator_expr(e.as<BinaryOpExpr>(), block);
    case ExprKind::kMatch: return match(e.as<MatchExpr>(), block, wanted);
    case ExprKind::kCall: return call_expr(e.as<CallExpr>(), block);
    case ExprKind::kFunLocal: return fun_local(e.as<FunLocalExpr>());
    case ExprKind::kFunRemote: {
      const auto& f = e.as<FunRemoteExpr>();
      const auto args = operands({f.module, f.function, f.arity}, block);
      return nodes_.erlang(e.loc, "make_fun", {args[0], args[1], args[2]});
    }
    case ExprKind::kFun: return fun_expr(e.as<FunExpr>());
    case ExprKind::kBlock: {
      ExprList exprs = e.as<BlockExpr>().body;
      for (std::size_t i = 0; i + 1 < exprs.size(); ++i) effect(*exprs[i], block);
      return value(*exprs.back(), block, wanted);
    }
    case ExprKind::kIf: return c_.control.if_expr(e.as<IfExpr>(), block, wanted);
    case ExprKind::kCase: return c_.control.case_expr(e.as<CaseExpr>(), block, wanted);
    case ExprKind::kReceive: return c_.control.receive_expr(e.as<ReceiveExpr>(), block, wanted);
    case ExprKind::kTry: return c_.control.try_expr(e.as<TryExpr>());
    case ExprKind::kCatch: return nodes_.make<core::Catch>(e.loc, body({&e.as<CatchExpr>().body, 1}));
    case ExprKind::kMaybe: return c_.control.maybe_expr(e.as<MaybeExpr>());
    case ExprKind::kComprehension: return c_.comprehensions.comprehension(e.as<ComprehensionExpr>(), wanted);
    case ExprKind::kRemote:
    case ExprKind::kMaybeMatch: break;  // occurs only as a part of a call or of maybe
  }
  c_.session.diagnostics.error(e.loc, "illegal expression");
  return nodes_.literal(e.loc, Term::nil());
}

core::Expr* ExprToCore::match(const MatchExpr& e, Block& block, bool wanted) {
  const bool dropped = !wanted && e.left->is(ExprKind::kVar) && e.left->as<VarExpr>().anonymous();
  CExpr* v = value(*e.right, block, !dropped);
  if (e.left->is(ExprKind::kVar)) {
    const auto& var = e.left->as<VarExpr>();
    if (var.anonymous()) return v;
    if (scope_.lookup(var.name) == nullptr) {
      if (v->kind == core::Kind::kVar) {
        scope_.bind_to(var.name, v->as<core::VarRef>().var);
        return v;
      }
      Var* bound = scope_.bind(var.name);
      nodes_.let(block, bound, v);
      return wanted ? nodes_.ref(bound) : nullptr;
    }
  }
  if (wanted) v = nodes_.named(v, block);
  PatternContext context{scope_.mark(), false};
  core::Pat* p = c_.patterns.pattern(*e.left, context);
  CExpr* result = !wanted         ? nullptr
                  : is_literal(v) ? nodes_.literal(e.loc, literal_of(v))
                                  : nodes_.ref(v->as<core::VarRef>().var);
  block.push_back(
      {Statement::Kind::kMatch, e.loc, {}, v, p, c_.guards.guard({}, context.tests), core::Fail::kBadmatch});
  return result;
}

core::Expr* ExprToCore::operator_expr(const BinaryOpExpr& e, Block& block) {
  if (e.op == Tok::kAndalso || e.op == Tok::kOrelse) {
    CExpr* left = value(*e.left, block);
    CExpr* right = body({&e.right, 1});
    if (e.op == Tok::kAndalso) return nodes_.make<core::AndAlso>(e.loc, left, right);
    return nodes_.make<core::OrElse>(e.loc, left, right);
  }
  const auto args = operands({e.left, e.right}, block);
  const std::string_view name = token_spelling(e.op);
  if (CExpr* folded = nodes_.fold_operator(e.loc, name, args)) return folded;
  // "abc" ++ Tail is a chain of cells.
  if (e.op == Tok::kPlusPlus && is_literal(args[0])) {
    std::vector<Term> items;
    Term t = literal_of(args[0]);
    for (; t.is_list(); t = t.tail()) items.push_back(t.head());
    if (t.is_nil() && items.size() <= 64 && !items.empty()) {
      CExpr* list = args[1];
      for (std::size_t i = items.size(); i-- > 0;)
        list = nodes_.cons(e.loc, nodes_.literal({}, items[i]), list);
      return list;
    }
  }
  return nodes_.erlang(e.loc, name, {args[0], args[1]});
}

core::Expr* ExprToCore::map_expr(const MapExpr& e, Block& block) {
  std::vector<const Expr*> items;
  if (e.base) items.push_back(e.base);
  for (const MapField& f : e.fields) {
    items.push_back(f.key);
    items.push_back(f.value);
  }
  const auto parts = operands(items, block);
  std::size_t at = 0;
  CExpr* base = e.base ? parts[at++] : nullptr;
  bool constant = base == nullptr;
  for (CExpr* p : parts) constant = constant && is_literal(p);
  if (constant) {
    Term map = empty_map(nodes_.heap());
    for (; at < parts.size(); at += 2)
      map = map_put(nodes_.heap(), map, literal_of(parts[at]), literal_of(parts[at + 1]));
    return nodes_.literal(e.loc, map);
  }
  std::vector<core::MapPair> pairs;
  for (const MapField& f : e.fields) {
    pairs.push_back({f.exact, parts[at], parts[at + 1]});
    at += 2;
  }
  if (!base) base = nodes_.literal(e.loc, empty_map(nodes_.heap()));
  return nodes_.make<core::Map>(e.loc, base, nodes_.keep(pairs));
}

// --- calls ---------------------------------------------------------------------------------------

core::Expr* ExprToCore::call_expr(const CallExpr& e, Block& block) {
  if (const Expr* spec = match_spec_call(c_.session, c_.tables, e)) return value(*spec, block);
  if (e.target->is(ExprKind::kAtom)) return local_call(e, block);
  if (e.target->is(ExprKind::kFun) && e.args.empty() && is_mere_scope(e.target->as<FunExpr>()))
    return scoped_body(e.target->as<FunExpr>());
  std::vector<const Expr*> items;
  if (e.target->is(ExprKind::kRemote)) {
    const auto& remote = e.target->as<RemoteExpr>();
    items = {remote.module, remote.function};
    items.insert(items.end(), e.args.begin(), e.args.end());
    if (remote.module->is(ExprKind::kAtom) && remote.function->is(ExprKind::kAtom) &&
        remote.module->as<AtomExpr>().name == "erlang") {
      const std::string_view name = remote.function->as<AtomExpr>().name;
      const bool record_test = name == "is_record" && e.args.size() == 2 && e.args[1]->is(ExprKind::kAtom);
      if (record_test && is_known_record(e.args[1]->as<AtomExpr>().name))
        return is_record_call(e.loc, *e.args[0], e.args[1]->as<AtomExpr>().name, block);
    }
    const auto parts = operands(items, block);
    std::vector<CExpr*> args(parts.begin() + 2, parts.end());
    if (is_literal(parts[0]) && is_literal(parts[1]) && literal_of(parts[0]) == nodes_.atom("erlang")) {
      const std::string_view name = atom_text(literal_of(parts[1]));
      if (CExpr* folded = nodes_.fold_operator(e.loc, name, args)) return folded;
      const FunctionName known{name, static_cast<std::uint32_t>(args.size())};
      if (CExpr* test = test_without_instruction(e.loc, known, args)) return test;
    }
    return nodes_.make<core::Call>(e.loc, parts[0], parts[1], nodes_.keep(args));
  }
  items.push_back(e.target);
  items.insert(items.end(), e.args.begin(), e.args.end());
  const auto parts = operands(items, block);
  std::vector<CExpr*> args(parts.begin() + 1, parts.end());
  return nodes_.make<core::Apply>(e.loc, parts[0], nodes_.keep(args));
}

/// A call by a plain name: of this module, imported, or of an auto-imported BIF. Definitions take
/// precedence.
core::Expr* ExprToCore::local_call(const CallExpr& e, Block& block) {
  FunctionName name{e.target->as<AtomExpr>().name, static_cast<std::uint32_t>(e.args.size())};
  bool defined = c_.tables.functions.count(name) != 0;
  const auto import = c_.tables.imports.find(name);
  if (c_.guard_checks) defined = false;  // guards call BIFs only
  if (!defined && import == c_.tables.imports.end()) {
    if (name.name == "record_info" && name.arity == 2) return c_.records.record_info(e);
    const bool record_test = name.name == "is_record" && name.arity == 2 && e.args[1]->is(ExprKind::kAtom) &&
                             is_known_record(e.args[1]->as<AtomExpr>().name);
    if (record_test) return is_record_call(e.loc, *e.args[0], e.args[1]->as<AtomExpr>().name, block);
  }
  const auto args = operands({e.args.begin(), e.args.end()}, block);
  if (defined) return nodes_.make<core::ApplyLocal>(e.loc, nodes_.atom(name.name), nodes_.keep(args));
  if (import != c_.tables.imports.end())
    return nodes_.make<core::Call>(e.loc, nodes_.atom_literal({}, import->second.module),
                                   nodes_.atom_literal({}, name.name), nodes_.keep(args));
  const Builtin* b = find_builtin(name.name, name.arity);
  if (b && b->auto_imported) {
    if (CExpr* folded = nodes_.fold_operator(e.loc, name.name, args)) return folded;
    if (CExpr* test = test_without_instruction(e.loc, name, args)) return test;
    return nodes_.make<core::Call>(e.loc, nodes_.atom_literal({}, "erlang"),
                                   nodes_.atom_literal({}, name.name), nodes_.keep(args));
  }
  if ((name.name == "module_info" && name.arity < 2) || (name.name == "behaviour_info" && name.arity == 1))
    return nodes_.make<core::Call>(e.loc, nodes_.atom_literal({}, c_.tables.name),
                                   nodes_.atom_literal({}, name.name), nodes_.keep(args));
  c_.session.diagnostics.error(
      e.loc, format_message("function %s/%u undefined", quote_atom(name.name).c_str(), name.arity));
  return nodes_.literal(e.loc, Term::nil());
}

/// Guard tests that no instruction of OTP 25's set makes: is_integer(X, Low, High) becomes
/// comparisons. Returns nullptr for others and outside of guards.
core::Expr* ExprToCore::test_without_instruction(Loc loc, const FunctionName& name,
                                                 const std::vector<CExpr*>& args) {
  if (!c_.guard_checks) return nullptr;
  if (name.name != "is_integer" || name.arity != 3) return nullptr;
  CExpr* result = nodes_.make<core::AndAlso>(loc, nodes_.erlang(loc, "=<", {args[1], args[0]}),
                                             nodes_.erlang(loc, "=<", {args[0], args[2]}));
  for (CExpr* arg : {args[2], args[1], args[0]})
    result = nodes_.make<core::AndAlso>(loc, nodes_.erlang(loc, "is_integer", {arg}), result);
  return result;
}

bool ExprToCore::is_known_record(std::string_view name) const {
  return c_.tables.records.count(name) || c_.tables.record_imports.count(name);
}

/// is_record(X, r) of a record that is known here also tests the size.
core::Expr* ExprToCore::is_record_call(Loc loc, const Expr& subject, std::string_view name, Block& block) {
  if (const RecordMeaning meaning = c_.tables.meaning(name); meaning.is_native())
    return c_.records.native_test(loc, meaning, value(subject, block));
  const RecordInfo* r = c_.records.record(name);
  CExpr* v = value(subject, block);
  const std::int64_t size = static_cast<std::int64_t>(r->form->fields.size()) + 1;
  if (c_.guard_checks)
    return nodes_.erlang(loc, "is_record",
                         {v, nodes_.atom_literal({}, name), nodes_.integer_literal({}, size)});
  std::vector<core::Pat*> elements{nodes_.literal_pattern(nodes_.atom(name))};
  for (std::int64_t i = 1; i < size; ++i) elements.push_back(nodes_.wild());
  core::Pat* yes = nodes_.make<core::PTuple>(nodes_.keep(elements));
  core::Pat* no = nodes_.wild();
  std::vector<core::Clause*> clauses{
      nodes_.make<core::Clause>(
          core::Clause{loc, nodes_.copy(&yes, 1), nullptr, nodes_.atom_literal({}, "true")}),
      nodes_.make<core::Clause>(
          core::Clause{loc, nodes_.copy(&no, 1), nullptr, nodes_.atom_literal({}, "false")})};
  return nodes_.make<core::Case>(loc, nodes_.copy(&v, 1), nodes_.keep(clauses), core::Fail::kImpossible);
}

core::Expr* ExprToCore::fun_local(const FunLocalExpr& e) {
  FunctionName name{e.name, e.arity};
  if (c_.tables.functions.count(name)) return nodes_.make<core::FunRef>(e.loc, nodes_.atom(e.name), e.arity);
  std::string_view module = "erlang";
  if (auto import = c_.tables.imports.find(name); import != c_.tables.imports.end())
    module = import->second.module;
  if (name.name == "module_info") module = c_.tables.name;
  return nodes_.erlang(e.loc, "make_fun",
                       {nodes_.atom_literal({}, module), nodes_.atom_literal({}, e.name),
                        nodes_.integer_literal({}, static_cast<std::int64_t>(e.arity))});
}

/// Whether a fun only opens a scope. Macros call such funs at once, to keep their variables
/// private.
bool ExprToCore::is_mere_scope(const FunExpr& e) {
  const Clause& clause = *e.clauses[0];
  return e.name.empty() && e.clauses.size() == 1 && clause.patterns.empty() && clause.guards.empty();
}

core::Expr* ExprToCore::scoped_body(const FunExpr& e) {
  const Scope::Own own(scope_);
  return body(e.clauses[0]->body);
}

core::Expr* ExprToCore::fun_expr(const FunExpr& e) {
  const Scope::Own own(scope_);
  core::Lambda* lambda = nodes_.make<core::Lambda>(e.loc, std::span<Var* const>(), nullptr);
  if (e.name != "_") lambda->name = e.name;
  if (!e.name.empty()) lambda->self = e.name == "_" ? nodes_.fresh() : scope_.bind(e.name);
  lambda->body = c_.control.function_body(e.loc, e.clauses, lambda->params);
  lambda->index = c_.names.number(&e);
  return lambda;
}

}  // namespace vmrun::compile
