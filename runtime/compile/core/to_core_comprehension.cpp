// Lowering of comprehensions into loops: a local function per generator that walks its subject, in
// the manner of Wadler's translation (Peyton Jones, "The Implementation of Functional Programming
// Languages", chapter 7): what comes behind the generator's results is passed inwards, so no
// intermediate lists are appended.

#include "runtime/compile/core/to_core_state.hpp"

namespace vmrun::compile {

/// What the innermost expression adds to, and what comes behind everything the current generator
/// gives.
struct Lowering::Loop {
  ComprehensionKind kind;
  bool wanted;
  Var* accumulator;  // binary comprehensions: the binary so far
  std::function<CExpr*(Var* accumulator)> next;
};

/// What tells a generator over lists from one over bit strings.
struct Lowering::GeneratorShape {
  const char* subject_name;  // of variables, for a reader of the assembly
  const char* rest_name;
  const char* list_prefix;  // of the loop function's name, by what the comprehension builds
  const char* binary_prefix;
  std::function<core::Pat*(PatternContext&, Var* rest, bool* always)> element = {};
  std::function<core::Pat*(size_t start, Var* rest)> skip = {};
  std::function<core::Pat*()> end = {};
};

core::LetrecFun* Lowering::loop_function(std::string_view prefix, Loc loc, const std::vector<Var*>& params) {
  std::string name = std::string(prefix) + std::to_string(letrec_index_++);
  core::LetrecFun* f = arena_.make<core::LetrecFun>(
      core::LetrecFun{arena_.copy(std::string_view(name)), keep(params), nullptr, loc});
  return f;
}

/// A list that is not wanted is not built: the loop runs for its effects.
core::Expr* Lowering::comprehension(const ComprehensionExpr& e, bool wanted) {
  size_t start = mark();
  Siblings siblings = hide_siblings();
  CExpr* result;
  if (e.what == ComprehensionKind::kBinary) {
    CExpr* size = integer_literal({}, 256);
    Var* empty = fresh("Acc");
    Loop loop{e.what, true, empty, [this](Var* acc) { return ref(acc); }};
    CExpr* init = make<core::Primop>(e.loc, core::Prim::kBsInitWritable, arena_.copy(&size, 1));
    result = make<core::Let>(e.loc, arena_.copy(&empty, 1), init, qualifiers(e, 0, loop));
  } else {
    Loop loop{e.what, wanted || e.what == ComprehensionKind::kMap, nullptr,
              [this](Var*) { return literal({}, Term::nil()); }};
    result = qualifiers(e, 0, loop);
    if (e.what == ComprehensionKind::kMap) result = call(e.loc, "maps", "from_list", {result});
  }
  undo(start);
  siblings_ = std::move(siblings);
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
      bits.position = 1;
      std::vector<core::Segment> segments{{bits, ref(loop.accumulator), nullptr, e.value->loc}};
      if (e.value->is(ExprKind::kBinary)) append_segments(e.value->as<BinaryExpr>(), block, segments);
      else segments.push_back({bits, value(*e.value, block), nullptr, e.value->loc});
      Var* longer = fresh("Acc");
      CExpr* binary = make<core::Binary>(e.value->loc, keep(segments));
      result = make<core::Let>(e.loc, arena_.copy(&longer, 1), binary, loop.next(longer));
    } else if (loop.kind == ComprehensionKind::kMap) {
      auto pair = operands({e.key, e.value}, block);
      result = make<core::Cons>(e.loc, tuple(e.loc, pair), loop.next(nullptr));
    } else if (!loop.wanted) {
      effect(*e.value, block);
      result = loop.next(nullptr);
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
  CExpr* whole = finish(
      block, make<core::Case>(q.loc, arena_.copy(&subject, 1), keep(clauses), core::Fail::kImpossible));
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

/// A loop function over `subject` (and the accumulator of a binary comprehension), and the call
/// that starts it with `source`. `step` gives the clause that takes one element and runs what is
/// inside, and, unless that clause always matches, one that skips an element; `end` matches an
/// exhausted subject.
core::Expr* Lowering::generator_loop(const ComprehensionExpr& e, size_t at, Loop& loop,
                                     const GeneratorShape& shape, CExpr* source) {
  const Qualifier& q = e.qualifiers[at];
  const auto clause_of = [&](core::Pat* p, CExpr* test, CExpr* result) {
    return make<core::Clause>(core::Clause{q.loc, arena_.copy(&p, 1), test, result});
  };
  Var* subject = fresh(shape.subject_name);
  Var* acc = loop.accumulator != nullptr ? fresh("Acc") : nullptr;
  std::vector<Var*> params{subject};
  if (acc != nullptr) params.push_back(acc);
  core::LetrecFun* f = loop_function(
      loop.kind == ComprehensionKind::kBinary ? shape.binary_prefix : shape.list_prefix, q.loc, params);
  const auto call_loop = [this, f, loc = q.loc](CExpr* next, Var* accumulator) -> CExpr* {
    std::vector<CExpr*> args{next};
    if (accumulator != nullptr) args.push_back(ref(accumulator));
    return make<core::ApplyLetrec>(loc, f, keep(args));
  };

  std::vector<core::Clause*> clauses;
  const size_t start = mark();
  PatternContext context{start, true};
  Var* rest = fresh(shape.rest_name);
  bool always = false;
  core::Pat* taken = shape.element(context, rest, &always);
  size_t inner_at = at + 1;
  CExpr* test = generator_guard(e, inner_at, context.tests);
  Loop inner{loop.kind, loop.wanted, acc,
             [this, call_loop, rest](Var* a) { return call_loop(ref(rest), a); }};
  clauses.push_back(clause_of(taken, test, qualifiers(e, inner_at, inner)));
  undo(start);
  if (!always || test != nullptr) {
    Var* skipped = fresh(shape.rest_name);
    core::Pat* any = shape.skip(start, skipped);
    undo(start);
    clauses.push_back(clause_of(any, nullptr, call_loop(ref(skipped), acc)));
  }
  clauses.push_back(clause_of(shape.end(), nullptr, loop.next(acc)));
  Var* bad = fresh("Bad");
  clauses.push_back(clause_of(make<core::PVar>(bad), nullptr, bad_generator(q.loc, bad)));
  CExpr* subject_ref = ref(subject);
  f->body = make<core::Case>(q.loc, arena_.copy(&subject_ref, 1), keep(clauses), core::Fail::kImpossible);
  return make<core::Letrec>(q.loc, arena_.copy(&f, 1), call_loop(source, loop.accumulator));
}

/// A loop over the cells of a list.
core::Expr* Lowering::collection_loop(const ComprehensionExpr& e, size_t at, Loop& loop, CExpr* source,
                                      const std::function<core::Pat*(PatternContext&)>& element) {
  GeneratorShape shape{"List", "Tail", "lc$^", "lbc$^"};
  shape.element = [&](PatternContext& context, Var* tail, bool* always) {
    core::Pat* head = element(context);
    *always = head->kind == core::PatKind::kVar || head->kind == core::PatKind::kWild;
    return make<core::PCons>(head, make<core::PVar>(tail));
  };
  shape.skip = [&](size_t, Var* tail) { return make<core::PCons>(wild(), make<core::PVar>(tail)); };
  shape.end = [&] { return literal_pattern(Term::nil()); };
  return generator_loop(e, at, loop, shape, source);
}

core::Expr* Lowering::bad_generator(Loc loc, Var* subject) {
  return erlang(loc, "error", {tuple({}, {atom_literal({}, "bad_generator"), ref(subject)})});
}

/// A loop over a bit string: the pattern with the rest behind it; then its mere shape, to skip what
/// has other values; a rest that does not even have the shape ends it.
core::Expr* Lowering::binary_generator(const ComprehensionExpr& e, size_t at, Loop& loop) {
  const Qualifier& q = e.qualifiers[at];
  const auto& segments = q.pattern->as<BinaryExpr>();
  CExpr* source = body({&q.source, 1});
  GeneratorShape shape{"Bits", "Rest", "blc$^", "bbc$^"};
  shape.element = [&](PatternContext& context, Var* rest, bool* always) {
    core::Pat* p = binary_pattern(segments, context, rest);
    *always = true;
    for (const core::PSegment& s : p->as<core::PBinary>().segments)
      *always = *always && s.spec.type != core::SegType::kFloat &&
                (s.value->kind == core::PatKind::kVar || s.value->kind == core::PatKind::kWild);
    return p;
  };
  shape.skip = [&](size_t start, Var* rest) {
    PatternContext any{start, true, true};
    return binary_pattern(segments, any, rest);
  };
  shape.end = [&] {
    core::SegSpec all;
    all.type = core::SegType::kBinary;
    std::vector<core::PSegment> remainder{{all, wild(), nullptr}};
    return make<core::PBinary>(keep(remainder));
  };
  return generator_loop(e, at, loop, shape, source);
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
