// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_guard.hpp"

#include "runtime/compile/core/to_core_expr.hpp"

namespace vmrun::compile {

/// Returns a guard with the tests of `extra` in front; nullptr when there is nothing to test.
core::Expr* GuardToCore::guard(std::span<const ExprList> guards, const std::vector<CExpr*>& extra) {
  std::vector<CExpr*> alternatives;
  for (const ExprList& tests : guards) {
    std::vector<CExpr*> all;
    for (const Expr* t : tests) all.push_back(guard_test(modern_test(*t)));
    alternatives.push_back(all.size() == 1 ? all[0]
                                           : nodes_.make<core::AllOf>(tests[0]->loc, nodes_.keep(all)));
  }
  std::vector<CExpr*> all = extra;
  if (alternatives.size() == 1) {
    all.push_back(alternatives[0]);
  } else if (alternatives.size() > 1) {
    all.push_back(nodes_.make<core::AnyOf>(guards[0][0]->loc, nodes_.keep(alternatives)));
  }
  if (all.empty()) return nullptr;
  return all.size() == 1 ? all[0] : nodes_.make<core::AllOf>(all[0]->loc, nodes_.keep(all));
}

/// Translates an obsolete type test that stands alone: list(X) is is_list(X), and float(X) is not a
/// conversion.
const Expr& GuardToCore::modern_test(const Expr& e) {
  if (!e.is(ExprKind::kCall) || !e.as<CallExpr>().target->is(ExprKind::kAtom)) return e;
  const auto& c = e.as<CallExpr>();
  const std::string_view modern =
      modern_type_test(c.target->as<AtomExpr>().name, static_cast<std::uint32_t>(c.args.size()));
  if (modern.empty()) return e;
  return *nodes_.make<CallExpr>(e.loc, nodes_.make<AtomExpr>(c.target->loc, modern), c.args);
}

/// Returns one test. It reads record fields only after a check that the operand is such a record.
/// The check stands directly in front of the innermost boolean expression that needs it, so that
/// alternatives are not affected.
core::Expr* GuardToCore::guard_test(const Expr& e) {
  if (e.is(ExprKind::kBinaryOp)) {
    const auto& op = e.as<BinaryOpExpr>();
    if (op.op == Tok::kAndalso)
      return nodes_.make<core::AndAlso>(e.loc, guard_test(*op.left), guard_test(*op.right));
    if (op.op == Tok::kOrelse)
      return nodes_.make<core::OrElse>(e.loc, guard_test(*op.left), guard_test(*op.right));
  }
  std::vector<CExpr*> checks;
  CExpr* test = guard_value(e, checks);
  if (checks.empty()) return test;
  checks.push_back(test);
  return nodes_.make<core::AllOf>(e.loc, nodes_.keep(checks));
}

core::Expr* GuardToCore::guard_value(const Expr& e, std::vector<CExpr*>& checks) {
  std::vector<CExpr*>* outer = c_.guard_checks;
  c_.guard_checks = &checks;
  Block block;
  CExpr* v = c_.exprs.value(e, block);
  c_.guard_checks = outer;
  if (!block.empty()) c_.session.diagnostics.error(e.loc, "illegal guard expression");
  return v;
}

/// Whether an expression may be used as a guard; a filter that may is treated as one.
bool GuardToCore::is_guard_expr(const Expr& e) const {
  auto all = [&](ExprList items) {
    for (const Expr* i : items)
      if (!is_guard_expr(*i)) return false;
    return true;
  };
  switch (e.kind) {
    case ExprKind::kVar:
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil:
    case ExprKind::kRecordIndex: return true;
    case ExprKind::kCons: return all(e.as<ConsExpr>().elements) && is_guard_expr(*e.as<ConsExpr>().tail);
    case ExprKind::kTuple: return all(e.as<TupleExpr>().elements);
    case ExprKind::kMap: {
      const auto& m = e.as<MapExpr>();
      if (m.base && !is_guard_expr(*m.base)) return false;
      for (const MapField& f : m.fields)
        if (!is_guard_expr(*f.key) || !is_guard_expr(*f.value)) return false;
      return true;
    }
    case ExprKind::kBinary:
      for (const Segment& s : e.as<BinaryExpr>().segments)
        if (!is_guard_expr(*s.value) || (s.size && !is_guard_expr(*s.size))) return false;
      return true;
    case ExprKind::kRecord: {
      const auto& r = e.as<RecordExpr>();
      if (r.base || c_.tables.meaning(r.id).is_native()) return false;
      for (const RecordFieldInit& f : r.fields)
        if (!is_guard_expr(*f.value)) return false;
      const auto it = c_.tables.records.find(r.name);
      if (it == c_.tables.records.end()) return false;
      for (const RecordFieldDef& f : it->second.form->fields)
        if (f.initial && !is_guard_expr(*f.initial)) return false;
      return true;
    }
    case ExprKind::kRecordField: return is_guard_expr(*e.as<RecordFieldExpr>().base);
    case ExprKind::kUnary: return is_guard_expr(*e.as<UnaryExpr>().operand);
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      if (b.op == Tok::kBang || b.op == Tok::kPlusPlus || b.op == Tok::kMinusMinus) return false;
      return is_guard_expr(*b.left) && is_guard_expr(*b.right);
    }
    case ExprKind::kCall: {
      const auto& c = e.as<CallExpr>();
      FunctionName name{{}, static_cast<std::uint32_t>(c.args.size())};
      if (c.target->is(ExprKind::kAtom)) {
        name.name = c.target->as<AtomExpr>().name;
        const auto import = c_.tables.imports.find(name);
        const bool from_erlang = import != c_.tables.imports.end() && import->second.module == "erlang";
        if (c_.tables.functions.count(name) || (import != c_.tables.imports.end() && !from_erlang))
          return false;
        if (!from_erlang && !c_.tables.auto_imports(name)) return false;
      } else if (c.target->is(ExprKind::kRemote)) {
        const auto& r = c.target->as<RemoteExpr>();
        const bool erlang = r.module->is(ExprKind::kAtom) && r.module->as<AtomExpr>().name == "erlang";
        if (!erlang || !r.function->is(ExprKind::kAtom)) return false;
        name.name = r.function->as<AtomExpr>().name;
        if (is_guard_operator(name.name, name.arity)) return all(c.args);
      } else {
        return false;
      }
      const Builtin* b = find_builtin(name.name, name.arity);
      if (!b || !b->guard) return false;
      if (name.name == "is_record" && c.args.size() > 1 && !c.args[1]->is(ExprKind::kAtom)) return false;
      return all(c.args);
    }
    default: return false;
  }
}

}  // namespace vmrun::compile
