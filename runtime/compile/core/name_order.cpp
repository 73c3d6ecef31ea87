// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/name_order.hpp"

#include <algorithm>
#include <vector>

#include "runtime/compile/syntax/ast_walk.hpp"

namespace vmrun::compile {
namespace {

/// Whether the parts are operands, which are evaluated before the operation: those are counted from
/// the right.
bool has_operands(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kCons:
    case ExprKind::kTuple:
    case ExprKind::kBinary:
    case ExprKind::kRecord:
    case ExprKind::kBinaryOp: return true;
    case ExprKind::kCall: {
      const Expr& target = *e.as<CallExpr>().target;
      return target.is(ExprKind::kAtom) || target.is(ExprKind::kRemote);
    }
    default: return false;
  }
}

}  // namespace

void NameOrder::clear() {
  numbers_.clear();
  next_ = 0;
}

void NameOrder::index_comprehension(const ComprehensionExpr& e) {
  for (const Qualifier& q : e.qualifiers)
    for (const Qualifier& part : q.parts()) index(*part.source);
  for (const Qualifier& q : e.qualifiers)
    if (q.generates()) numbers_[&q] = next_++;
  for (const ComprehensionValue& made : e.values) {
    if (made.key) index(*made.key);
    index(*made.value);
  }
}

void NameOrder::index_receive(const ReceiveExpr& e) {
  if (e.timeout) index(*e.timeout);
  for (const Expr* part : e.timeout_body) index(*part);
  for (const Clause* clause : e.clauses) for_each_child(*clause, [&](const Expr& part) { index(part); });
}

void NameOrder::index(const Expr& e) {
  if (e.is(ExprKind::kComprehension)) return index_comprehension(e.as<ComprehensionExpr>());
  if (e.is(ExprKind::kReceive)) return index_receive(e.as<ReceiveExpr>());
  std::vector<const Expr*> parts;
  for_each_child(e, [&](const Expr& part) { parts.push_back(&part); });
  if (has_operands(e)) std::reverse(parts.begin(), parts.end());
  for (const Expr* part : parts) index(*part);
  switch (e.kind) {
    case ExprKind::kFun: numbers_[&e] = next_++; return;
    case ExprKind::kFunLocal: {
      // A number is reserved for a function that would call it.
      const auto& f = e.as<FunLocalExpr>();
      next_ += tables_.functions.count({f.name, f.arity}) != 0;
      return;
    }
    case ExprKind::kTry:
    case ExprKind::kMaybe: numbers_[&e] = next_; return;
    default: return;
  }
}

std::uint32_t NameOrder::number(const void* part) {
  const auto found = numbers_.extract(part);
  return found ? found.mapped() : next_++;
}

}  // namespace vmrun::compile
