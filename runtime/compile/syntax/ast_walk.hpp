// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/syntax/ast.hpp"

/// Visiting the parts of an expression in source order. Constant operations; any thread that owns
/// the tree.
namespace vmrun::compile {

template <class F>
void for_each_child(const Clause& c, F&& visit) {
  for (const Expr* p : c.patterns) visit(*p);
  for (const ExprList& tests : c.guards)
    for (const Expr* g : tests) visit(*g);
  for (const Expr* e : c.body) visit(*e);
}

/// Calls visit(const Expr&) for each direct sub-expression. The right side of a match comes first,
/// because it is evaluated first; the qualifiers of a comprehension come before its template.
template <class F>
void for_each_child(const Expr& e, F&& visit) {
  auto list = [&](ExprList items) {
    for (const Expr* i : items) visit(*i);
  };
  auto clauses = [&](ClauseList items) {
    for (const Clause* c : items) for_each_child(*c, visit);
  };
  auto maybe = [&](const Expr* x) {
    if (x) visit(*x);
  };
  switch (e.kind) {
    case ExprKind::kVar:
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil:
    case ExprKind::kRecordIndex:
    case ExprKind::kFunLocal: return;
    case ExprKind::kCons:
      list(e.as<ConsExpr>().elements);
      visit(*e.as<ConsExpr>().tail);
      return;
    case ExprKind::kTuple: list(e.as<TupleExpr>().elements); return;
    case ExprKind::kMap:
      maybe(e.as<MapExpr>().base);
      for (const MapField& f : e.as<MapExpr>().fields) {
        visit(*f.key);
        visit(*f.value);
      }
      return;
    case ExprKind::kBinary:
      for (const Segment& s : e.as<BinaryExpr>().segments) {
        visit(*s.value);
        maybe(s.size);
      }
      return;
    case ExprKind::kRecord:
      maybe(e.as<RecordExpr>().base);
      for (const RecordFieldInit& f : e.as<RecordExpr>().fields) visit(*f.value);
      return;
    case ExprKind::kRecordField: visit(*e.as<RecordFieldExpr>().base); return;
    case ExprKind::kUnary: visit(*e.as<UnaryExpr>().operand); return;
    case ExprKind::kBinaryOp:
      visit(*e.as<BinaryOpExpr>().left);
      visit(*e.as<BinaryOpExpr>().right);
      return;
    case ExprKind::kMatch:
      visit(*e.as<MatchExpr>().right);
      visit(*e.as<MatchExpr>().left);
      return;
    case ExprKind::kMaybeMatch:
      visit(*e.as<MaybeMatchExpr>().right);
      visit(*e.as<MaybeMatchExpr>().left);
      return;
    case ExprKind::kCall:
      visit(*e.as<CallExpr>().target);
      list(e.as<CallExpr>().args);
      return;
    case ExprKind::kRemote:
      visit(*e.as<RemoteExpr>().module);
      visit(*e.as<RemoteExpr>().function);
      return;
    case ExprKind::kFunRemote:
      visit(*e.as<FunRemoteExpr>().module);
      visit(*e.as<FunRemoteExpr>().function);
      visit(*e.as<FunRemoteExpr>().arity);
      return;
    case ExprKind::kFun: clauses(e.as<FunExpr>().clauses); return;
    case ExprKind::kBlock: list(e.as<BlockExpr>().body); return;
    case ExprKind::kIf: clauses(e.as<IfExpr>().clauses); return;
    case ExprKind::kCase:
      visit(*e.as<CaseExpr>().subject);
      clauses(e.as<CaseExpr>().clauses);
      return;
    case ExprKind::kReceive:
      clauses(e.as<ReceiveExpr>().clauses);
      maybe(e.as<ReceiveExpr>().timeout);
      list(e.as<ReceiveExpr>().timeout_body);
      return;
    case ExprKind::kTry:
      list(e.as<TryExpr>().body);
      clauses(e.as<TryExpr>().of_clauses);
      clauses(e.as<TryExpr>().catch_clauses);
      list(e.as<TryExpr>().after);
      return;
    case ExprKind::kCatch: visit(*e.as<CatchExpr>().body); return;
    case ExprKind::kMaybe:
      list(e.as<MaybeExpr>().body);
      clauses(e.as<MaybeExpr>().else_clauses);
      return;
    case ExprKind::kComprehension: {
      const auto& c = e.as<ComprehensionExpr>();
      for (const Qualifier& q : c.qualifiers) {
        for (const Qualifier& part : q.parts()) visit(*part.source);
        for (const Qualifier& part : q.parts()) {
          maybe(part.pattern);
          maybe(part.value_pattern);
        }
      }
      for (const ComprehensionValue& made : c.values) {
        maybe(made.key);
        visit(*made.value);
      }
      return;
    }
  }
}

/// Where an expression begins; an operator's own place is that of the operator.
inline Loc first_loc(const Expr& e) {
  Loc first = e.loc;
  for_each_child(e, [&](const Expr& part) {
    const Loc loc = first_loc(part);
    if (loc.file == first.file &&
        (loc.line < first.line || (loc.line == first.line && loc.column < first.column)))
      first = loc;
  });
  return first;
}

}  // namespace vmrun::compile
