#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/compile/ssa/lower.hpp"
#include "runtime/compile/ssa/lower_match.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::compile::ssa {

using namespace core;

Term literal_cons(NodeArena& a, Term head, Term tail) {
  Term* cell = static_cast<Term*>(a.alloc(2 * sizeof(Term), alignof(Term)));
  return make_cons(cell, head, tail);
}

Term literal_tuple(NodeArena& a, std::span<const Term> elements) {
  if (elements.empty()) return empty_tuple();
  Term* t = static_cast<Term*>(a.alloc((elements.size() + 1) * sizeof(Term), alignof(Term)));
  t[0] = Term::header(Term::Sub::kTuple, elements.size());
  for (std::size_t i = 0; i < elements.size(); i++) t[i + 1] = elements[i];
  return Term::boxed(t);
}

// --- blocks and instructions ---------------------------------------------------------------------

BlockId Lowerer::new_join(std::size_t params) {
  BlockId b = new_block();
  for (std::size_t i = 0; i < params; i++) fn_.blocks[b].params.push_back(fn_.new_value());
  return b;
}

void Lowerer::jump(BlockId to, std::vector<Arg> args) {
  Block& b = cur();
  if (b.end != BlockEnd::kNone) return;
  b.end = BlockEnd::kJump;
  b.succ = to;
  b.jump_args = std::move(args);
}

void Lowerer::finish(Dest d, Arg v) {
  if (d.kind == Dest::kReturn) {
    cur().end = BlockEnd::kReturn;
    cur().subject = v;
  } else if (fn_.blocks[d.join].params.empty()) {
    jump(d.join);
  } else {
    jump(d.join, {v});
  }
}

void Lowerer::error(Fail kind, Arg subject, Loc loc) {
  if (kind == Fail::kElseClause) {
    Arg reason = emit_value(Op::kPutTuple, {Arg::lit(atoms::else_clause), subject});
    emit_value(Op::kCallExt, {Arg::lit(atoms::erlang), Arg::lit(atoms::error), reason}, loc);
    cur().end = BlockEnd::kUnreachable;
    return;
  }
  Block& b = cur();
  b.end = BlockEnd::kError;
  b.error = kind;
  // The other kinds do not tell what did not match.
  const bool shows = kind == Fail::kCaseClause || kind == Fail::kBadmatch || kind == Fail::kTryClause ||
                     kind == Fail::kBadrecord;
  b.subject = shows ? subject : Arg::lit(Term::nil());
  b.loc = loc;
}

Instr& Lowerer::emit(Op op, std::vector<Arg> args, Loc loc) {
  Instr i{.op = op};
  i.loc = loc;
  i.args = arena_.copy(args);
  cur().code.push_back(i);
  return cur().code.back();
}

Arg Lowerer::emit_value(Op op, std::vector<Arg> args, Loc loc, std::uint64_t imm) {
  Instr& i = emit(op, std::move(args), loc);
  i.imm = imm;
  ValueId v = fn_.new_value();
  i.dsts = arena_.copy(&v, 1);
  return Arg::of(v);
}

void Lowerer::test(Test t, std::vector<Arg> args, BlockId yes, BlockId no, std::uint64_t imm) {
  Instr i{.op = Op::kTest};
  i.test = t;
  i.imm = imm;
  i.args = arena_.copy(args);
  Block& b = cur();
  b.code.push_back(i);
  b.end = BlockEnd::kFallible;
  b.succ = yes;
  b.fail = no;
}

void Lowerer::fallible(Instr i, BlockId fail) {
  cur().code.push_back(i);
  if (fail == kNone) return;
  BlockId next = new_block();
  Block& b = cur();
  b.end = BlockEnd::kFallible;
  b.succ = next;
  b.fail = fail;
  start(next);
}

// --- functions -----------------------------------------------------------------------------------

void Lowerer::function(FunNote& note) {
  note_ = &note;
  auto param = [&](Var* v) {
    ValueId value = fn_.new_value();
    fn_.params.push_back(value);
    bind(v, Arg::of(value));
  };
  for (Var* v : note.params) param(v);
  for (Var* v : note.free) param(v);
  fn_.arity = static_cast<std::uint32_t>(fn_.params.size());
  fn_.free_count = static_cast<std::uint32_t>(note.free.size());
  fn_.entry = new_block();
  start(fn_.entry);
  if (note.lambda != nullptr && note.lambda->self != nullptr && note.lambda->self->uses > 0)
    bind(note.lambda->self, make_closure(&note));
  to(note.body, {Dest::kReturn});
}

Arg Lowerer::lookup(Var* v) { return m_.env[v->slot]; }

const ClosureInfo* Lowerer::closure_of(Arg a) const {
  if (!a.is_value()) return nullptr;
  auto it = closures_.find(a.value);
  return it == closures_.end() ? nullptr : &it->second;
}

Arg Lowerer::make_closure(FunNote* note) {
  std::vector<Arg> env;
  for (Var* v : note->free) env.push_back(lookup(v));
  Arg fun = emit_value(Op::kMakeFun, env, {}, note->lambda_index);
  closures_[fun.value] = {note, arena_.copy(env)};
  return fun;
}

Arg Lowerer::lambda(Lambda& l) { return make_closure(l.note); }

/// `fun f/1` needs an entry of its own in the fun table: a function that calls f.
Arg Lowerer::fun_ref(FunRef& r) {
  auto [it, fresh] = m_.wrappers.try_emplace(ModuleContext::key(r.name, r.arity), 0);
  if (fresh) {
    auto target = m_.local.find(ModuleContext::key(r.name, r.arity));
    if (target == m_.local.end()) {
      m_.program.errors.push_back("reference to an undefined function " + std::string(atom_text(r.name)));
      return Arg::lit(Term::nil());
    }
    it->second = static_cast<std::uint32_t>(m_.program.lambdas.size());
    m_.program.lambdas.push_back({kNone, 0});
    // The function itself is made at the end: Function objects must not move now. See to_ssa.
  }
  return emit_value(Op::kMakeFun, {}, {}, it->second);
}

// --- expressions ---------------------------------------------------------------------------------

std::vector<Arg> Lowerer::values(ExprList es) {
  std::vector<Arg> out;
  out.reserve(es.size());
  for (Expr* e : es) out.push_back(value(e));
  return out;
}

void Lowerer::multi_value(Expr* e, std::span<Var* const> vars) {
  if (e->kind == Kind::kValues) {
    auto vs = values(e->as<Values>().elements);
    for (std::size_t i = 0; i < vars.size(); i++) bind(vars[i], vs[i]);
    return;
  }
  BlockId join = new_join(vars.size());
  to(e, {Dest::kJoin, join});
  start(join);
  for (std::size_t i = 0; i < vars.size(); i++) bind(vars[i], Arg::of(cur().params[i]));
}

void Lowerer::let(Let& l) {
  if (l.vars.size() == 1) {
    Arg v = value(l.arg);
    bind(l.vars[0], v);
  } else {
    multi_value(l.arg, l.vars);
  }
}

void Lowerer::to(Expr* e, Dest d) {
  for (;;) {
    switch (e->kind) {
      case Kind::kLet:
        let(e->as<Let>());
        e = e->as<Let>().body;
        continue;
      case Kind::kSeq: {
        Expr* first = e->as<Seq>().first;
        if (first->kind == Kind::kCase || first->kind == Kind::kReceive || first->kind == Kind::kTry) {
          BlockId join = new_join(0);
          to(first, {Dest::kJoin, join});
          start(join);
        } else {
          value(first);
        }
        e = e->as<Seq>().second;
        continue;
      }
      case Kind::kLetrec: e = e->as<Letrec>().body; continue;
      case Kind::kCase: case_of(e->as<Case>(), d); return;
      case Kind::kReceive: receive(e->as<Receive>(), d); return;
      case Kind::kTry: try_of(e->as<Try>(), d); return;
      case Kind::kCatch: catch_of(e->as<Catch>(), d); return;
      case Kind::kValues: {
        auto vs = values(e->as<Values>().elements);
        if (d.kind == Dest::kJoin && !fn_.blocks[d.join].params.empty()) jump(d.join, std::move(vs));
        else finish(d, vs.empty() ? Arg::lit(Term::nil()) : vs[0]);
        return;
      }
      case Kind::kAndAlso:
      case Kind::kOrElse: {
        if (guard_fail_ != kNone) break;
        bool is_and = e->kind == Kind::kAndAlso;
        Expr* left = is_and ? e->as<AndAlso>().left : e->as<OrElse>().left;
        BlockId more = new_block(), done = new_block();
        cond(left, is_and ? more : done, is_and ? done : more, kNone);
        start(done);
        finish(d, Arg::lit(is_and ? atoms::false_ : atoms::true_));
        start(more);
        e = is_and ? e->as<AndAlso>().right : e->as<OrElse>().right;
        continue;
      }
      default: break;
    }
    finish(d, value(e));
    return;
  }
}

Arg Lowerer::value(Expr* e) {
  for (;;) {
    switch (e->kind) {
      case Kind::kLiteral: return Arg::lit(e->as<Literal>().value);
      case Kind::kVar: return lookup(e->as<VarRef>().var);
      case Kind::kFunRef: return fun_ref(e->as<FunRef>());
      case Kind::kLambda: return lambda(e->as<Lambda>());
      case Kind::kCons: return cons(e);
      case Kind::kTuple: return tuple(e->as<Tuple>());
      case Kind::kMap: return map(e->as<Map>());
      case Kind::kBinary: return binary(e->as<Binary>());
      case Kind::kPrimop: return primop(e->as<Primop>());
      case Kind::kCall: return call(e->as<Call>());
      case Kind::kApplyLetrec: return apply_letrec(e->as<ApplyLetrec>());
      case Kind::kApplyLocal: {
        auto& a = e->as<ApplyLocal>();
        auto args = values(a.args);
        auto it = m_.local.find(ModuleContext::key(a.name, static_cast<std::uint32_t>(args.size())));
        if (it == m_.local.end()) {
          m_.program.errors.push_back("call of an undefined function " + std::string(atom_text(a.name)));
          return Arg::lit(Term::nil());
        }
        return emit_value(Op::kCall, std::move(args), a.loc, it->second);
      }
      case Kind::kApply: {
        auto& a = e->as<Apply>();
        Arg fun = value(a.fun);
        return apply_value(fun, values(a.args), a.loc);
      }
      case Kind::kAndAlso:
      case Kind::kOrElse:
        if (guard_fail_ != kNone &&
            !boolean(e)) {  // compared with something: what stands on the right may be any value
          const bool is_and = e->kind == Kind::kAndAlso;
          const BlockId more = new_block(), done = new_block(), join = new_join(1);
          cond(is_and ? e->as<AndAlso>().left : e->as<OrElse>().left, is_and ? more : done,
               is_and ? done : more, guard_fail_);
          start(done);
          jump(join, {Arg::lit(is_and ? atoms::false_ : atoms::true_)});
          start(more);
          Arg right = value(is_and ? e->as<AndAlso>().right : e->as<OrElse>().right);
          jump(join, {right});
          start(join);
          return Arg::of(cur().params[0]);
        }
        [[fallthrough]];
      case Kind::kAllOf:
      case Kind::kAnyOf:
        if (guard_fail_ != kNone || boolean(e)) return cond_value(e);
        break;
      case Kind::kLet:
        let(e->as<Let>());
        e = e->as<Let>().body;
        continue;
      case Kind::kLetrec: e = e->as<Letrec>().body; continue;
      case Kind::kValues: return value(e->as<Values>().elements[0]);
      default: break;
    }
    BlockId join = new_join(1);
    to(e, {Dest::kJoin, join});
    start(join);
    return Arg::of(cur().params[0]);
  }
}

/// Long lists nest in their tails: walk them, then build from the end.
Arg Lowerer::cons(Expr* e) {
  std::vector<Arg> heads;
  for (; e->kind == Kind::kCons; e = e->as<Cons>().tail) heads.push_back(value(e->as<Cons>().head));
  Arg tail = value(e);
  for (std::size_t i = heads.size(); i-- > 0;) {
    if (heads[i].is_literal() && tail.is_literal())
      tail = Arg::lit(literal_cons(arena_, heads[i].literal, tail.literal));
    else tail = emit_value(Op::kPutList, {heads[i], tail});
  }
  return tail;
}

Arg Lowerer::tuple(Tuple& t) {
  auto es = values(t.elements);
  std::vector<Term> constant;
  for (Arg a : es) {
    if (!a.is_literal()) return emit_value(Op::kPutTuple, std::move(es));
    constant.push_back(a.literal);
  }
  return Arg::lit(literal_tuple(arena_, constant));
}

Term empty_map_literal(NodeArena& a) {
  auto* m = static_cast<FlatMap*>(a.alloc(sizeof(FlatMap), alignof(FlatMap)));
  m->header = MapObject::make_header(MapKind::kFlat, 0, sizeof(FlatMap) / sizeof(Term) - 1);
  m->size = 0;
  m->keys = empty_tuple();
  return Term::boxed(reinterpret_cast<Term*>(m));
}

Arg Lowerer::map(Map& m) {
  Arg base = m.base == nullptr ? Arg::lit(empty_map_literal(arena_)) : value(m.base);
  struct Pair {
    Arg key, value;
    bool exact;
  };
  std::vector<Pair> all;
  for (const MapPair& p : m.pairs) {
    Arg key = value(p.key);
    all.push_back({key, value(p.value), p.exact});
  }
  // Of several constant keys that are not there the first in the order of keys is reported.
  for (auto from = all.begin(); from != all.end();) {
    auto updates = [](const Pair& p) { return p.exact && p.key.is_literal(); };
    from = std::find_if(from, all.end(), updates);
    auto to = std::find_if_not(from, all.end(), updates);
    std::stable_sort(from, to, [](const Pair& a, const Pair& b) {
      return compare_keys(a.key.literal, b.key.literal) < 0;
    });
    from = to;
  }
  if (!base.is_literal() || !base.literal.is_map()) {
    if (base.is_literal()) base = emit_value(Op::kMove, {base});
    BlockId good = new_block(), bad = guard_fail_ == kNone ? new_block() : guard_fail_;
    test(Test::kMap, {base}, good, bad);
    if (guard_fail_ == kNone) {
      start(bad);
      Arg reason = emit_value(Op::kPutTuple, {Arg::lit(atoms::badmap), base});
      emit_value(Op::kCallExt, {Arg::lit(atoms::erlang), Arg::lit(atoms::error), reason}, m.loc);
      cur().end = BlockEnd::kUnreachable;
    }
    start(good);
  }
  // Runs of => and of := become one instruction each; a key that comes twice in a run must start a
  // new one, as the last wins.
  std::size_t i = 0;
  do {
    std::vector<Arg> args{base};
    bool exact = i < all.size() && all[i].exact;
    for (; i < all.size() && all[i].exact == exact; i++) {
      const Arg key = all[i].key;
      bool again = false;
      for (std::size_t k = 1; k < args.size() && !again; k += 2) {
        again = args[k] == key || !args[k].is_literal() || !key.is_literal() || !key.literal.is_immed();
      }
      if (again && args.size() > 1) break;
      args.push_back(key);
      args.push_back(all[i].value);
    }
    Instr in{.op = exact ? Op::kPutMapExact : Op::kPutMapAssoc};
    in.loc = m.loc;
    in.args = arena_.copy(args);
    ValueId v = fn_.new_value();
    in.dsts = arena_.copy(&v, 1);
    fallible(in, guard_fail_);
    base = Arg::of(v);
  } while (i < all.size());
  return base;
}

Arg Lowerer::call_bif(const BifInfo* bif, std::vector<Arg> args, Loc loc) {
  Instr i{.op = Op::kBif};
  i.bif = bif;
  i.loc = loc;
  i.args = arena_.copy(args);
  ValueId v = fn_.new_value();
  i.dsts = arena_.copy(&v, 1);
  fallible(i, bif->safe ? kNone : guard_fail_);
  return Arg::of(v);
}

namespace {

bool is_proper_list(Term t) {
  while (t.is_list()) t = t.tail();
  return t.is_nil();
}

}  // namespace

Arg Lowerer::call_function(Term module, Term function, std::vector<Arg> args, Loc loc) {
  const BifInfo* known = module == atoms::erlang && function.is_atom()
                             ? find_erlang_function(function, static_cast<std::uint32_t>(args.size()))
                             : nullptr;
  args.insert(args.begin(), {Arg::lit(module), Arg::lit(function)});
  const BlockId block = cur_;
  const auto at = static_cast<std::uint32_t>(cur().code.size());
  Arg v = emit_value(Op::kCallExt, std::move(args), loc);
  if (known && known->makes_reference) fresh_refs_[v.value] = {block, at};
  if (known && known->never_returns) {
    cur().end = BlockEnd::kUnreachable;
    start(new_block());
  }
  return v;
}

Arg Lowerer::call(Call& c) {
  if (c.module->kind == Kind::kLiteral && c.function->kind == Kind::kLiteral) {
    Term mod = c.module->as<Literal>().value, fun = c.function->as<Literal>().value;
    if (mod == atoms::erlang && fun.is_atom()) {
      const auto arity = static_cast<std::uint32_t>(c.args.size());
      std::string_view name = atom_text(fun);
      if (const BifInfo* bif = find_bif(fun, arity)) {
        if (name == "not" && boolean(c.args[0])) return cond_value(&c);
        return call_bif(bif, values(c.args), c.loc);
      }
      if (name == "is_record" && boolean(&c)) return cond_value(&c);
      if (guard_fail_ == kNone) {
        if (name == "!" && arity == 2) return emit_value(Op::kSend, values(c.args), c.loc);
        if (name == "apply" && arity == 3) {
          // A list of known length: no list is built.
          std::vector<Expr*> given;
          Expr* rest = c.args[2];
          for (; rest->kind == Kind::kCons; rest = rest->as<Cons>().tail)
            given.push_back(rest->as<Cons>().head);
          if (rest->kind == Kind::kLiteral && is_proper_list(rest->as<Literal>().value)) {
            Arg m = value(c.args[0]), f = value(c.args[1]);
            auto args = values(given);
            for (Term t = rest->as<Literal>().value; t.is_list(); t = t.tail())
              args.push_back(Arg::lit(t.head()));
            if (m.is_literal() && f.is_literal() && m.literal.is_atom() && f.literal.is_atom())
              return call_function(m.literal, f.literal, std::move(args), c.loc);
            args.push_back(m);
            args.push_back(f);
            return emit_value(Op::kApply, std::move(args), c.loc);
          }
        }
        return call_function(mod, fun, values(c.args), c.loc);
      }
      m_.program.errors.push_back("call of erlang:" + std::string(name) + " in a guard");
      return Arg::lit(atoms::false_);
    }
    if (mod.is_atom() && fun.is_atom()) return call_function(mod, fun, values(c.args), c.loc);
  }
  Arg mod = value(c.module), fun = value(c.function);
  auto args = values(c.args);
  args.push_back(mod);
  args.push_back(fun);
  return emit_value(Op::kApply, std::move(args), c.loc);
}

Arg Lowerer::apply_letrec(ApplyLetrec& a) {
  auto args = values(a.args);
  for (Var* v : a.fun->note->free) args.push_back(lookup(v));
  return emit_value(Op::kCall, std::move(args), a.loc, a.fun->note->index);
}

Arg Lowerer::apply_value(Arg fun, std::vector<Arg> args, Loc loc) {
  if (const ClosureInfo* c = closure_of(fun); c != nullptr && c->note->params.size() == args.size()) {
    args.insert(args.end(), c->env.begin(), c->env.end());
    return emit_value(Op::kCall, std::move(args), loc, c->note->index);
  }
  args.push_back(fun);
  return emit_value(Op::kCallFun, std::move(args), loc);
}

Arg Lowerer::primop(Primop& p) {
  auto args = values(p.args);
  switch (p.op) {
    case Prim::kBuildStacktrace: return emit_value(Op::kBuildStacktrace, std::move(args), p.loc);
    case Prim::kRawRaise: return emit_value(Op::kRawRaise, std::move(args), p.loc);
    case Prim::kBsInitWritable: return emit_value(Op::kBsInitWritable, std::move(args), p.loc);
  }
  return Arg::lit(Term::nil());
}

// --- binaries ------------------------------------------------------------------------------------

namespace {

/// Collects constant bits; big-endian order within bytes.
struct BitBuffer {
  std::vector<std::uint8_t> bytes;
  std::size_t bits = 0;
  void put(std::uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
      if (bits % 8 == 0) bytes.push_back(0);
      if (value >> i & 1) bytes.back() |= static_cast<std::uint8_t>(0x80 >> bits % 8);
      bits++;
    }
  }
};

bool put_constant(BitBuffer& out, const SegSpec& spec, Term v, Expr* size) {
  auto utf = [&](auto encode) {
    if (!v.is_small()) return false;
    SWord c = v.small_value();
    if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    encode(static_cast<std::uint32_t>(c));
    return true;
  };
  switch (spec.type) {
    case SegType::kUtf8:
      return utf([&](std::uint32_t c) {
        std::string s;
        append_utf8(s, c);
        for (char ch : s) out.put(static_cast<std::uint8_t>(ch), 8);
      });
    case SegType::kInteger: {
      if (!v.is_small() || size == nullptr || size->kind != Kind::kLiteral ||
          !size->as<Literal>().value.is_small())
        return false;
      SWord n = size->as<Literal>().value.small_value();
      if (n < 0 || n > 64 || n * spec.unit > 64) return false;
      auto bits = static_cast<unsigned>(n * spec.unit);
      bool little = spec.little || spec.native;
      if (little && bits % 8 != 0) return false;
      auto value = static_cast<std::uint64_t>(v.small_value());
      if (!little) {
        out.put(value, bits);
      } else {
        for (unsigned i = 0; i < bits; i += 8) out.put(value >> i & 0xFF, 8);
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace

bool Lowerer::literal_binary(Binary& b, Term& out) {
  BitBuffer buffer;
  for (const Segment& s : b.segments) {
    if (s.value->kind != Kind::kLiteral ||
        !put_constant(buffer, s.spec, s.value->as<Literal>().value, s.size))
      return false;
    if (buffer.bits > (1u << 20)) return false;
  }
  if (buffer.bits % 8 != 0) return false;
  Word words = words_for_bytes(buffer.bytes.size());
  auto* h = static_cast<HeapBinary*>(arena_.alloc((2 + words) * sizeof(Term) + 8, alignof(Term)));
  h->header = Term::header(Term::Sub::kHeapBinary, 1 + words);
  h->size_bytes = buffer.bytes.size();
  std::memcpy(h->data, buffer.bytes.data(), buffer.bytes.size());
  out = Term::boxed(reinterpret_cast<Term*>(h));
  return true;
}

Arg Lowerer::binary(Binary& b) {
  Term constant;
  if (literal_binary(b, constant)) return Arg::lit(constant);
  Instr in{.op = Op::kBsCreate};
  in.loc = b.loc;
  std::vector<Arg> args;
  std::vector<SegSpec> specs;
  for (const Segment& s : b.segments) {
    args.push_back(value(s.value));
    args.push_back(s.size != nullptr ? value(s.size) : Arg::lit(intern_atom("all")));
    specs.push_back(s.spec);
  }
  in.args = arena_.copy(args);
  in.segments = arena_.copy(specs);
  ValueId v = fn_.new_value();
  in.dsts = arena_.copy(&v, 1);
  fallible(in, guard_fail_);
  return Arg::of(v);
}

// --- control -------------------------------------------------------------------------------------

void Lowerer::case_of(Case& c, Dest d) {
  if (boolean_case(c, d)) return;
  MatchCompiler match(*this);
  std::vector<Arg> subjects;
  for (Expr* s : c.subjects) {
    Arg a = value(s);
    if (a.is_literal() && c.clauses.size() > 0) a = emit_value(Op::kMove, {a});
    subjects.push_back(a);
  }
  BlockId fail = new_block();
  match.run(subjects, c.clauses, fail, d);
  start(fail);
  error(c.fail, subjects.empty() ? Arg::lit(Term::nil()) : subjects[0], c.loc);
}

/// `case Test of true -> …; false -> … end`: the test branches by itself, no value is made.
bool Lowerer::boolean_case(Case& c, Dest d) {
  if (c.subjects.size() != 1 || !boolean(c.subjects[0]) || guard_fail_ != kNone) return false;
  Clause* pick[2] = {nullptr, nullptr};  // for false, true
  for (Clause* cl : c.clauses) {
    if (cl->guard != nullptr &&
        !(cl->guard->kind == Kind::kLiteral && cl->guard->as<Literal>().value == atoms::true_))
      return false;
    Pat* p = cl->patterns[0];
    bool any = p->kind == PatKind::kWild || p->kind == PatKind::kVar;
    if (!any && p->kind != PatKind::kLiteral) return false;
    for (int k = 0; k < 2; k++) {
      Term t = k == 1 ? atoms::true_ : atoms::false_;
      if (pick[k] == nullptr && (any || p->as<PLiteral>().value == t)) pick[k] = cl;
    }
  }
  if (pick[0] == pick[1] && pick[0] != nullptr) return false;
  BlockId block[2] = {new_block(), new_block()};
  cond(c.subjects[0], block[1], block[0], kNone);
  for (int k = 1; k >= 0; k--) {
    start(block[k]);
    Arg v = Arg::lit(k == 1 ? atoms::true_ : atoms::false_);
    if (pick[k] == nullptr) {
      error(c.fail, v, c.loc);
      continue;
    }
    if (pick[k]->patterns[0]->kind == PatKind::kVar) bind(pick[k]->patterns[0]->as<PVar>().var, v);
    to(pick[k]->body, d);
  }
  return true;
}

/// If every clause compares with a reference made earlier in this function, messages from before it
/// was made need no look.
void Lowerer::marker_for(Receive& r) {
  ValueId ref = kNone;
  for (Clause* c : r.clauses) {
    ValueId found = kNone;
    auto look = [&](Expr* g) {
      if (g->kind != Kind::kCall || g->as<Call>().args.size() != 2) return;
      Call& call = g->as<Call>();
      if (call.function->kind != Kind::kLiteral ||
          !(call.function->as<Literal>().value == atoms::exact_equal))
        return;
      for (Expr* side : call.args) {
        if (side->kind != Kind::kVar || side->as<VarRef>().var->slot >= m_.env.size()) continue;
        Arg a = m_.env[side->as<VarRef>().var->slot];
        if (side->as<VarRef>().var->owner != note_ || !a.is_value()) continue;
        if (fresh_refs_.contains(a.value)) found = a.value;
      }
    };
    if (c->guard == nullptr) return;
    if (c->guard->kind == Kind::kAllOf) {
      for (Expr* g : c->guard->as<AllOf>().tests) look(g);
    } else {
      look(c->guard);
    }
    if (found == kNone || (ref != kNone && ref != found)) return;
    ref = found;
  }
  if (ref == kNone) return;
  auto [block, at] = fresh_refs_[ref];
  // reserve; Ref = make_ref(); bind; …; use. Later positions in that block move by two.
  ValueId marker = fn_.new_value();
  Instr reserve{.op = Op::kMarkerReserve};
  reserve.dsts = arena_.copy(&marker, 1);
  Instr bind_it{.op = Op::kMarkerBind};
  std::vector<Arg> args{Arg::of(marker), Arg::of(ref)};
  bind_it.args = arena_.copy(args);
  auto& code = fn_.blocks[block].code;
  code.insert(code.begin() + at + 1, bind_it);
  code.insert(code.begin() + at, reserve);
  fresh_refs_.erase(ref);
  for (auto& [value, place] : fresh_refs_) {
    if (place.first == block && place.second > at) place.second += 2;
  }
  emit(Op::kMarkerUse, {Arg::of(ref)});
}

void Lowerer::receive(Receive& r, Dest d) {
  Arg timeout;
  if (r.timeout != nullptr) timeout = value(r.timeout);
  bool forever = r.timeout == nullptr || (timeout.is_literal() && timeout.literal == atoms::infinity);
  if (!r.clauses.empty()) marker_for(r);
  BlockId head = new_block();
  fn_.blocks[head].is_loop_head = true;
  jump(head);
  BlockId wait = head;
  if (!r.clauses.empty()) {
    wait = new_block();
    BlockId found = new_block(), again = new_block();
    ValueId message = fn_.new_value();
    Block& h = fn_.blocks[head];
    h.end = BlockEnd::kLoopRec;
    h.tag = message;
    h.succ = found;
    h.fail = wait;
    fn_.blocks[again].end = BlockEnd::kLoopRecEnd;
    fn_.blocks[again].succ = head;
    start(found);
    MatchCompiler match(*this);
    match.run({Arg::of(message)}, r.clauses, again, d, true);
  }
  start(wait);
  Block& w = cur();
  w.loc = r.loc;
  if (forever) {
    w.end = BlockEnd::kWait;
    w.succ = head;
    return;
  }
  BlockId late = new_block();
  if (!r.clauses.empty() && timeout == Arg::lit(Term::small(0))) {
    jump(late);
  } else {
    Block& b = cur();
    b.end = BlockEnd::kWaitTimeout;
    b.subject = timeout;
    b.fail = head;
    b.succ = late;
  }
  start(late);
  emit(Op::kTimeout, {});
  to(r.action, d);
}

void Lowerer::try_of(Try& t, Dest d) {
  const BlockId outer = handler_;
  BlockId done = new_join(t.vars.size());
  BlockId caught = new_block();
  fn_.blocks[caught].is_handler = true;
  handler_ = caught;
  BlockId body = new_block();
  ValueId tag = fn_.new_value();
  Block& b = cur();
  b.end = BlockEnd::kTry;
  b.tag = tag;
  b.succ = body;
  b.fail = caught;
  start(body);
  to(t.arg, {Dest::kJoin, done});
  handler_ = outer;
  start(done);
  emit(Op::kTryEnd, {Arg::of(tag)});
  for (std::size_t i = 0; i < t.vars.size(); i++) bind(t.vars[i], Arg::of(cur().params[i]));
  to(t.body, d);
  start(caught);
  Instr& in = emit(Op::kTryCase, {Arg::of(tag)});
  ValueId three[3] = {fn_.new_value(), fn_.new_value(), fn_.new_value()};
  in.dsts = arena_.copy(three, 3);
  for (int i = 0; i < 3; i++) bind(t.evars[i], Arg::of(three[i]));
  to(t.handler, d);
}

void Lowerer::catch_of(Catch& c, Dest d) {
  const BlockId outer = handler_;
  BlockId join = new_join(1);
  fn_.blocks[join].is_handler = true;
  handler_ = join;
  BlockId body = new_block();
  ValueId tag = fn_.new_value();
  Block& b = cur();
  b.end = BlockEnd::kCatch;
  b.tag = tag;
  b.succ = body;
  b.fail = join;
  start(body);
  Arg v = value(c.body);
  handler_ = outer;
  jump(join, {v});
  start(join);
  Arg result = emit_value(Op::kCatchEnd, {Arg::of(tag), Arg::of(cur().params[0])});
  finish(d, result);
}

// --- modules -------------------------------------------------------------------------------------

namespace {

Term named(const FunDef& f, const std::string& rest) {
  return intern_atom("-" + std::string(atom_text(f.name)) + "/" + std::to_string(f.arity) + "-" + rest + "-");
}

/// module_info/0,1 and the wrappers of `fun f/1`: functions that only pass their arguments on.
void add_forwarder(Program& p, Term name, std::uint32_t arity, Op op, std::vector<Arg> before,
                   std::uint64_t imm) {
  Function& f = p.functions.emplace_back();
  f.name = name;
  f.arity = arity;
  Block& b = f.blocks[f.new_block(kNone)];
  Instr i{.op = op};
  for (std::uint32_t k = 0; k < arity; k++) {
    f.params.push_back(f.new_value());
    before.push_back(Arg::of(f.params.back()));
  }
  i.imm = imm;
  i.args = p.arena.copy(before);
  ValueId v = f.new_value();
  i.dsts = p.arena.copy(&v, 1);
  b.code.push_back(i);
  b.end = BlockEnd::kReturn;
  b.subject = Arg::of(v);
}

}  // namespace

void to_ssa(Program& p) {
  ModuleContext context{p, {}, {}, {}, {}};
  struct Work {
    FunDef* def;
    FunNote* root;
    std::vector<FunNote*> inner;
  };
  std::vector<Work> work;
  std::uint32_t slots = 0;
  auto own = [&](FunNote* n) { context.notes.emplace_back(n); };
  for (FunDef* def : p.module.functions) {
    auto* root = new FunNote;
    own(root);
    root->params = def->params;
    root->body = def->body;
    FunAnalysis analysis(root, slots);
    analysis.run();
    for (FunNote* n : analysis.found()) own(n);
    work.push_back({def, root, std::move(analysis.found())});
  }
  context.env.resize(slots);
  // All Function objects exist before any is filled: they must not move.
  for (Work& w : work) {
    w.root->index = static_cast<std::uint32_t>(p.functions.size());
    context.local[ModuleContext::key(w.def->name, w.def->arity)] = w.root->index;
    Function& f = p.functions.emplace_back();
    f.name = w.def->name;
    f.loc = w.def->loc;
    std::uint32_t letrecs = 0;
    for (FunNote* n : w.inner) {
      n->index = static_cast<std::uint32_t>(p.functions.size());
      Function& g = p.functions.emplace_back();
      g.loc = w.def->loc;
      if (n->lambda != nullptr) {
        g.name = named(*w.def, "fun-" + std::to_string(n->lambda->index));
        g.loc = n->lambda->loc;
        n->lambda_index = static_cast<std::uint32_t>(p.lambdas.size());
        p.lambdas.push_back({n->index, static_cast<std::uint32_t>(n->free.size())});
      } else {
        g.name = named(*w.def, std::string(n->letrec->name) + "/" + std::to_string(n->params.size()) + "-" +
                                   std::to_string(letrecs++));
      }
    }
  }
  for (Work& w : work) {
    Lowerer(context, p.functions[w.root->index]).function(*w.root);
    for (FunNote* n : w.inner) Lowerer(context, p.functions[n->index]).function(*n);
  }
  for (auto& [key, lambda] : context.wrappers) {
    auto target = context.local.at(key);
    p.lambdas[lambda].function = static_cast<std::uint32_t>(p.functions.size());
    const Function& f = p.functions[target];
    Term name = intern_atom("-fun." + std::string(atom_text(f.name)) + "/" + std::to_string(f.arity) + "-");
    add_forwarder(p, name, static_cast<std::uint32_t>(key & 1023), Op::kCall, {}, target);
  }
  for (std::uint32_t arity = 0; arity < 2; arity++) {
    if (context.local.contains(ModuleContext::key(atoms::module_info, arity))) continue;
    add_forwarder(
        p, atoms::module_info, arity, Op::kCallExt,
        {Arg::lit(atoms::erlang), Arg::lit(intern_atom("get_module_info")), Arg::lit(p.module.name)}, 0);
  }
}

}  // namespace vmrun::compile::ssa
