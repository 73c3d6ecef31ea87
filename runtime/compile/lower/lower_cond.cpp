// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_cond.hpp"

#include "runtime/compile/lower/lower_expr.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile::lower {

using namespace core;

namespace {

const BifInfo* bif_of(const Expr* e) {
  if (e->kind != Kind::kCall) return nullptr;
  const Call& c = e->as<Call>();
  if (c.module->kind != Kind::kLiteral || c.function->kind != Kind::kLiteral) return nullptr;
  if (!(c.module->as<Literal>().value == atoms::erlang)) return nullptr;
  const Term f = c.function->as<Literal>().value;
  return f.is_atom() ? find_bif(f, static_cast<std::uint32_t>(c.args.size())) : nullptr;
}

bool is_record_test(const Expr* e) {
  if (e->kind != Kind::kCall) return false;
  const Call& c = e->as<Call>();
  if (c.module->kind != Kind::kLiteral || c.function->kind != Kind::kLiteral) return false;
  const Term f = c.function->as<Literal>().value;
  if (!(c.module->as<Literal>().value == atoms::erlang) || !f.is_atom() || atom_text(f) != "is_record")
    return false;
  if (c.args.size() < 2 || c.args[1]->kind != Kind::kLiteral || !c.args[1]->as<Literal>().value.is_atom())
    return false;
  if (c.args.size() == 2) return true;
  return c.args.size() == 3 && c.args[2]->kind == Kind::kLiteral &&
         c.args[2]->as<Literal>().value.is_small() && c.args[2]->as<Literal>().value.small_value() > 0;
}

/// Whether it is a test for a native record, of any name or of a constant one.
bool is_native_record_test(const Expr* e) {
  if (e->kind != Kind::kCall) return false;
  const Call& c = e->as<Call>();
  const auto is_atom = [](const Expr* x) {
    return x->kind == Kind::kLiteral && x->as<Literal>().value.is_atom();
  };
  if (!is_atom(c.module) || !(c.module->as<Literal>().value == atoms::erlang) || !is_atom(c.function) ||
      atom_text(c.function->as<Literal>().value) != "is_record")
    return false;
  return c.args.size() == 1 || (c.args.size() == 3 && is_atom(c.args[1]) && is_atom(c.args[2]));
}

bool is_bool_literal(const Expr* e) {
  return e->kind == Kind::kLiteral &&
         (e->as<Literal>().value == atoms::true_ || e->as<Literal>().value == atoms::false_);
}

}  // namespace

/// Whether the result is always true or false, if there is one, and branching on it is worthwhile.
bool LowerCond::boolean(Expr* e) const {
  switch (e->kind) {
    case Kind::kAndAlso: return boolean(e->as<AndAlso>().right) || is_bool_literal(e->as<AndAlso>().right);
    case Kind::kOrElse: return boolean(e->as<OrElse>().right) || is_bool_literal(e->as<OrElse>().right);
    case Kind::kAllOf:
    case Kind::kAnyOf: return true;
    case Kind::kCall: {
      if (is_record_test(e) || is_native_record_test(e)) return true;
      const BifInfo* b = bif_of(e);
      if (!b || !b->boolean) return false;
      if (b->test >= 0) return true;
      const Call& c = e->as<Call>();
      const std::string_view name = b->name;
      if (name == "not") return boolean(c.args[0]);
      if (name == "and" || name == "or") return simple_test(c.args[0]) && simple_test(c.args[1]);
      return false;
    }
    default: return false;
  }
}

/// Whether it is a boolean expression without effects that cannot fail: it may be skipped, or
/// evaluated in any order.
bool LowerCond::simple_test(Expr* e) const {
  const BifInfo* b = bif_of(e);
  if (!b || !b->boolean) return false;
  auto plain = [](Expr* a) { return a->kind == Kind::kVar || a->kind == Kind::kLiteral; };
  const Call& c = e->as<Call>();
  const std::string_view name = b->name;
  if (name == "and" || name == "or") return simple_test(c.args[0]) && simple_test(c.args[1]);
  if (name == "not") return simple_test(c.args[0]);
  if (b->test < 0 || !b->safe) return false;
  for (Expr* a : c.args)
    if (!plain(a)) return false;
  return true;
}

void LowerCond::bool_value(Arg v, BlockId yes, BlockId no, BlockId broken, Loc loc) {
  if (v.is_literal() && (v.literal == atoms::true_ || v.literal == atoms::false_)) {
    blocks_.jump(v.literal == atoms::true_ ? yes : no);
    return;
  }
  if (v.is_literal()) v = blocks_.emit_value(Op::kMove, {v});
  if (broken == no) {
    blocks_.test(Test::kEqExact, {v, Arg::lit(atoms::true_)}, yes, no);
    return;
  }
  const BlockId other = broken == kNone ? blocks_.new_block() : broken;
  Block& b = blocks_.cur();
  b.end = BlockEnd::kSwitchValue;
  b.subject = v;
  b.cases = {{atoms::true_, yes}, {atoms::false_, no}};
  b.fail = other;
  if (broken != kNone) return;
  blocks_.start(other);
  const Arg reason = blocks_.emit_value(Op::kPutTuple, {Arg::lit(atoms::badarg), v});
  blocks_.emit_value(Op::kCallExt, {Arg::lit(atoms::erlang), Arg::lit(atoms::error), reason}, loc);
  blocks_.cur().end = BlockEnd::kUnreachable;
}

bool LowerCond::bif_test(Call& c, BlockId yes, BlockId no, BlockId broken) {
  if (is_native_record_test(&c)) {
    Arg v = c_.exprs.value(c.args[0]);
    if (v.is_literal()) v = blocks_.emit_value(Op::kMove, {v});
    const BlockId record = c.args.size() == 1 ? yes : blocks_.new_block();
    blocks_.test(Test::kRecord, {v}, record, no);
    if (c.args.size() == 1) return true;
    blocks_.start(record);
    blocks_.test(Test::kRecordNamed,
                 {v, Arg::lit(c.args[1]->as<Literal>().value), Arg::lit(c.args[2]->as<Literal>().value)}, yes,
                 no);
    return true;
  }
  if (is_record_test(&c)) {
    Arg v = c_.exprs.value(c.args[0]);
    if (v.is_literal()) v = blocks_.emit_value(Op::kMove, {v});
    const Term tag = c.args[1]->as<Literal>().value;
    if (c.args.size() == 3) {
      blocks_.test(Test::kTagged, {v, Arg::lit(tag)}, yes, no,
                   static_cast<std::uint64_t>(c.args[2]->as<Literal>().value.small_value()));
      return true;
    }
    const BlockId tuple = blocks_.new_block();
    blocks_.test(Test::kTuple, {v}, tuple, no);
    blocks_.start(tuple);
    Instr i{.op = Op::kBif};
    i.bif = find_bif(intern_atom("element"), 2);
    std::vector<Arg> args{Arg::lit(Term::small(1)), v};
    i.args = arena_.copy(args);
    ValueId e = fn_.new_value();
    i.dsts = arena_.copy(&e, 1);
    blocks_.fallible(i, no);
    blocks_.test(Test::kEqExact, {Arg::of(e), Arg::lit(tag)}, yes, no);
    return true;
  }
  const BifInfo* b = bif_of(&c);
  if (!b) return false;
  const std::string_view name = b->name;
  if (name == "not" && (boolean(c.args[0]) || c_.guard_fail != kNone)) {
    cond(c.args[0], no, yes, broken);
    return true;
  }
  if ((name == "and" || name == "or") && boolean(&c)) {
    const BlockId more = blocks_.new_block();
    const bool is_and = name == "and";
    cond(c.args[0], is_and ? more : yes, is_and ? no : more, broken);
    blocks_.start(more);
    cond(c.args[1], yes, no, broken);
    return true;
  }
  if (b->test < 0) return false;
  auto args = c_.exprs.values(c.args);
  if (b->swap) std::swap(args[0], args[1]);
  auto t = static_cast<Test>(b->test);
  if (t == Test::kFunction2) {
    // The instruction needs a plausible arity; in a body a bad one raises badarg.
    const bool good =
        args[1].is_literal() && args[1].literal.is_small() && args[1].literal.small_value() >= 0;
    if (!good) {
      bool_value(c_.exprs.call_bif(b, args, c.loc), yes, no, broken, c.loc);
      return true;
    }
  }
  bool all_literal = true;
  for (Arg a : args) all_literal &= a.is_literal();
  if (all_literal) args[0] = blocks_.emit_value(Op::kMove, {args[0]});
  // The constant of an equality goes to the right, where the optimiser looks for it.
  bool equality = t == Test::kEq || t == Test::kNe || t == Test::kEqExact || t == Test::kNeExact;
  if (equality && args[0].is_literal()) std::swap(args[0], args[1]);
  // A negative exact test becomes the positive one with its exits exchanged, so that later passes
  // have only one shape to optimise.
  if (t == Test::kNeExact) blocks_.test(Test::kEqExact, args, no, yes);
  else blocks_.test(t, args, yes, no);
  return true;
}

void LowerCond::cond(Expr* e, BlockId yes, BlockId no, BlockId broken) {
  const BlockId outer = c_.guard_fail;
  c_.guard_fail = broken;
  switch (e->kind) {
    case Kind::kAllOf: {
      const auto tests = e->as<AllOf>().tests;
      for (std::size_t i = 0; i + 1 < tests.size(); ++i) {
        const BlockId more = blocks_.new_block();
        cond(tests[i], more, no, broken);
        blocks_.start(more);
      }
      if (tests.empty()) blocks_.jump(yes);
      else cond(tests.back(), yes, no, broken);
      break;
    }
    case Kind::kAnyOf: {
      const auto alternatives = e->as<AnyOf>().alternatives;
      for (std::size_t i = 0; i + 1 < alternatives.size(); ++i) {
        const BlockId more = blocks_.new_block();
        cond(alternatives[i], yes, more, more);
        blocks_.start(more);
      }
      if (alternatives.empty()) blocks_.jump(no);
      else cond(alternatives.back(), yes, no, no);
      break;
    }
    case Kind::kAndAlso: {
      const BlockId more = blocks_.new_block();
      cond(e->as<AndAlso>().left, more, no, broken);
      blocks_.start(more);
      cond(e->as<AndAlso>().right, yes, no, broken);
      break;
    }
    case Kind::kOrElse: {
      const BlockId more = blocks_.new_block();
      cond(e->as<OrElse>().left, yes, more, broken);
      blocks_.start(more);
      cond(e->as<OrElse>().right, yes, no, broken);
      break;
    }
    case Kind::kCall:
      if (bif_test(e->as<Call>(), yes, no, broken)) break;
      [[fallthrough]];
    default: bool_value(c_.exprs.value(e), yes, no, broken, e->loc);
  }
  c_.guard_fail = outer;
}

Arg LowerCond::cond_value(Expr* e) {
  const BlockId join = blocks_.new_join(1), yes = blocks_.new_block(), no = blocks_.new_block();
  cond(e, yes, no, c_.guard_fail);
  blocks_.start(yes);
  blocks_.jump(join, {Arg::lit(atoms::true_)});
  blocks_.start(no);
  blocks_.jump(join, {Arg::lit(atoms::false_)});
  blocks_.start(join);
  return Arg::of(blocks_.cur().params[0]);
}

}  // namespace vmrun::compile::lower
