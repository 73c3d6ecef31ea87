// Lowering of comprehensions into loops: a local function per generator that walks its subject, in the manner
// of Wadler's translation (Peyton Jones, "The Implementation of Functional Programming Languages", chapter 7):
// what comes behind the generator's results is passed inwards, so no intermediate lists are appended.

#include "runtime/compile/to_core_state.hpp"

namespace vmrun::compile {

/// What the innermost expression adds to, and what comes behind everything the current generator gives.
struct Lowering::Loop {
  ComprehensionKind kind;
  Var* accumulator;  // binary comprehensions: the binary so far
  std::function<CExpr*(Var* accumulator)> next;
};

core::LetrecFun* Lowering::loop_function(std::string_view prefix, Loc loc, const std::vector<Var*>& params) {
  std::string name = std::string(prefix) + std::to_string(letrec_index_++);
  core::LetrecFun* f = arena_.make<core::LetrecFun>(core::LetrecFun{arena_.copy(std::string_view(name)), keep(params), nullptr, loc});
  return f;
}

core::Expr* Lowering::comprehension(const ComprehensionExpr& e, Block&) {
  size_t start = mark();
  CExpr* result;
  if (e.what == ComprehensionKind::kBinary) {
    CExpr* size = integer_literal({}, 256);
    Var* empty = fresh("Acc");
    Loop loop{e.what, empty, [this](Var* acc) { return ref(acc); }};
    CExpr* init = make<core::Primop>(e.loc, core::Prim::kBsInitWritable, arena_.copy(&size, 1));
    result = make<core::Let>(e.loc, arena_.copy(&empty, 1), init, qualifiers(e, 0, loop));
  } else {
    Loop loop{e.what, nullptr, [this](Var*) { return literal({}, Term::nil()); }};
    result = qualifiers(e, 0, loop);
    if (e.what == ComprehensionKind::kMap) result = call(e.loc, "maps", "from_list", {result});
  }
  undo(start);
  return result;
}

core::Expr* Lowering::qualifiers(const ComprehensionExpr& e, size_t at, Loop& loop) {
  if (at == e.qualifiers.size()) {
    size_t start = mark();
    Block block;
    CExpr* result;
    if (loop.kind == ComprehensionKind::kBinary) {
      core::SegSpec bits;
      bits.type = core::SegType::kBinary;
      std::vector<core::Segment> segments{{bits, ref(loop.accumulator), nullptr, e.value->loc}};
      if (e.value->is(ExprKind::kBinary)) append_segments(e.value->as<BinaryExpr>(), block, segments);
      else segments.push_back({bits, value(*e.value, block), nullptr, e.value->loc});
      Var* longer = fresh("Acc");
      CExpr* binary = make<core::Binary>(e.value->loc, keep(segments));
      result = make<core::Let>(e.loc, arena_.copy(&longer, 1), binary, loop.next(longer));
    } else if (loop.kind == ComprehensionKind::kMap) {
      auto pair = operands({e.key, e.value}, block);
      result = make<core::Cons>(e.loc, tuple(e.loc, pair), loop.next(nullptr));
    } else {
      CExpr* head = value(*e.value, block);
      result = make<core::Cons>(e.loc, head, loop.next(nullptr));
    }
    undo(start);
    return finish(block, result);
  }
  const Qualifier& q = e.qualifiers[at];
  switch (q.kind) {
    case QualifierKind::kList:
      return collection_loop(e, at, loop, body({&q.source, 1}),
                             [&](PatternContext& context) { return pattern(*q.pattern, context); });
    case QualifierKind::kBinary: return binary_generator(e, at, loop);
    case QualifierKind::kMap: return map_generator(e, at, loop);
    case QualifierKind::kFilter: break;
  }
  auto clause_of = [&](core::PatList patterns, CExpr* test, CExpr* result) {
    return make<core::Clause>(core::Clause{q.loc, patterns, test, result});
  };
  if (is_guard_expr(*q.source)) {
    CExpr* test = guard_test(*q.source);
    std::vector<core::Clause*> clauses{clause_of({}, test, qualifiers(e, at + 1, loop)),
                                       clause_of({}, nullptr, loop.next(loop.accumulator))};
    return make<core::Case>(q.loc, core::ExprList(), keep(clauses), core::Fail::kImpossible);
  }
  size_t start = mark();
  Block block;
  CExpr* subject = value(*q.source, block);
  core::Pat* yes = literal_pattern(atom("true"));
  core::Pat* no = literal_pattern(atom("false"));
  Var* other = fresh("Other");
  core::Pat* any = make<core::PVar>(other);
  CExpr* error = erlang(q.loc, "error", {tuple({}, {atom_literal({}, "bad_filter"), ref(other)})});
  std::vector<core::Clause*> clauses{clause_of(arena_.copy(&yes, 1), nullptr, qualifiers(e, at + 1, loop)),
                                     clause_of(arena_.copy(&no, 1), nullptr, loop.next(loop.accumulator)),
                                     clause_of(arena_.copy(&any, 1), nullptr, error)};
  CExpr* whole = finish(block, make<core::Case>(q.loc, arena_.copy(&subject, 1), keep(clauses), core::Fail::kImpossible));
  undo(start);
  return whole;
}

/// The guard made of tests of the pattern and of the filters that follow directly and are guards.
core::Expr* Lowering::generator_guard(const ComprehensionExpr& e, size_t& at, std::vector<CExpr*> tests) {
  for (; at < e.qualifiers.size(); at++) {
    const Qualifier& q = e.qualifiers[at];
    if (q.kind != QualifierKind::kFilter || !is_guard_expr(*q.source)) break;
    tests.push_back(guard_test(*q.source));
  }
  return guard({}, tests);
}

/// A loop over the cells of a list.
core::Expr* Lowering::collection_loop(const ComprehensionExpr& e, size_t at, Loop& loop, CExpr* source,
                                      const std::function<core::Pat*(PatternContext&)>& element) {
  const Qualifier& q = e.qualifiers[at];
  Var* list = fresh("List");
  std::vector<Var*> params{list};
  Var* acc = loop.accumulator != nullptr ? fresh("Acc") : nullptr;
  if (acc != nullptr) params.push_back(acc);
  core::LetrecFun* f = loop_function(loop.kind == ComprehensionKind::kBinary ? "lbc$^" : "lc$^", q.loc, params);
  auto again = [this, f, loc = q.loc](Var* tail, Var* accumulator) -> CExpr* {
    std::vector<CExpr*> args{ref(tail)};
    if (accumulator != nullptr) args.push_back(ref(accumulator));
    return make<core::ApplyLetrec>(loc, f, keep(args));
  };
  auto clause_of = [&](core::Pat* p, CExpr* test, CExpr* result) {
    return make<core::Clause>(core::Clause{q.loc, arena_.copy(&p, 1), test, result});
  };
  std::vector<core::Clause*> clauses;
  size_t start = mark();
  PatternContext context{start, true};
  core::Pat* head = element(context);
  size_t inner_at = at + 1;
  CExpr* test = generator_guard(e, inner_at, context.tests);
  bool always = test == nullptr && (head->kind == core::PatKind::kVar || head->kind == core::PatKind::kWild);
  Var* tail = fresh("Tail");
  Loop inner{loop.kind, acc, [again, tail](Var* a) { return again(tail, a); }};
  clauses.push_back(clause_of(make<core::PCons>(head, make<core::PVar>(tail)), test, qualifiers(e, inner_at, inner)));
  undo(start);
  if (!always) {
    Var* skipped = fresh("Tail");
    clauses.push_back(clause_of(make<core::PCons>(wild(), make<core::PVar>(skipped)), nullptr, again(skipped, acc)));
  }
  clauses.push_back(clause_of(literal_pattern(Term::nil()), nullptr, loop.next(acc)));
  Var* bad = fresh("Bad");
  clauses.push_back(clause_of(make<core::PVar>(bad), nullptr, bad_generator(q.loc, bad)));
  CExpr* subject = ref(list);
  f->body = make<core::Case>(q.loc, arena_.copy(&subject, 1), keep(clauses), core::Fail::kImpossible);
  std::vector<CExpr*> args{source};
  if (acc != nullptr) args.push_back(ref(loop.accumulator));
  return make<core::Letrec>(q.loc, arena_.copy(&f, 1), make<core::ApplyLetrec>(q.loc, f, keep(args)));
}

core::Expr* Lowering::bad_generator(Loc loc, Var* subject) {
  return erlang(loc, "error", {tuple({}, {atom_literal({}, "bad_generator"), ref(subject)})});
}

/// A loop over a bit string: the pattern with the rest behind it; then its mere shape, to skip what has other
/// values; a rest that does not even have the shape ends it.
core::Expr* Lowering::binary_generator(const ComprehensionExpr& e, size_t at, Loop& loop) {
  const Qualifier& q = e.qualifiers[at];
  const auto& shape = q.pattern->as<BinaryExpr>();
  CExpr* source = body({&q.source, 1});
  Var* bits = fresh("Bits");
  std::vector<Var*> params{bits};
  Var* acc = loop.accumulator != nullptr ? fresh("Acc") : nullptr;
  if (acc != nullptr) params.push_back(acc);
  core::LetrecFun* f = loop_function(loop.kind == ComprehensionKind::kBinary ? "bbc$^" : "blc$^", q.loc, params);
  auto again = [this, f, loc = q.loc](Var* rest, Var* accumulator) -> CExpr* {
    std::vector<CExpr*> args{ref(rest)};
    if (accumulator != nullptr) args.push_back(ref(accumulator));
    return make<core::ApplyLetrec>(loc, f, keep(args));
  };
  auto clause_of = [&](core::Pat* p, CExpr* test, CExpr* result) {
    return make<core::Clause>(core::Clause{q.loc, arena_.copy(&p, 1), test, result});
  };
  std::vector<core::Clause*> clauses;
  size_t start = mark();
  PatternContext context{start, true};
  Var* rest = fresh("Rest");
  core::Pat* p = binary_pattern(shape, context, rest);
  size_t inner_at = at + 1;
  CExpr* test = generator_guard(e, inner_at, context.tests);
  bool always = test == nullptr;
  for (const core::PSegment& s : p->as<core::PBinary>().segments)
    always = always && s.spec.type != core::SegType::kFloat &&
             (s.value->kind == core::PatKind::kVar || s.value->kind == core::PatKind::kWild);
  Loop inner{loop.kind, acc, [again, rest](Var* a) { return again(rest, a); }};
  clauses.push_back(clause_of(p, test, qualifiers(e, inner_at, inner)));
  undo(start);
  if (!always) {
    PatternContext any{start, true, true};
    Var* skipped = fresh("Rest");
    core::Pat* same_shape = binary_pattern(shape, any, skipped);
    undo(start);
    clauses.push_back(clause_of(same_shape, nullptr, again(skipped, acc)));
  }
  core::SegSpec all;
  all.type = core::SegType::kBinary;
  std::vector<core::PSegment> remainder{{all, wild(), nullptr}};
  clauses.push_back(clause_of(make<core::PBinary>(keep(remainder)), nullptr, loop.next(acc)));
  Var* bad = fresh("Bad");
  clauses.push_back(clause_of(make<core::PVar>(bad), nullptr, bad_generator(q.loc, bad)));
  CExpr* subject = ref(bits);
  f->body = make<core::Case>(q.loc, arena_.copy(&subject, 1), keep(clauses), core::Fail::kImpossible);
  std::vector<CExpr*> args{source};
  if (acc != nullptr) args.push_back(ref(loop.accumulator));
  return make<core::Letrec>(q.loc, arena_.copy(&f, 1), make<core::ApplyLetrec>(q.loc, f, keep(args)));
}

/// A map (or map iterator) is walked as the list of its pairs.
core::Expr* Lowering::map_generator(const ComprehensionExpr& e, size_t at, Loop& loop) {
  const Qualifier& q = e.qualifiers[at];
  CExpr* source = body({&q.source, 1});
  Var* map = fresh("Map");
  Var* bad = fresh("Bad");
  auto clause_of = [&](core::Pat* p, CExpr* test, CExpr* result) {
    return make<core::Clause>(core::Clause{q.loc, arena_.copy(&p, 1), test, result});
  };
  std::vector<CExpr*> kinds{erlang({}, "is_map", {ref(map)}), erlang({}, "is_list", {ref(map)}),
                            erlang({}, "is_tuple", {ref(map)})};
  CExpr* known = make<core::AnyOf>(q.loc, keep(kinds));
  std::vector<core::Clause*> clauses{
      clause_of(make<core::PVar>(map), known, call(q.loc, "maps", "to_list", {ref(map)})),
      clause_of(make<core::PVar>(bad), nullptr, bad_generator(q.loc, bad))};
  CExpr* pairs = make<core::Case>(q.loc, arena_.copy(&source, 1), keep(clauses), core::Fail::kImpossible);
  return collection_loop(e, at, loop, pairs, [&](PatternContext& context) {
    core::Pat* pair[2] = {pattern(*q.pattern, context), nullptr};
    pair[1] = pattern(*q.value_pattern, context);
    return make<core::PTuple>(arena_.copy(pair, 2));
  });
}

}  // namespace vmrun::compile
