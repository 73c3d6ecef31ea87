// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_control.hpp"

#include <algorithm>

#include "runtime/compile/lower/lower_cond.hpp"
#include "runtime/compile/lower/lower_expr.hpp"
#include "runtime/compile/lower/lower_match.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile::lower {

using namespace core;

void LowerControl::case_of(Case& c, Dest d) {
  if (boolean_case(c, d)) return;
  MatchCompiler match(c_);
  std::vector<Arg> subjects;
  for (Expr* s : c.subjects) {
    Arg a = c_.exprs.value(s);
    if (a.is_literal() && c.clauses.size() > 0) a = blocks_.emit_value(Op::kMove, {a});
    subjects.push_back(a);
  }
  const BlockId fail = blocks_.new_block();
  match.run(subjects, c.clauses, fail, d);
  blocks_.start(fail);
  blocks_.error(c.fail, subjects.empty() ? Arg::lit(Term::nil()) : subjects[0], c.loc);
}

/// `case Test of true -> …; false -> … end`: the test branches directly, and its value is not made.
bool LowerControl::boolean_case(Case& c, Dest d) {
  if (c.subjects.size() != 1 || !c_.conds.boolean(c.subjects[0]) || c_.guard_fail != kNone) return false;
  Clause* pick[2] = {nullptr, nullptr};  // for false, true
  for (Clause* cl : c.clauses) {
    if (cl->guard && !(cl->guard->kind == Kind::kLiteral && cl->guard->as<Literal>().value == atoms::true_))
      return false;
    Pat* p = cl->patterns[0];
    const bool any = p->kind == PatKind::kWild || p->kind == PatKind::kVar;
    if (!any && p->kind != PatKind::kLiteral) return false;
    for (int k = 0; k < 2; ++k) {
      const Term t = k == 1 ? atoms::true_ : atoms::false_;
      if (!pick[k] && (any || p->as<PLiteral>().value == t)) pick[k] = cl;
    }
  }
  if (pick[0] == pick[1] && pick[0]) return false;
  BlockId block[2] = {blocks_.new_block(), blocks_.new_block()};
  c_.conds.cond(c.subjects[0], block[1], block[0], kNone);
  for (int k = 1; k >= 0; --k) {
    blocks_.start(block[k]);
    const Arg v = Arg::lit(k == 1 ? atoms::true_ : atoms::false_);
    if (!pick[k]) {
      blocks_.error(c.fail, v, c.loc);
      continue;
    }
    if (pick[k]->patterns[0]->kind == PatKind::kVar) c_.bind(pick[k]->patterns[0]->as<PVar>().var, v);
    c_.exprs.to(pick[k]->body, d);
  }
  return true;
}

/// Marks the values with which every clause compares. A later pass finds out which of them are
/// references, and where those are made (receive_markers.cpp).
void LowerControl::awaited(Receive& r) {
  std::vector<ValueId> common;
  bool first = true;
  for (Clause* c : r.clauses) {
    if (!c->guard) return;
    std::vector<ValueId> here;
    auto look = [&](Expr* g) {
      if (g->kind != Kind::kCall || g->as<Call>().args.size() != 2) return;
      Call& call = g->as<Call>();
      if (call.function->kind != Kind::kLiteral ||
          !(call.function->as<Literal>().value == atoms::exact_equal))
        return;
      for (Expr* side : call.args) {
        if (side->kind != Kind::kVar || side->as<VarRef>().var->slot >= c_.module.env.size()) continue;
        Var* var = side->as<VarRef>().var;
        const bool is_free = std::find(c_.note.free.begin(), c_.note.free.end(), var) != c_.note.free.end();
        const Arg a = c_.lookup(var);
        const bool is_own = (var->owner == &c_.note || is_free) && a.is_value();
        if (is_own && std::find(here.begin(), here.end(), a.value) == here.end()) here.push_back(a.value);
      }
    };
    if (c->guard->kind == Kind::kAllOf) {
      for (Expr* g : c->guard->as<AllOf>().tests) look(g);
    } else {
      look(c->guard);
    }
    if (first) common = std::move(here);
    else
      std::erase_if(common, [&](ValueId v) { return std::find(here.begin(), here.end(), v) == here.end(); });
    first = false;
  }
  for (ValueId v : common) blocks_.emit(Op::kMarkerUse, {Arg::of(v)});
}

void LowerControl::receive(Receive& r, Dest d) {
  Arg timeout;
  if (r.timeout) timeout = c_.exprs.value(r.timeout);
  const bool forever = !r.timeout || (timeout.is_literal() && timeout.literal == atoms::infinity);
  if (!r.clauses.empty()) awaited(r);
  const BlockId head = blocks_.new_block();
  fn_.blocks[head].is_loop_head = true;
  blocks_.jump(head);
  BlockId wait = head;
  if (!r.clauses.empty()) {
    wait = blocks_.new_block();
    const BlockId found = blocks_.new_block(), again = blocks_.new_block();
    const ValueId message = fn_.new_value();
    Block& h = fn_.blocks[head];
    h.end = BlockEnd::kLoopRec;
    h.tag = message;
    h.succ = found;
    h.fail = wait;
    fn_.blocks[again].end = BlockEnd::kLoopRecEnd;
    fn_.blocks[again].succ = head;
    blocks_.start(found);
    MatchCompiler match(c_);
    match.run({Arg::of(message)}, r.clauses, again, d, true);
  }
  blocks_.start(wait);
  Block& w = blocks_.cur();
  w.loc = r.loc;
  if (forever) {
    w.end = BlockEnd::kWait;
    w.succ = head;
    return;
  }
  const BlockId late = blocks_.new_block();
  if (!r.clauses.empty() && timeout == Arg::lit(Term::small(0))) {
    blocks_.jump(late);
  } else {
    Block& b = blocks_.cur();
    b.end = BlockEnd::kWaitTimeout;
    b.subject = timeout;
    b.fail = head;
    b.succ = late;
  }
  blocks_.start(late);
  blocks_.emit(Op::kTimeout, {});
  c_.exprs.to(r.action, d);
}

void LowerControl::try_of(Try& t, Dest d) {
  const BlockId outer = blocks_.handler();
  const BlockId done = blocks_.new_join(t.vars.size());
  const BlockId caught = blocks_.new_block();
  fn_.blocks[caught].is_handler = true;
  blocks_.set_handler(caught);
  const BlockId body = blocks_.new_block();
  const ValueId tag = fn_.new_value();
  Block& b = blocks_.cur();
  b.end = BlockEnd::kTry;
  b.tag = tag;
  b.succ = body;
  b.fail = caught;
  blocks_.start(body);
  c_.exprs.to(t.arg, {Dest::kJoin, done});
  blocks_.set_handler(outer);
  blocks_.start(done);
  blocks_.emit(Op::kTryEnd, {Arg::of(tag)});
  for (std::size_t i = 0; i < t.vars.size(); ++i) c_.bind(t.vars[i], Arg::of(blocks_.cur().params[i]));
  c_.exprs.to(t.body, d);
  blocks_.start(caught);
  Instr& in = blocks_.emit(Op::kTryCase, {Arg::of(tag)});
  ValueId three[3] = {fn_.new_value(), fn_.new_value(), fn_.new_value()};
  in.dsts = arena_.copy(three, 3);
  for (int i = 0; i < 3; ++i) c_.bind(t.evars[i], Arg::of(three[i]));
  c_.exprs.to(t.handler, d);
}

void LowerControl::catch_of(Catch& c, Dest d) {
  const BlockId outer = blocks_.handler();
  const BlockId join = blocks_.new_join(1);
  fn_.blocks[join].is_handler = true;
  blocks_.set_handler(join);
  const BlockId body = blocks_.new_block();
  const ValueId tag = fn_.new_value();
  Block& b = blocks_.cur();
  b.end = BlockEnd::kCatch;
  b.tag = tag;
  b.succ = body;
  b.fail = join;
  blocks_.start(body);
  const Arg v = c_.exprs.value(c.body);
  blocks_.set_handler(outer);
  blocks_.jump(join, {v});
  blocks_.start(join);
  const Arg result = blocks_.emit_value(Op::kCatchEnd, {Arg::of(tag), Arg::of(blocks_.cur().params[0])});
  blocks_.finish(d, result);
}

}  // namespace vmrun::compile::lower
