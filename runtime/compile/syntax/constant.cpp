// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/constant.hpp"

#include <algorithm>

#include "runtime/compile/source/diagnostics.hpp"

namespace vmrun::compile {

namespace {

using Kind = Constant::Kind;

Constant integer(std::int64_t v) {
  Constant c{Kind::kInteger};
  c.integer = v;
  return c;
}
Constant real(double v) {
  Constant c{Kind::kFloat};
  c.real = v;
  return c;
}
Constant boolean(bool v) {
  Constant c{Kind::kAtom};
  c.atom = v ? "true" : "false";
  return c;
}

double as_real(const Constant& c) {
  return c.kind == Kind::kInteger ? static_cast<double>(c.integer) : c.real;
}

/// Compares in Erlang's term order, for the kinds of constants: number < atom < tuple < list.
int compare(const Constant& a, const Constant& b) {
  auto rank = [](const Constant& c) { return c.is_number() ? 0 : static_cast<int>(c.kind); };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (a.is_number()) {
    if (a.kind == Kind::kInteger && b.kind == Kind::kInteger)
      return a.integer < b.integer ? -1 : a.integer > b.integer;
    double x = as_real(a), y = as_real(b);
    return x < y ? -1 : x > y;
  }
  if (a.kind == Kind::kAtom) return a.atom < b.atom ? -1 : a.atom > b.atom;
  if (a.kind == Kind::kTuple && a.items.size() != b.items.size())
    return a.items.size() < b.items.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.items.size() && i < b.items.size(); ++i)
    if (int c = compare(a.items[i], b.items[i])) return c;
  return a.items.size() < b.items.size() ? -1 : a.items.size() > b.items.size();
}

bool identical(const Constant& a, const Constant& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!identical(a.items[i], b.items[i])) return false;
  return a.integer == b.integer && a.real == b.real && a.atom == b.atom;
}

}  // namespace

std::optional<Constant> ConstantEvaluator::evaluate(const Expr& e, std::string& problem, Loc& where) {
  auto unsupported = [&](std::string what) -> std::optional<Constant> {
    problem = std::move(what);
    where = e.loc;
    return std::nullopt;
  };
  switch (e.kind) {
    case ExprKind::kInteger:
      if (e.as<IntegerExpr>().big()) return unsupported("an integer too large for a condition");
      return integer(e.as<IntegerExpr>().value);
    case ExprKind::kFloat: return real(e.as<FloatExpr>().value);
    case ExprKind::kAtom: {
      Constant c{Kind::kAtom};
      c.atom = e.as<AtomExpr>().name;
      return c;
    }
    case ExprKind::kNil: return Constant{Kind::kNil};
    case ExprKind::kString: {
      Constant c{e.as<StringExpr>().chars.empty() ? Kind::kNil : Kind::kList};
      for (char32_t ch : e.as<StringExpr>().chars) c.items.push_back(integer(ch));
      return c;
    }
    case ExprKind::kTuple: {
      Constant c{Kind::kTuple};
      for (const Expr* item : e.as<TupleExpr>().elements) {
        auto v = evaluate(*item, problem, where);
        if (!v) return v;
        c.items.push_back(std::move(*v));
      }
      return c;
    }
    case ExprKind::kCons: {
      const auto& list = e.as<ConsExpr>();
      Constant c{Kind::kList};
      for (const Expr* item : list.elements) {
        auto v = evaluate(*item, problem, where);
        if (!v) return v;
        c.items.push_back(std::move(*v));
      }
      auto tail = evaluate(*list.tail, problem, where);
      if (!tail) return tail;
      if (tail->kind != Kind::kNil && tail->kind != Kind::kList) return unsupported("an improper list");
      c.items.insert(c.items.end(), tail->items.begin(), tail->items.end());
      return c;
    }
    case ExprKind::kUnary: {
      const auto& u = e.as<UnaryExpr>();
      auto v = evaluate(*u.operand, problem, where);
      if (!v) return v;
      if (u.op == Tok::kNot) {
        if (v->is_atom("true")) return boolean(false);
        if (v->is_atom("false")) return boolean(true);
        return std::nullopt;
      }
      if (!v->is_number()) return std::nullopt;
      if (u.op == Tok::kPlus) return v;
      if (u.op == Tok::kBnot)
        return v->kind == Kind::kInteger ? std::optional(integer(~v->integer)) : std::nullopt;
      return v->kind == Kind::kInteger ? integer(-v->integer) : real(-v->real);
    }
    case ExprKind::kBinaryOp: return operation(e.as<BinaryOpExpr>(), problem, where);
    case ExprKind::kCall: return call(e.as<CallExpr>(), problem, where);
    case ExprKind::kVar: return unsupported(format_message("variable '%.*s'", VIEW(e.as<VarExpr>().name)));
    default: return unsupported("only literals, operators, guard tests and defined(NAME) are allowed");
  }
}

std::optional<Constant> ConstantEvaluator::operation(const BinaryOpExpr& e, std::string& problem,
                                                     Loc& where) {
  auto a = evaluate(*e.left, problem, where);
  if (!a) return a;
  if (e.op == Tok::kAndalso) {
    if (a->is_atom("false")) return a;
    return a->is_atom("true") ? evaluate(*e.right, problem, where) : std::nullopt;
  }
  if (e.op == Tok::kOrelse) {
    if (a->is_atom("true")) return a;
    return a->is_atom("false") ? evaluate(*e.right, problem, where) : std::nullopt;
  }
  auto b = evaluate(*e.right, problem, where);
  if (!b) return b;
  auto is_bool = [](const Constant& c) { return c.is_atom("true") || c.is_atom("false"); };
  const bool ints = a->kind == Kind::kInteger && b->kind == Kind::kInteger;
  const bool numbers = a->is_number() && b->is_number();
  std::int64_t x = a->integer, y = b->integer, result = 0;
  switch (e.op) {
    case Tok::kEqEq: return boolean(compare(*a, *b) == 0);
    case Tok::kNotEq: return boolean(compare(*a, *b) != 0);
    case Tok::kLess: return boolean(compare(*a, *b) < 0);
    case Tok::kLessEq: return boolean(compare(*a, *b) <= 0);
    case Tok::kGreater: return boolean(compare(*a, *b) > 0);
    case Tok::kGreaterEq: return boolean(compare(*a, *b) >= 0);
    case Tok::kExactEq: return boolean(identical(*a, *b));
    case Tok::kExactNe: return boolean(!identical(*a, *b));
    case Tok::kAnd:
    case Tok::kOr:
    case Tok::kXor: {
      if (!is_bool(*a) || !is_bool(*b)) return std::nullopt;
      const bool p = a->is_atom("true"), q = b->is_atom("true");
      return boolean(e.op == Tok::kAnd ? p && q : e.op == Tok::kOr ? p || q : p != q);
    }
    case Tok::kPlusPlus: {
      const bool lists = (a->kind == Kind::kNil || a->kind == Kind::kList) &&
                         (b->kind == Kind::kNil || b->kind == Kind::kList);
      if (!lists) return std::nullopt;
      a->items.insert(a->items.end(), b->items.begin(), b->items.end());
      if (!a->items.empty()) a->kind = Kind::kList;
      return a;
    }
    case Tok::kPlus:
      if (ints && !__builtin_add_overflow(x, y, &result)) return integer(result);
      return numbers ? std::optional(real(as_real(*a) + as_real(*b))) : std::nullopt;
    case Tok::kMinus:
      if (ints && !__builtin_sub_overflow(x, y, &result)) return integer(result);
      return numbers ? std::optional(real(as_real(*a) - as_real(*b))) : std::nullopt;
    case Tok::kStar:
      if (ints && !__builtin_mul_overflow(x, y, &result)) return integer(result);
      return numbers ? std::optional(real(as_real(*a) * as_real(*b))) : std::nullopt;
    case Tok::kSlash:
      if (!numbers || as_real(*b) == 0) return std::nullopt;
      return real(as_real(*a) / as_real(*b));
    case Tok::kDiv:
    case Tok::kRem:
      if (!ints || y == 0 || y == -1)
        return ints && y == -1 ? std::optional(integer(e.op == Tok::kRem ? 0 : -x)) : std::nullopt;
      return integer(e.op == Tok::kDiv ? x / y : x % y);
    case Tok::kBand: return ints ? std::optional(integer(x & y)) : std::nullopt;
    case Tok::kBor: return ints ? std::optional(integer(x | y)) : std::nullopt;
    case Tok::kBxor: return ints ? std::optional(integer(x ^ y)) : std::nullopt;
    case Tok::kBsl:
    case Tok::kBsr: {
      if (!ints || y < -62 || y > 62) return std::nullopt;
      const std::int64_t shift = e.op == Tok::kBsl ? y : -y;
      return integer(shift >= 0 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << shift)
                                : x >> -shift);
    }
    default:
      problem = "this operator";
      where = e.loc;
      return std::nullopt;
  }
}

std::optional<Constant> ConstantEvaluator::call(const CallExpr& e, std::string& problem, Loc& where) {
  if (!e.target->is(ExprKind::kAtom)) {
    problem = "only calls of guard tests and defined(NAME) are allowed";
    where = e.loc;
    return std::nullopt;
  }
  const std::string_view name = e.target->as<AtomExpr>().name;
  if (name == "defined" && e.args.size() == 1) {
    if (e.args[0]->is(ExprKind::kVar)) return boolean(is_defined_(e.args[0]->as<VarExpr>().name));
    if (e.args[0]->is(ExprKind::kAtom)) return boolean(is_defined_(e.args[0]->as<AtomExpr>().name));
  }
  std::vector<Constant> args;
  for (const Expr* a : e.args) {
    auto v = evaluate(*a, problem, where);
    if (!v) return v;
    args.push_back(std::move(*v));
  }
  if (args.size() == 1) {
    const Constant& a = args[0];
    if (name == "is_atom") return boolean(a.kind == Kind::kAtom);
    if (name == "is_integer") return boolean(a.kind == Kind::kInteger);
    if (name == "is_float") return boolean(a.kind == Kind::kFloat);
    if (name == "is_number") return boolean(a.is_number());
    if (name == "is_boolean") return boolean(a.is_atom("true") || a.is_atom("false"));
    if (name == "is_list") return boolean(a.kind == Kind::kNil || a.kind == Kind::kList);
    if (name == "is_tuple") return boolean(a.kind == Kind::kTuple);
    if (name == "is_map" || name == "is_binary" || name == "is_pid") return boolean(false);
    const bool list = a.kind == Kind::kNil || a.kind == Kind::kList;
    if (name == "length" && list) return integer(static_cast<std::int64_t>(a.items.size()));
    if (name == "hd" && a.kind == Kind::kList) return a.items[0];
    if (name == "abs" && a.kind == Kind::kInteger) return integer(a.integer < 0 ? -a.integer : a.integer);
    if ((name == "tuple_size" || name == "size") && a.kind == Kind::kTuple)
      return integer(static_cast<std::int64_t>(a.items.size()));
    if (name == "length" || name == "hd" || name == "abs" || name == "tuple_size" || name == "size")
      return std::nullopt;
  }
  if (name == "element" && args.size() == 2) {
    const bool good = args[0].kind == Kind::kInteger && args[1].kind == Kind::kTuple &&
                      args[0].integer >= 1 &&
                      args[0].integer <= static_cast<std::int64_t>(args[1].items.size());
    return good ? std::optional(args[1].items[static_cast<std::size_t>(args[0].integer) - 1]) : std::nullopt;
  }
  problem = format_message("%.*s/%zu is not allowed here", VIEW(name), e.args.size());
  where = e.loc;
  return std::nullopt;
}

}  // namespace vmrun::compile
