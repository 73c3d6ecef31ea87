// Tests and guards as control flow: a test goes to one of two blocks instead of making true or
// false; in a guard, a test that cannot be done goes to a third (`broken`).

#include "runtime/compile/ssa/lower.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile::ssa {

using namespace core;

namespace {

const BifInfo* bif_of(const Expr* e) {
  if (e->kind != Kind::kCall) return nullptr;
  const Call& c = e->as<Call>();
  if (c.module->kind != Kind::kLiteral || c.function->kind != Kind::kLiteral) return nullptr;
  if (!(c.module->as<Literal>().value == atoms::erlang)) return nullptr;
  Term f = c.function->as<Literal>().value;
  return f.is_atom() ? find_bif(f, static_cast<std::uint32_t>(c.args.size())) : nullptr;
}

bool is_record_test(const Expr* e) {
  if (e->kind != Kind::kCall) return false;
  const Call& c = e->as<Call>();
  if (c.module->kind != Kind::kLiteral || c.function->kind != Kind::kLiteral) return false;
  Term f = c.function->as<Literal>().value;
  if (!(c.module->as<Literal>().value == atoms::erlang) || !f.is_atom() || atom_text(f) != "is_record")
    return false;
  if (c.args.size() < 2 || c.args[1]->kind != Kind::kLiteral || !c.args[1]->as<Literal>().value.is_atom())
    return false;
  if (c.args.size() == 2) return true;
  return c.args.size() == 3 && c.args[2]->kind == Kind::kLiteral &&
         c.args[2]->as<Literal>().value.is_small() && c.args[2]->as<Literal>().value.small_value() > 0;
}

bool is_bool_literal(const Expr* e) {
  return e->kind == Kind::kLiteral &&
         (e->as<Literal>().value == atoms::true_ || e->as<Literal>().value == atoms::false_);
}

}  // namespace

/// Gives true or false whenever it gives anything, and is worth being branched on.
bool Lowerer::boolean(Expr* e) const {
  switch (e->kind) {
    case Kind::kAndAlso: return boolean(e->as<AndAlso>().right) || is_bool_literal(e->as<AndAlso>().right);
    case Kind::kOrElse: return boolean(e->as<OrElse>().right) || is_bool_literal(e->as<OrElse>().right);
    case Kind::kAllOf:
    case Kind::kAnyOf: return true;
    case Kind::kCall: {
      if (is_record_test(e)) return true;
      const BifInfo* b = bif_of(e);
      if (b == nullptr || !b->boolean) return false;
      if (b->test >= 0) return true;
      const Call& c = e->as<Call>();
      std::string_view name = b->name;
      if (name == "not") return boolean(c.args[0]);
      if (name == "and" || name == "or") return simple_test(c.args[0]) && simple_test(c.args[1]);
      return false;
    }
    default: return false;
  }
}

/// A boolean expression without effects that cannot fail: may be skipped or done in any order.
bool Lowerer::simple_test(Expr* e) const {
  const BifInfo* b = bif_of(e);
  if (b == nullptr || !b->boolean) return false;
  auto plain = [](Expr* a) { return a->kind == Kind::kVar || a->kind == Kind::kLiteral; };
  const Call& c = e->as<Call>();
  std::string_view name = b->name;
  if (name == "and" || name == "or") return simple_test(c.args[0]) && simple_test(c.args[1]);
  if (name == "not") return simple_test(c.args[0]);
  if (b->test < 0 || !b->safe) return false;
  for (Expr* a : c.args) {
    if (!plain(a)) return false;
  }
  return true;
}

void Lowerer::bool_value(Arg v, BlockId yes, BlockId no, BlockId broken, Loc loc) {
  if (v.is_literal() && (v.literal == atoms::true_ || v.literal == atoms::false_)) {
    jump(v.literal == atoms::true_ ? yes : no);
    return;
  }
  if (v.is_literal()) v = emit_value(Op::kMove, {v});
  if (broken == no) {
    test(Test::kEqExact, {v, Arg::lit(atoms::true_)}, yes, no);
    return;
  }
  BlockId other = broken == kNone ? new_block() : broken;
  Block& b = cur();
  b.end = BlockEnd::kSwitchValue;
  b.subject = v;
  b.cases = {{atoms::true_, yes}, {atoms::false_, no}};
  b.fail = other;
  if (broken != kNone) return;
  start(other);
  Arg reason = emit_value(Op::kPutTuple, {Arg::lit(atoms::badarg), v});
  emit_value(Op::kCallExt, {Arg::lit(atoms::erlang), Arg::lit(atoms::error), reason}, loc);
  cur().end = BlockEnd::kUnreachable;
}

bool Lowerer::bif_test(Call& c, BlockId yes, BlockId no, BlockId broken) {
  if (is_record_test(&c)) {
    Arg v = value(c.args[0]);
    if (v.is_literal()) v = emit_value(Op::kMove, {v});
    Term tag = c.args[1]->as<Literal>().value;
    if (c.args.size() == 3) {
      test(Test::kTagged, {v, Arg::lit(tag)}, yes, no,
           static_cast<std::uint64_t>(c.args[2]->as<Literal>().value.small_value()));
      return true;
    }
    BlockId tuple = new_block();
    test(Test::kTuple, {v}, tuple, no);
    start(tuple);
    Instr i{.op = Op::kBif};
    i.bif = find_bif(intern_atom("element"), 2);
    std::vector<Arg> args{Arg::lit(Term::small(1)), v};
    i.args = arena_.copy(args);
    ValueId e = fn_.new_value();
    i.dsts = arena_.copy(&e, 1);
    fallible(i, no);
    test(Test::kEqExact, {Arg::of(e), Arg::lit(tag)}, yes, no);
    return true;
  }
  const BifInfo* b = bif_of(&c);
  if (b == nullptr) return false;
  std::string_view name = b->name;
  if (name == "not" && (boolean(c.args[0]) || guard_fail_ != kNone)) {
    cond(c.args[0], no, yes, broken);
    return true;
  }
  if ((name == "and" || name == "or") && boolean(&c)) {
    BlockId more = new_block();
    bool is_and = name == "and";
    cond(c.args[0], is_and ? more : yes, is_and ? no : more, broken);
    start(more);
    cond(c.args[1], yes, no, broken);
    return true;
  }
  if (b->test < 0) return false;
  auto args = values(c.args);
  if (b->swap) std::swap(args[0], args[1]);
  auto t = static_cast<Test>(b->test);
  if (t == Test::kFunction2) {
    // The instruction wants a plausible arity; in a body a bad one raises badarg.
    bool good = args[1].is_literal() && args[1].literal.is_small() && args[1].literal.small_value() >= 0;
    if (!good) {
      bool_value(call_bif(b, args, c.loc), yes, no, broken, c.loc);
      return true;
    }
  }
  bool all_literal = true;
  for (Arg a : args) all_literal &= a.is_literal();
  if (all_literal) args[0] = emit_value(Op::kMove, {args[0]});
  // Equality reads best, and is looked for by the optimiser, with the constant on the right.
  bool equality = t == Test::kEq || t == Test::kNe || t == Test::kEqExact || t == Test::kNeExact;
  if (equality && args[0].is_literal()) std::swap(args[0], args[1]);
  // An exact negative test is the positive one with the exits exchanged, so that one shape is left
  // to optimise.
  if (t == Test::kNeExact) test(Test::kEqExact, args, no, yes);
  else test(t, args, yes, no);
  return true;
}

void Lowerer::cond(Expr* e, BlockId yes, BlockId no, BlockId broken) {
  const BlockId outer = guard_fail_;
  guard_fail_ = broken;
  switch (e->kind) {
    case Kind::kAllOf: {
      auto tests = e->as<AllOf>().tests;
      for (std::size_t i = 0; i + 1 < tests.size(); i++) {
        BlockId more = new_block();
        cond(tests[i], more, no, broken);
        start(more);
      }
      if (tests.empty()) jump(yes);
      else cond(tests.back(), yes, no, broken);
      break;
    }
    case Kind::kAnyOf: {
      auto alternatives = e->as<AnyOf>().alternatives;
      for (std::size_t i = 0; i + 1 < alternatives.size(); i++) {
        BlockId more = new_block();
        cond(alternatives[i], yes, more, more);
        start(more);
      }
      if (alternatives.empty()) jump(no);
      else cond(alternatives.back(), yes, no, no);
      break;
    }
    case Kind::kAndAlso: {
      BlockId more = new_block();
      cond(e->as<AndAlso>().left, more, no, broken);
      start(more);
      cond(e->as<AndAlso>().right, yes, no, broken);
      break;
    }
    case Kind::kOrElse: {
      BlockId more = new_block();
      cond(e->as<OrElse>().left, yes, more, broken);
      start(more);
      cond(e->as<OrElse>().right, yes, no, broken);
      break;
    }
    case Kind::kCall:
      if (bif_test(e->as<Call>(), yes, no, broken)) break;
      [[fallthrough]];
    default: bool_value(value(e), yes, no, broken, e->loc);
  }
  guard_fail_ = outer;
}

Arg Lowerer::cond_value(Expr* e) {
  BlockId join = new_join(1), yes = new_block(), no = new_block();
  cond(e, yes, no, guard_fail_);
  start(yes);
  jump(join, {Arg::lit(atoms::true_)});
  start(no);
  jump(join, {Arg::lit(atoms::false_)});
  start(join);
  return Arg::of(cur().params[0]);
}

}  // namespace vmrun::compile::ssa
