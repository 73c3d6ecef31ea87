// Lowering of expressions without control flow: data, operators, calls, matches, funs.

#include "runtime/compile/check/match_spec.hpp"
#include "runtime/compile/core/to_core_state.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/map.hpp"

namespace vmrun::compile {

void Lowering::let(Block& block, Var* var, CExpr* arg) {
  block.push_back({Statement::Kind::kLet, arg->loc, arena_.copy(&var, 1), arg});
}

core::Expr* Lowering::named(CExpr* e, Block& block, std::string_view name) {
  if (is_literal(e)) return literal(e->loc, literal_of(e));
  if (e->kind == core::Kind::kVar) return ref(e->as<core::VarRef>().var);
  Var* v = fresh(name);
  let(block, v, e);
  return ref(v);
}

/// Nests the statements of a block around what it gives.
core::Expr* Lowering::finish(Block& block, CExpr* result) {
  for (size_t i = block.size(); i-- > 0;) {
    Statement& s = block[i];
    switch (s.kind) {
      case Statement::Kind::kLet: result = make<core::Let>(s.loc, s.vars, s.arg, result); break;
      case Statement::Kind::kSeq: result = make<core::Seq>(s.loc, s.arg, result); break;
      case Statement::Kind::kMatch: {
        std::vector<core::Clause*> clauses{
            make<core::Clause>(core::Clause{s.loc, arena_.copy(&s.pattern, 1), s.guard, result})};
        clauses.insert(clauses.end(), s.otherwise.begin(), s.otherwise.end());
        result = make<core::Case>(s.loc, arena_.copy(&s.arg, 1), keep(clauses), s.fail);
        break;
      }
    }
  }
  block.clear();
  return result;
}

core::Expr* Lowering::body_into(ExprList exprs, Block& block, bool wanted) {
  for (size_t i = 0; i + 1 < exprs.size(); i++) effect(*exprs[i], block);
  CExpr* last = value(*exprs.back(), block, wanted);
  return last != nullptr ? last : literal({}, Term::nil());
}

core::Expr* Lowering::body(ExprList exprs) {
  size_t start = mark();
  Block block;
  CExpr* result = body_into(exprs, block);
  undo(start);
  return finish(block, result);
}

void Lowering::effect(const Expr& e, Block& block) {
  CExpr* v = value(e, block, false);
  if (v != nullptr && !is_atomic(v)) block.push_back({Statement::Kind::kSeq, v->loc, {}, v});
}

/// Several operands, left to right.
std::vector<core::Expr*> Lowering::operands(const std::vector<const Expr*>& exprs, Block& block) {
  std::vector<CExpr*> out;
  const size_t start = mark();
  for (const Expr* e : exprs) {
    Block inner;
    siblings_.emplace_back(start, mark());
    CExpr* v = value(*e, inner);
    siblings_.pop_back();
    if (!inner.empty()) {
      for (CExpr*& earlier : out)
        if (!is_atomic(earlier)) earlier = named(earlier, block);
      block.insert(block.end(), inner.begin(), inner.end());
    }
    out.push_back(v);
  }
  return out;
}

core::Expr* Lowering::value(const Expr& e, Block& block, bool wanted) {
  auto many = [&](ExprList items) { return operands({items.begin(), items.end()}, block); };
  switch (e.kind) {
    case ExprKind::kVar: {
      Var* v = lookup(e.as<VarExpr>().name);
      if (v != nullptr) return ref(v, e.loc);
      session_.diagnostics.error(e.loc,
                                 format_message("variable '%.*s' is unbound", VIEW(e.as<VarExpr>().name)));
      return literal(e.loc, Term::nil());
    }
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil:
    case ExprKind::kRecordIndex: return literal(e.loc, constant(e, false));
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      std::vector<const Expr*> items(c.elements.begin(), c.elements.end());
      items.push_back(c.tail);
      auto parts = operands(items, block);
      CExpr* list = parts.back();
      for (size_t i = parts.size() - 1; i-- > 0;) list = cons(e.loc, parts[i], list);
      return list;
    }
    case ExprKind::kTuple: return tuple(e.loc, many(e.as<TupleExpr>().elements));
    case ExprKind::kMap: return map_expr(e.as<MapExpr>(), block);
    case ExprKind::kBinary: return binary_expr(e.as<BinaryExpr>(), block);
    case ExprKind::kRecord:
      return e.as<RecordExpr>().base != nullptr ? record_update(e.as<RecordExpr>(), block)
                                                : record_new(e.as<RecordExpr>(), block);
    case ExprKind::kRecordField: return record_field(e.as<RecordFieldExpr>(), block);
    case ExprKind::kUnary: {
      const auto& u = e.as<UnaryExpr>();
      std::vector<CExpr*> args{value(*u.operand, block)};
      if (CExpr* folded = fold_operator(e.loc, token_spelling(u.op), args)) return folded;
      return erlang(e.loc, token_spelling(u.op), {args[0]});
    }
    case ExprKind::kBinaryOp: return operator_expr(e.as<BinaryOpExpr>(), block);
    case ExprKind::kMatch: return match(e.as<MatchExpr>(), block, wanted);
    case ExprKind::kCall: return call_expr(e.as<CallExpr>(), block);
    case ExprKind::kFunLocal: return fun_local(e.as<FunLocalExpr>());
    case ExprKind::kFunRemote: {
      const auto& f = e.as<FunRemoteExpr>();
      auto args = operands({f.module, f.function, f.arity}, block);
      return erlang(e.loc, "make_fun", {args[0], args[1], args[2]});
    }
    case ExprKind::kFun: return fun_expr(e.as<FunExpr>());
    case ExprKind::kBlock: {
      ExprList exprs = e.as<BlockExpr>().body;
      for (size_t i = 0; i + 1 < exprs.size(); i++) effect(*exprs[i], block);
      return value(*exprs.back(), block, wanted);
    }
    case ExprKind::kIf: return if_expr(e.as<IfExpr>(), block, wanted);
    case ExprKind::kCase: return case_expr(e.as<CaseExpr>(), block, wanted);
    case ExprKind::kReceive: return receive_expr(e.as<ReceiveExpr>(), block, wanted);
    case ExprKind::kTry: return try_expr(e.as<TryExpr>());
    case ExprKind::kCatch: return make<core::Catch>(e.loc, body({&e.as<CatchExpr>().body, 1}));
    case ExprKind::kMaybe: return maybe_expr(e.as<MaybeExpr>());
    case ExprKind::kComprehension: return comprehension(e.as<ComprehensionExpr>(), wanted);
    case ExprKind::kRemote:
    case ExprKind::kMaybeMatch: break;  // only as parts of a call and of maybe
  }
  session_.diagnostics.error(e.loc, "illegal expression");
  return literal(e.loc, Term::nil());
}

core::Expr* Lowering::match(const MatchExpr& e, Block& block, bool wanted) {
  const bool dropped = !wanted && e.left->is(ExprKind::kVar) && e.left->as<VarExpr>().anonymous();
  CExpr* v = value(*e.right, block, !dropped);
  if (e.left->is(ExprKind::kVar)) {
    const auto& var = e.left->as<VarExpr>();
    if (var.anonymous()) return v;
    if (lookup(var.name) == nullptr) {
      if (v->kind == core::Kind::kVar) {
        bind_to(var.name, v->as<core::VarRef>().var);
        return v;
      }
      Var* bound = bind(var.name);
      let(block, bound, v);
      return wanted ? ref(bound) : nullptr;
    }
  }
  if (wanted) v = named(v, block);
  PatternContext context{mark(), false};
  core::Pat* p = pattern(*e.left, context);
  CExpr* result = !wanted         ? nullptr
                  : is_literal(v) ? literal(e.loc, literal_of(v))
                                  : ref(v->as<core::VarRef>().var);
  block.push_back(
      {Statement::Kind::kMatch, e.loc, {}, v, p, guard({}, context.tests), core::Fail::kBadmatch});
  return result;
}

core::Expr* Lowering::operator_expr(const BinaryOpExpr& e, Block& block) {
  if (e.op == Tok::kAndalso || e.op == Tok::kOrelse) {
    CExpr* left = value(*e.left, block);
    CExpr* right = body({&e.right, 1});
    if (e.op == Tok::kAndalso) return make<core::AndAlso>(e.loc, left, right);
    return make<core::OrElse>(e.loc, left, right);
  }
  auto args = operands({e.left, e.right}, block);
  std::string_view name = token_spelling(e.op);
  if (CExpr* folded = fold_operator(e.loc, name, args)) return folded;
  // "abc" ++ Tail is a chain of cells.
  if (e.op == Tok::kPlusPlus && is_literal(args[0])) {
    std::vector<Term> items;
    Term t = literal_of(args[0]);
    for (; t.is_list(); t = t.tail()) items.push_back(t.head());
    if (t.is_nil() && items.size() <= 64 && !items.empty()) {
      CExpr* list = args[1];
      for (size_t i = items.size(); i-- > 0;) list = cons(e.loc, literal({}, items[i]), list);
      return list;
    }
  }
  return erlang(e.loc, name, {args[0], args[1]});
}

core::Expr* Lowering::map_expr(const MapExpr& e, Block& block) {
  std::vector<const Expr*> items;
  if (e.base != nullptr) items.push_back(e.base);
  for (const MapField& f : e.fields) {
    items.push_back(f.key);
    items.push_back(f.value);
  }
  auto parts = operands(items, block);
  size_t at = 0;
  CExpr* base = e.base != nullptr ? parts[at++] : nullptr;
  bool constant = base == nullptr;
  for (CExpr* p : parts) constant = constant && is_literal(p);
  if (constant) {
    Term map = empty_map(heap_);
    for (; at < parts.size(); at += 2)
      map = map_put(heap_, map, literal_of(parts[at]), literal_of(parts[at + 1]));
    return literal(e.loc, map);
  }
  std::vector<core::MapPair> pairs;
  for (const MapField& f : e.fields) {
    pairs.push_back({f.exact, parts[at], parts[at + 1]});
    at += 2;
  }
  if (base == nullptr) base = literal(e.loc, empty_map(heap_));
  return make<core::Map>(e.loc, base, keep(pairs));
}

// --- calls ---------------------------------------------------------------------------------------

core::Expr* Lowering::call_expr(const CallExpr& e, Block& block) {
  if (const Expr* spec = match_spec_call(session_, tables_, e)) return value(*spec, block);
  if (e.target->is(ExprKind::kAtom)) return local_call(e, block);
  std::vector<const Expr*> items;
  if (e.target->is(ExprKind::kRemote)) {
    const auto& remote = e.target->as<RemoteExpr>();
    items = {remote.module, remote.function};
    items.insert(items.end(), e.args.begin(), e.args.end());
    if (remote.module->is(ExprKind::kAtom) && remote.function->is(ExprKind::kAtom) &&
        remote.module->as<AtomExpr>().name == "erlang") {
      std::string_view name = remote.function->as<AtomExpr>().name;
      bool record_test = name == "is_record" && e.args.size() == 2 && e.args[1]->is(ExprKind::kAtom);
      if (record_test && tables_.records.count(e.args[1]->as<AtomExpr>().name))
        return is_record_call(e.loc, *e.args[0], e.args[1]->as<AtomExpr>().name, block);
    }
    auto parts = operands(items, block);
    std::vector<CExpr*> args(parts.begin() + 2, parts.end());
    if (is_literal(parts[0]) && is_literal(parts[1]) && literal_of(parts[0]) == atom("erlang")) {
      std::string_view name = atom_text(literal_of(parts[1]));
      if (CExpr* folded = fold_operator(e.loc, name, args)) return folded;
    }
    return make<core::Call>(e.loc, parts[0], parts[1], keep(args));
  }
  items.push_back(e.target);
  items.insert(items.end(), e.args.begin(), e.args.end());
  auto parts = operands(items, block);
  std::vector<CExpr*> args(parts.begin() + 1, parts.end());
  return make<core::Apply>(e.loc, parts[0], keep(args));
}

/// A call by plain name: of this module, imported, or an auto-imported BIF. Definitions come first.
core::Expr* Lowering::local_call(const CallExpr& e, Block& block) {
  FunctionName name{e.target->as<AtomExpr>().name, static_cast<uint32_t>(e.args.size())};
  bool defined = tables_.functions.count(name) != 0;
  auto import = tables_.imports.find(name);
  if (guard_checks_ != nullptr) defined = false;  // guards call BIFs only
  if (!defined && import == tables_.imports.end()) {
    if (name.name == "record_info" && name.arity == 2) return record_info(e);
    bool record_test = name.name == "is_record" && name.arity == 2 && e.args[1]->is(ExprKind::kAtom) &&
                       tables_.records.count(e.args[1]->as<AtomExpr>().name);
    if (record_test) return is_record_call(e.loc, *e.args[0], e.args[1]->as<AtomExpr>().name, block);
  }
  auto args = operands({e.args.begin(), e.args.end()}, block);
  if (defined) return make<core::ApplyLocal>(e.loc, atom(name.name), keep(args));
  if (import != tables_.imports.end())
    return make<core::Call>(e.loc, atom_literal({}, import->second.module), atom_literal({}, name.name),
                            keep(args));
  const Builtin* b = find_builtin(name.name, name.arity);
  if (b != nullptr && b->auto_imported) {
    if (CExpr* folded = fold_operator(e.loc, name.name, args)) return folded;
    return make<core::Call>(e.loc, atom_literal({}, "erlang"), atom_literal({}, name.name), keep(args));
  }
  if ((name.name == "module_info" && name.arity < 2) || (name.name == "behaviour_info" && name.arity == 1))
    return make<core::Call>(e.loc, atom_literal({}, tables_.name), atom_literal({}, name.name), keep(args));
  session_.diagnostics.error(
      e.loc, format_message("function %s/%u undefined", quote_atom(name.name).c_str(), name.arity));
  return literal(e.loc, Term::nil());
}

/// is_record(X, r) of a record known here tests the size as well.
core::Expr* Lowering::is_record_call(Loc loc, const Expr& subject, std::string_view name, Block& block) {
  const RecordInfo* r = record(name);
  CExpr* v = value(subject, block);
  int64_t size = static_cast<int64_t>(r->form->fields.size()) + 1;
  if (guard_checks_ != nullptr)
    return erlang(loc, "is_record", {v, atom_literal({}, name), integer_literal({}, size)});
  std::vector<core::Pat*> elements{literal_pattern(atom(name))};
  for (int64_t i = 1; i < size; i++) elements.push_back(wild());
  core::Pat* yes = make<core::PTuple>(keep(elements));
  core::Pat* no = wild();
  std::vector<core::Clause*> clauses{
      make<core::Clause>(core::Clause{loc, arena_.copy(&yes, 1), nullptr, atom_literal({}, "true")}),
      make<core::Clause>(core::Clause{loc, arena_.copy(&no, 1), nullptr, atom_literal({}, "false")})};
  return make<core::Case>(loc, arena_.copy(&v, 1), keep(clauses), core::Fail::kImpossible);
}

core::Expr* Lowering::fun_local(const FunLocalExpr& e) {
  FunctionName name{e.name, e.arity};
  if (tables_.functions.count(name)) return make<core::FunRef>(e.loc, atom(e.name), e.arity);
  std::string_view module = "erlang";
  if (auto import = tables_.imports.find(name); import != tables_.imports.end())
    module = import->second.module;
  if (name.name == "module_info") module = tables_.name;
  return erlang(e.loc, "make_fun",
                {atom_literal({}, module), atom_literal({}, e.name),
                 integer_literal({}, static_cast<int64_t>(e.arity))});
}

core::Expr* Lowering::fun_expr(const FunExpr& e) {
  uint32_t index = fun_index_++;
  size_t start = mark();
  Siblings siblings = hide_siblings();
  core::Lambda* lambda = arena_.make<core::Lambda>(e.loc, std::span<Var* const>(), nullptr);
  lambda->index = index;
  if (!e.name.empty()) lambda->self = e.name == "_" ? fresh() : bind(e.name);
  lambda->body = function_body(e.loc, e.clauses, lambda->params);
  undo(start);
  siblings_ = std::move(siblings);
  return lambda;
}

}  // namespace vmrun::compile
