// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/fun_analysis.hpp"

namespace vmrun::compile::core {

void FunAnalysis::bind(Var* v) {
  v->owner = current_;
  v->slot = next_slot_++;
}

/// v must be passed to `note` and to the functions between it and v's owner.
void FunAnalysis::need(FunNote* note, Var* v) {
  for (FunNote* n = note; n && n != v->owner; n = n->parent) {
    if (!n->free_set.insert(v).second) return;
    n->free.push_back(v);
  }
}

void FunAnalysis::use(Var* v) {
  ++v->uses;
  need(current_, v);
}

FunNote* FunAnalysis::inner(std::span<Var* const> params, Expr* body) {
  auto* note = new FunNote;  // owned by the caller of found()
  note->parent = current_;
  note->params = params;
  note->body = body;
  found_.push_back(note);
  return note;
}

void FunAnalysis::list(ExprList es) {
  for (Expr* e : es) expr(e);
}

void FunAnalysis::pattern(Pat* p) {
  switch (p->kind) {
    case PatKind::kWild:
    case PatKind::kLiteral: break;
    case PatKind::kVar: bind(p->as<PVar>().var); break;
    case PatKind::kCons:
      for (; p->kind == PatKind::kCons; p = p->as<PCons>().tail) pattern(p->as<PCons>().head);
      pattern(p);
      break;
    case PatKind::kTuple:
      for (Pat* e : p->as<PTuple>().elements) pattern(e);
      break;
    case PatKind::kMap:
      for (const PMapPair& m : p->as<PMap>().pairs) {
        expr(m.key);
        pattern(m.value);
      }
      break;
    case PatKind::kRecord:
      for (const PRecordPair& r : p->as<PRecord>().pairs) pattern(r.value);
      break;
    case PatKind::kBinary:
      for (const PSegment& s : p->as<PBinary>().segments) {
        if (s.size) expr(s.size);
        pattern(s.value);
      }
      break;
    case PatKind::kAlias:
      pattern(p->as<PAlias>().left);
      pattern(p->as<PAlias>().right);
      break;
  }
}

void FunAnalysis::clauses(ClauseList cs) {
  for (Clause* c : cs) {
    for (Pat* p : c->patterns) pattern(p);
    if (c->guard) expr(c->guard);
    expr(c->body);
  }
}

void FunAnalysis::lambda(Lambda& l) {
  FunNote* note = inner(l.params, l.body);
  note->lambda = &l;
  l.note = note;
  FunNote* outer = current_;
  current_ = note;
  for (Var* v : l.params) bind(v);
  if (l.self) bind(l.self);
  expr(l.body);
  current_ = outer;
}

void FunAnalysis::letrec(Letrec& l) {
  for (LetrecFun* f : l.funs) {
    f->note = inner(f->params, f->body);
    f->note->letrec = f;
  }
  FunNote* outer = current_;
  for (LetrecFun* f : l.funs) {
    current_ = f->note;
    for (Var* v : f->params) bind(v);
    expr(f->body);
  }
  current_ = outer;
}

void FunAnalysis::expr(Expr* e) {
  for (;;) {
    switch (e->kind) {
      case Kind::kLiteral:
      case Kind::kFunRef: return;
      case Kind::kVar: use(e->as<VarRef>().var); return;
      case Kind::kLambda: lambda(e->as<Lambda>()); return;
      case Kind::kCons: {
        expr(e->as<Cons>().head);
        e = e->as<Cons>().tail;
        continue;
      }
      case Kind::kTuple: list(e->as<Tuple>().elements); return;
      case Kind::kValues: list(e->as<Values>().elements); return;
      case Kind::kMap:
        if (e->as<Map>().base != nullptr) expr(e->as<Map>().base);
        for (const MapPair& p : e->as<Map>().pairs) {
          expr(p.key);
          expr(p.value);
        }
        return;
      case Kind::kRecord:
        if (e->as<Record>().base != nullptr) expr(e->as<Record>().base);
        for (const RecordPair& p : e->as<Record>().pairs) expr(p.value);
        return;
      case Kind::kBinary:
        for (const Segment& s : e->as<Binary>().segments) {
          expr(s.value);
          if (s.size) expr(s.size);
        }
        return;
      case Kind::kLet:
        expr(e->as<Let>().arg);
        for (Var* v : e->as<Let>().vars) bind(v);
        e = e->as<Let>().body;
        continue;
      case Kind::kSeq:
        expr(e->as<Seq>().first);
        e = e->as<Seq>().second;
        continue;
      case Kind::kCase:
        list(e->as<Case>().subjects);
        clauses(e->as<Case>().clauses);
        return;
      case Kind::kLetrec:
        letrec(e->as<Letrec>());
        e = e->as<Letrec>().body;
        continue;
      case Kind::kApplyLocal: list(e->as<ApplyLocal>().args); return;
      case Kind::kApplyLetrec:
        list(e->as<ApplyLetrec>().args);
        current_->callees.push_back(e->as<ApplyLetrec>().fun->note);
        return;
      case Kind::kApply:
        list(e->as<Apply>().args);
        e = e->as<Apply>().fun;
        continue;
      case Kind::kCall:
        expr(e->as<Call>().module);
        expr(e->as<Call>().function);
        list(e->as<Call>().args);
        return;
      case Kind::kPrimop: list(e->as<Primop>().args); return;
      case Kind::kReceive: {
        auto& r = e->as<Receive>();
        if (r.timeout) expr(r.timeout);
        clauses(r.clauses);
        if (!r.action) return;
        e = r.action;
        continue;
      }
      case Kind::kTry: {
        auto& t = e->as<Try>();
        expr(t.arg);
        for (Var* v : t.vars) bind(v);
        expr(t.body);
        for (Var* v : t.evars) bind(v);
        e = t.handler;
        continue;
      }
      case Kind::kCatch: e = e->as<Catch>().body; continue;
      case Kind::kAndAlso:
        expr(e->as<AndAlso>().left);
        e = e->as<AndAlso>().right;
        continue;
      case Kind::kOrElse:
        expr(e->as<OrElse>().left);
        e = e->as<OrElse>().right;
        continue;
      case Kind::kAllOf: list(e->as<AllOf>().tests); return;
      case Kind::kAnyOf: list(e->as<AnyOf>().alternatives); return;
    }
  }
}

void FunAnalysis::run() {
  FunNote* root = current_;
  for (Var* v : root->params) bind(v);
  expr(root->body);
  // A caller of a letrec function passes that function's free variables, so it needs them itself.
  found_.push_back(root);
  for (bool changed = true; changed;) {
    changed = false;
    for (FunNote* note : found_) {
      for (FunNote* callee : note->callees) {
        for (std::size_t i = 0; i < callee->free.size(); ++i) {
          Var* v = callee->free[i];
          if (v->owner == note || note->free_set.contains(v)) continue;
          need(note, v);
          changed = true;
        }
      }
    }
  }
  found_.pop_back();
}

}  // namespace vmrun::compile::core
