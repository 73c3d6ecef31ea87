// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/attribute_terms.hpp"

#include "runtime/compile/source/diagnostics.hpp"
#include "runtime/compile/source/source.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"

namespace vmrun::compile {

namespace {

bool is_number(const Expr& e) { return e.is(ExprKind::kInteger) || e.is(ExprKind::kFloat); }

bool is_signed_number(const Expr& e) {
  if (!e.is(ExprKind::kUnary)) return is_number(e);
  const auto& u = e.as<UnaryExpr>();
  return (u.op == Tok::kPlus || u.op == Tok::kMinus) && is_number(*u.operand);
}

std::string list_text(ExprList items) {
  std::string text;
  for (const Expr* e : items) text += (text.empty() ? "" : ",") + term_text(*e);
  return text;
}

}  // namespace

bool is_term(const Expr& e, bool name_arity) {
  bool good = true;
  switch (e.kind) {
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return true;
    case ExprKind::kUnary: return is_signed_number(e);
    case ExprKind::kBinaryOp: {
      const auto& op = e.as<BinaryOpExpr>();
      return name_arity && op.op == Tok::kSlash && op.left->is(ExprKind::kAtom) &&
             op.right->is(ExprKind::kInteger);
    }
    case ExprKind::kMap:
      if (e.as<MapExpr>().base) return false;
      for (const MapField& f : e.as<MapExpr>().fields)
        good = good && !f.exact && is_term(*f.key, false) && is_term(*f.value, name_arity);
      return good;
    case ExprKind::kBinary:
      for (const Segment& s : e.as<BinaryExpr>().segments) {
        const bool plain = s.value->is(ExprKind::kString) || is_signed_number(*s.value) ||
                           (s.value->is(ExprKind::kBinary) && is_term(*s.value, false));
        good = good && plain && (!s.size || s.size->is(ExprKind::kInteger));
      }
      return good;
    case ExprKind::kCons:
    case ExprKind::kTuple:
      for_each_child(e, [&](const Expr& part) { good = good && is_term(part, name_arity); });
      return good;
    case ExprKind::kFunRemote: {
      const auto& fun = e.as<FunRemoteExpr>();
      return is_term(*fun.module, false) && is_term(*fun.function, false) && is_term(*fun.arity, false);
    }
    default: return false;
  }
}

bool each_element(const Expr& list, const std::function<bool(const Expr&)>& f) {
  if (list.is(ExprKind::kNil)) return true;
  if (!list.is(ExprKind::kCons)) return false;
  const auto& cons = list.as<ConsExpr>();
  for (const Expr* e : cons.elements)
    if (!f(*e)) return false;
  return cons.tail->is(ExprKind::kNil);
}

void each_or_itself(const Expr& e, const std::function<void(const Expr&)>& f) {
  if (!each_element(e, [&](const Expr& item) { return f(item), true; })) f(e);
}

std::optional<FunctionName> name_arity(const Expr& e, bool tuple_too) {
  const Expr* name = nullptr;
  const Expr* arity = nullptr;
  if (e.is(ExprKind::kBinaryOp) && e.as<BinaryOpExpr>().op == Tok::kSlash) {
    name = e.as<BinaryOpExpr>().left;
    arity = e.as<BinaryOpExpr>().right;
  } else if (tuple_too && e.is(ExprKind::kTuple) && e.as<TupleExpr>().elements.size() == 2) {
    name = e.as<TupleExpr>().elements[0];
    arity = e.as<TupleExpr>().elements[1];
  }
  if (!name || !name->is(ExprKind::kAtom) || !arity->is(ExprKind::kInteger)) return std::nullopt;
  const std::int64_t n = arity->as<IntegerExpr>().big() ? -1 : arity->as<IntegerExpr>().value;
  if (n < 0 || n > 255) return std::nullopt;
  return FunctionName{name->as<AtomExpr>().name, static_cast<std::uint32_t>(n)};
}

std::string term_text(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kAtom: return quote_atom(e.as<AtomExpr>().name);
    case ExprKind::kInteger:
      if (e.as<IntegerExpr>().big()) return std::string(e.as<IntegerExpr>().digits);
      return std::to_string(e.as<IntegerExpr>().value);
    case ExprKind::kNil: return "[]";
    case ExprKind::kTuple: return "{" + list_text(e.as<TupleExpr>().elements) + "}";
    case ExprKind::kCons: {
      const auto& list = e.as<ConsExpr>();
      const bool proper = list.tail->is(ExprKind::kNil);
      return "[" + list_text(list.elements) + (proper ? "" : "|" + term_text(*list.tail)) + "]";
    }
    case ExprKind::kString: {
      std::string text = "\"";
      for (const char32_t c : e.as<StringExpr>().chars) append_utf8(text, c);
      return text + "\"";
    }
    case ExprKind::kBinaryOp: {
      const auto& op = e.as<BinaryOpExpr>();
      return "{" + term_text(*op.left) + "," + term_text(*op.right) + "}";
    }
    default: return "...";
  }
}

}  // namespace vmrun::compile
