// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_expr.hpp"

#include <algorithm>

#include "runtime/compile/lower/lower_cond.hpp"
#include "runtime/compile/lower/lower_control.hpp"
#include "runtime/compile/lower/lower_data.hpp"
#include "runtime/compile/lower/lower_fun.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile::lower {

using namespace core;

std::vector<Arg> LowerExpr::values(ExprList es) {
  std::vector<Arg> out;
  out.reserve(es.size());
  for (Expr* e : es) out.push_back(value(e));
  return out;
}

void LowerExpr::multi_value(Expr* e, std::span<Var* const> vars) {
  if (e->kind == Kind::kValues) {
    const auto vs = values(e->as<Values>().elements);
    for (std::size_t i = 0; i < vars.size(); ++i) c_.bind(vars[i], vs[i]);
    return;
  }
  const BlockId join = blocks_.new_join(vars.size());
  to(e, {Dest::kJoin, join});
  blocks_.start(join);
  for (std::size_t i = 0; i < vars.size(); ++i) c_.bind(vars[i], Arg::of(blocks_.cur().params[i]));
}

void LowerExpr::let(Let& l) {
  if (l.vars.size() == 1) {
    const Arg v = value(l.arg);
    c_.bind(l.vars[0], v);
  } else {
    multi_value(l.arg, l.vars);
  }
}

void LowerExpr::to(Expr* e, Dest d) {
  for (;;) {
    switch (e->kind) {
      case Kind::kLet:
        let(e->as<Let>());
        e = e->as<Let>().body;
        continue;
      case Kind::kSeq: {
        Expr* first = e->as<Seq>().first;
        if (first->kind == Kind::kCase || first->kind == Kind::kReceive || first->kind == Kind::kTry) {
          const BlockId join = blocks_.new_join(0);
          to(first, {Dest::kJoin, join});
          blocks_.start(join);
        } else {
          value(first);
        }
        e = e->as<Seq>().second;
        continue;
      }
      case Kind::kLetrec: e = e->as<Letrec>().body; continue;
      case Kind::kCase: c_.control.case_of(e->as<Case>(), d); return;
      case Kind::kReceive: c_.control.receive(e->as<Receive>(), d); return;
      case Kind::kTry: c_.control.try_of(e->as<Try>(), d); return;
      case Kind::kCatch: c_.control.catch_of(e->as<Catch>(), d); return;
      case Kind::kValues: {
        auto vs = values(e->as<Values>().elements);
        if (d.kind == Dest::kJoin && !fn_.blocks[d.join].params.empty()) blocks_.jump(d.join, std::move(vs));
        else blocks_.finish(d, vs.empty() ? Arg::lit(Term::nil()) : vs[0]);
        return;
      }
      case Kind::kAndAlso:
      case Kind::kOrElse: {
        if (c_.guard_fail != kNone) break;
        const bool is_and = e->kind == Kind::kAndAlso;
        Expr* left = is_and ? e->as<AndAlso>().left : e->as<OrElse>().left;
        const BlockId more = blocks_.new_block(), done = blocks_.new_block();
        c_.conds.cond(left, is_and ? more : done, is_and ? done : more, kNone);
        blocks_.start(done);
        blocks_.finish(d, Arg::lit(is_and ? atoms::false_ : atoms::true_));
        blocks_.start(more);
        e = is_and ? e->as<AndAlso>().right : e->as<OrElse>().right;
        continue;
      }
      default: break;
    }
    blocks_.finish(d, value(e));
    return;
  }
}

Arg LowerExpr::value(Expr* e) {
  for (;;) {
    switch (e->kind) {
      case Kind::kLiteral: return Arg::lit(e->as<Literal>().value);
      case Kind::kVar: return c_.lookup(e->as<VarRef>().var);
      case Kind::kFunRef: return c_.funs.fun_ref(e->as<FunRef>());
      case Kind::kLambda: return c_.funs.lambda(e->as<Lambda>());
      case Kind::kCons: return c_.data.cons(e);
      case Kind::kTuple: return c_.data.tuple(e->as<Tuple>());
      case Kind::kMap: return c_.data.map(e->as<Map>());
      case Kind::kRecord: return c_.data.record(e->as<Record>());
      case Kind::kBinary: return c_.data.binary(e->as<Binary>());
      case Kind::kPrimop: return primop(e->as<Primop>());
      case Kind::kCall: return call(e->as<Call>());
      case Kind::kApplyLetrec: return apply_letrec(e->as<ApplyLetrec>());
      case Kind::kApplyLocal: {
        auto& a = e->as<ApplyLocal>();
        auto args = values(a.args);
        const auto it =
            c_.module.local.find(ModuleContext::key(a.name, static_cast<std::uint32_t>(args.size())));
        if (it == c_.module.local.end()) {
          c_.module.errors.push_back("call of an undefined function " + std::string(atom_text(a.name)));
          return Arg::lit(Term::nil());
        }
        return blocks_.emit_value(Op::kCall, std::move(args), a.loc, it->second);
      }
      case Kind::kApply: {
        auto& a = e->as<Apply>();
        const Arg fun = value(a.fun);
        return c_.funs.apply_value(fun, values(a.args), a.loc);
      }
      case Kind::kAndAlso:
      case Kind::kOrElse:
        if (c_.guard_fail != kNone &&
            !c_.conds.boolean(e)) {  // compared with something: what stands on the right may be any value
          const bool is_and = e->kind == Kind::kAndAlso;
          const BlockId more = blocks_.new_block(), done = blocks_.new_block(), join = blocks_.new_join(1);
          c_.conds.cond(is_and ? e->as<AndAlso>().left : e->as<OrElse>().left, is_and ? more : done,
                        is_and ? done : more, c_.guard_fail);
          blocks_.start(done);
          blocks_.jump(join, {Arg::lit(is_and ? atoms::false_ : atoms::true_)});
          blocks_.start(more);
          const Arg right = value(is_and ? e->as<AndAlso>().right : e->as<OrElse>().right);
          blocks_.jump(join, {right});
          blocks_.start(join);
          return Arg::of(blocks_.cur().params[0]);
        }
        [[fallthrough]];
      case Kind::kAllOf:
      case Kind::kAnyOf:
        if (c_.guard_fail != kNone || c_.conds.boolean(e)) return c_.conds.cond_value(e);
        break;
      case Kind::kLet:
        let(e->as<Let>());
        e = e->as<Let>().body;
        continue;
      case Kind::kLetrec: e = e->as<Letrec>().body; continue;
      case Kind::kValues: return value(e->as<Values>().elements[0]);
      default: break;
    }
    const BlockId join = blocks_.new_join(1);
    to(e, {Dest::kJoin, join});
    blocks_.start(join);
    return Arg::of(blocks_.cur().params[0]);
  }
}

Arg LowerExpr::call_bif(const BifInfo* bif, const std::vector<Arg>& args, Loc loc) {
  Instr i{.op = Op::kBif};
  i.bif = bif;
  i.loc = loc;
  i.args = arena_.copy(args);
  ValueId v = fn_.new_value();
  i.dsts = arena_.copy(&v, 1);
  blocks_.fallible(i, bif->safe ? kNone : c_.guard_fail);
  return Arg::of(v);
}

namespace {

bool is_proper_list(Term t) {
  while (t.is_list()) t = t.tail();
  return t.is_nil();
}

}  // namespace

Arg LowerExpr::call_function(Term module, Term function, std::vector<Arg> args, Loc loc) {
  const BifInfo* known = module == atoms::erlang && function.is_atom()
                             ? find_erlang_function(function, static_cast<std::uint32_t>(args.size()))
                             : nullptr;
  args.insert(args.begin(), {Arg::lit(module), Arg::lit(function)});
  Arg v = blocks_.emit_value(Op::kCallExt, args, loc);
  if (known && known->never_returns) {
    blocks_.cur().end = BlockEnd::kUnreachable;
    blocks_.start(blocks_.new_block());
  }
  return v;
}

/// Whether a call is Core's form of an access of a field (core_language.hpp).
static bool is_record_access(const Call& c) {
  return c.args.size() == 3 && c.args[1]->kind == Kind::kLiteral && c.args[2]->kind == Kind::kLiteral &&
         c.args[2]->as<Literal>().value.is_atom();
}

Arg LowerExpr::record_field(Call& c) {
  Instr i{.op = Op::kGetRecordField};
  i.loc = c.loc;
  Arg record = value(c.args[0]);
  if (record.is_literal()) record = blocks_.emit_value(Op::kMove, {record});
  const std::vector<Arg> args{record, Arg::lit(c.args[1]->as<Literal>().value),
                              Arg::lit(c.args[2]->as<Literal>().value)};
  i.args = arena_.copy(args);
  ValueId v = fn_.new_value();
  i.dsts = arena_.copy(&v, 1);
  blocks_.fallible(i, c_.guard_fail);
  return Arg::of(v);
}

Arg LowerExpr::call(Call& c) {
  if (c.module->kind == Kind::kLiteral && c.function->kind == Kind::kLiteral) {
    const Term mod = c.module->as<Literal>().value, fun = c.function->as<Literal>().value;
    if (mod == atoms::erlang && fun.is_atom()) {
      const auto arity = static_cast<std::uint32_t>(c.args.size());
      const std::string_view name = atom_text(fun);
      if (const BifInfo* bif = find_bif(fun, arity)) {
        if (name == "not" && c_.conds.boolean(c.args[0])) return c_.conds.cond_value(&c);
        return call_bif(bif, values(c.args), c.loc);
      }
      if (name == "is_record" && c_.conds.boolean(&c)) return c_.conds.cond_value(&c);
      if (name == "get_record_field" && is_record_access(c)) return record_field(c);
      if (c_.guard_fail == kNone) {
        if (name == "!" && arity == 2) return blocks_.emit_value(Op::kSend, values(c.args), c.loc);
        if (name == "apply" && arity == 3) {
          // A list of known length is not built.
          std::vector<Expr*> given;
          Expr* rest = c.args[2];
          for (; rest->kind == Kind::kCons; rest = rest->as<Cons>().tail)
            given.push_back(rest->as<Cons>().head);
          if (rest->kind == Kind::kLiteral && is_proper_list(rest->as<Literal>().value)) {
            const Arg m = value(c.args[0]), f = value(c.args[1]);
            auto args = values(given);
            for (Term t = rest->as<Literal>().value; t.is_list(); t = t.tail())
              args.push_back(Arg::lit(t.head()));
            if (m.is_literal() && f.is_literal() && m.literal.is_atom() && f.literal.is_atom())
              return call_function(m.literal, f.literal, std::move(args), c.loc);
            args.push_back(m);
            args.push_back(f);
            return blocks_.emit_value(Op::kApply, std::move(args), c.loc);
          }
        }
        return call_function(mod, fun, values(c.args), c.loc);
      }
      c_.module.errors.push_back("call of erlang:" + std::string(name) + " in a guard");
      return Arg::lit(atoms::false_);
    }
    if (mod.is_atom() && fun.is_atom()) return call_function(mod, fun, values(c.args), c.loc);
  }
  const Arg mod = value(c.module), fun = value(c.function);
  auto args = values(c.args);
  args.push_back(mod);
  args.push_back(fun);
  return blocks_.emit_value(Op::kApply, std::move(args), c.loc);
}

Arg LowerExpr::apply_letrec(ApplyLetrec& a) {
  auto args = values(a.args);
  for (Var* v : a.fun->note->free) args.push_back(c_.lookup(v));
  return blocks_.emit_value(Op::kCall, std::move(args), a.loc, a.fun->note->index);
}

Arg LowerExpr::primop(Primop& p) {
  auto args = values(p.args);
  switch (p.op) {
    case Prim::kBuildStacktrace: return blocks_.emit_value(Op::kBuildStacktrace, std::move(args), p.loc);
    case Prim::kRawRaise: return blocks_.emit_value(Op::kRawRaise, std::move(args), p.loc);
    case Prim::kBsInitWritable: return blocks_.emit_value(Op::kBsInitWritable, std::move(args), p.loc);
  }
  return Arg::lit(Term::nil());
}

}  // namespace vmrun::compile::lower
