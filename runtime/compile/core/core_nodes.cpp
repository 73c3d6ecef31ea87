// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/core_nodes.hpp"

#include <algorithm>

#include "vm/term/arith.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"

namespace vmrun::compile {

Term Nodes::atom(std::string_view name) {
  auto [it, fresh] = atoms_.try_emplace(name);
  if (fresh) it->second = try_intern_atom(name);
  if (!it->second.is_value()) {
    session_.diagnostics.error({}, "the atom table is full");
    it->second = Term::nil();
  }
  return it->second;
}

core::Expr* Nodes::integer_literal(Loc loc, std::int64_t v) { return literal(loc, make_integer(heap_, v)); }

core::Var* Nodes::fresh(std::string_view name) { return make<Var>(Var{name}); }

core::Expr* Nodes::call(Loc loc, std::string_view module, std::string_view name,
                        std::initializer_list<CExpr*> args) {
  return make<core::Call>(loc, atom_literal({}, module), atom_literal({}, name),
                          copy(args.begin(), args.size()));
}

core::Expr* Nodes::tuple(Loc loc, const std::vector<CExpr*>& elements) {
  if (!std::all_of(elements.begin(), elements.end(), is_literal))
    return make<core::Tuple>(loc, keep(elements));
  if (elements.empty()) return literal(loc, empty_tuple());
  Term* hp = heap_.alloc(elements.size() + 1);
  hp[0] = Term::header(Term::Sub::kTuple, elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) hp[i + 1] = literal_of(elements[i]);
  return literal(loc, Term::boxed(hp));
}

core::Expr* Nodes::cons(Loc loc, CExpr* head, CExpr* tail) {
  if (!is_literal(head) || !is_literal(tail)) return make<core::Cons>(loc, head, tail);
  Term* hp = heap_.alloc(2);
  return literal(loc, make_cons(hp, literal_of(head), literal_of(tail)));
}

Term Nodes::string_term(std::u32string_view chars, Term tail) {
  if (chars.empty()) return tail;
  Term* hp = heap_.alloc(chars.size() * 2);
  for (std::size_t i = chars.size(); i-- > 0;)
    tail = make_cons(hp, Term::small(static_cast<SWord>(chars[i])), tail);
  return tail;
}

Term Nodes::integer_term(const IntegerExpr& e) {
  if (!e.big()) return make_integer(heap_, e.value);
  Term t = integer_from_text(heap_, e.digits, e.base);
  if (t.is_value()) return t;
  session_.diagnostics.error(e.loc, "integer literal is too large");
  return Term::small(0);
}

core::Expr* Nodes::fold_operator(Loc loc, std::string_view name, const std::vector<CExpr*>& args) {
  if (!std::all_of(args.begin(), args.end(), is_literal)) return nullptr;
  struct Row {
    std::string_view name;
    std::size_t arity;
    ArithOp op;
  };
  static constexpr Row kRows[] = {
      {"+", 2, ArithOp::kAdd},     {"-", 2, ArithOp::kSubtract}, {"*", 2, ArithOp::kMultiply},
      {"/", 2, ArithOp::kDivide},  {"div", 2, ArithOp::kDiv},    {"rem", 2, ArithOp::kRem},
      {"band", 2, ArithOp::kBand}, {"bor", 2, ArithOp::kBor},    {"bxor", 2, ArithOp::kBxor},
      {"bsl", 2, ArithOp::kBsl},   {"bsr", 2, ArithOp::kBsr},    {"-", 1, ArithOp::kNegate},
      {"+", 1, ArithOp::kPlus},    {"bnot", 1, ArithOp::kBnot},
  };
  for (const Row& row : kRows) {
    if (row.name != name || row.arity != args.size()) continue;
    const Term a = literal_of(args[0]), b = args.size() > 1 ? literal_of(args[1]) : Term::small(0);
    if (!a.is_number() || !b.is_number()) return nullptr;
    // A program with `1 bsl 1000000` wants to compute the number when it runs, not to have it in
    // its file.
    if (row.op == ArithOp::kBsl && (!b.is_small() || b.small_value() > 1024)) return nullptr;
    const Term t = arith(row.op, heap_, a, b);
    return t.is_value() ? literal(loc, t) : nullptr;
  }
  return nullptr;
}

void Nodes::let(Block& block, Var* var, CExpr* arg) {
  block.push_back({Statement::Kind::kLet, arg->loc, copy(&var, 1), arg});
}

core::Expr* Nodes::named(CExpr* e, Block& block, std::string_view name) {
  if (is_literal(e)) return literal(e->loc, literal_of(e));
  if (e->kind == core::Kind::kVar) return ref(e->as<core::VarRef>().var);
  Var* v = fresh(name);
  let(block, v, e);
  return ref(v);
}

/// Nests the statements of a block around its result.
core::Expr* Nodes::finish(Block& block, CExpr* result) {
  for (std::size_t i = block.size(); i-- > 0;) {
    Statement& s = block[i];
    switch (s.kind) {
      case Statement::Kind::kLet: result = make<core::Let>(s.loc, s.vars, s.arg, result); break;
      case Statement::Kind::kSeq: result = make<core::Seq>(s.loc, s.arg, result); break;
      case Statement::Kind::kMatch: {
        std::vector<core::Clause*> clauses{
            make<core::Clause>(core::Clause{s.loc, copy(&s.pattern, 1), s.guard, result})};
        clauses.insert(clauses.end(), s.otherwise.begin(), s.otherwise.end());
        result = make<core::Case>(s.loc, copy(&s.arg, 1), keep(clauses), s.fail);
        break;
      }
    }
  }
  block.clear();
  return result;
}

}  // namespace vmrun::compile
