// SPDX-License-Identifier: Apache-2.0
// Lowering of comprehensions into loops: a local function per generator that walks its subject, in
// the manner of Wadler's translation (Peyton Jones, "The Implementation of Functional Programming
// Languages", chapter 7). The list behind the generator's results is passed inwards, so no
// intermediate lists are appended.

#include "runtime/compile/core/to_core_comprehension.hpp"

#include "runtime/compile/core/to_core_binary.hpp"
#include "runtime/compile/core/to_core_expr.hpp"
#include "runtime/compile/core/to_core_guard.hpp"
#include "runtime/compile/core/to_core_pattern.hpp"

namespace vmrun::compile {

/// The target of the innermost expression, and the continuation when the current generator is
/// exhausted.
struct ComprehensionToCore::Loop {
  ComprehensionKind kind;
  bool wanted;
  Var* accumulator;  // binary comprehensions: the binary so far
  std::function<CExpr*(Var* accumulator)> next;
};

/// The differences between a generator over lists and one over bit strings.
struct ComprehensionToCore::GeneratorShape {
  const char* subject_name;  // names of variables, for a reader of the assembly
  const char* rest_name;
  std::function<core::Pat*(PatternContext&, Var* rest, bool* always)> element = {};
  std::function<core::Pat*(std::size_t start, Var* rest)> skip = {};
  std::function<core::Pat*()> end = {};
};

core::LetrecFun* ComprehensionToCore::loop_function(std::string_view prefix, const void* part, Loc loc,
                                                    const std::vector<Var*>& params) {
  std::string name = std::string(prefix) + std::to_string(c_.names.number(part));
  core::LetrecFun* f = nodes_.make<core::LetrecFun>(
      core::LetrecFun{nodes_.copy(std::string_view(name)), nodes_.keep(params), nullptr, loc});
  return f;
}

/// A list that is not used is not built: the loop runs only for its effects.
core::Expr* ComprehensionToCore::comprehension(const ComprehensionExpr& e, bool wanted) {
  const Scope::Own own(scope_);
  CExpr* result;
  if (e.what == ComprehensionKind::kBinary) {
    CExpr* size = nodes_.integer_literal({}, 256);
    Var* empty = nodes_.fresh("Acc");
    Loop loop{e.what, true, empty, [this](Var* acc) { return nodes_.ref(acc); }};
    CExpr* init = nodes_.make<core::Primop>(e.loc, core::Prim::kBsInitWritable, nodes_.copy(&size, 1));
    result = nodes_.make<core::Let>(e.loc, nodes_.copy(&empty, 1), init, qualifiers(e, 0, loop));
  } else {
    Loop loop{e.what, wanted || e.what == ComprehensionKind::kMap, nullptr,
              [this](Var*) { return nodes_.literal({}, Term::nil()); }};
    result = qualifiers(e, 0, loop);
    if (e.what == ComprehensionKind::kMap) result = nodes_.call(e.loc, "maps", "from_list", {result});
  }
  return result;
}

core::Expr* ComprehensionToCore::qualifiers(const ComprehensionExpr& e, std::size_t at, Loop& loop) {
  if (at == e.qualifiers.size()) {
    const std::size_t start = scope_.mark();
    Block block;
    CExpr* result;
    if (loop.kind == ComprehensionKind::kBinary) {
      core::SegSpec bits;
      bits.type = core::SegType::kBinary;
      bits.position = 1;
      std::vector<core::Segment> segments{{bits, nodes_.ref(loop.accumulator), nullptr, e.value->loc}};
      if (e.value->is(ExprKind::kBinary))
        c_.binaries.append_segments(e.value->as<BinaryExpr>(), block, segments);
      else segments.push_back({bits, c_.exprs.value(*e.value, block), nullptr, e.value->loc});
      Var* longer = nodes_.fresh("Acc");
      CExpr* binary = nodes_.make<core::Binary>(e.value->loc, nodes_.keep(segments));
      result = nodes_.make<core::Let>(e.loc, nodes_.copy(&longer, 1), binary, loop.next(longer));
    } else if (loop.kind == ComprehensionKind::kMap) {
      const auto pair = c_.exprs.operands({e.key, e.value}, block);
      result = nodes_.make<core::Cons>(e.loc, nodes_.tuple(e.loc, pair), loop.next(nullptr));
    } else if (!loop.wanted) {
      c_.exprs.effect(*e.value, block);
      result = loop.next(nullptr);
    } else {
      CExpr* head = c_.exprs.value(*e.value, block);
      result = nodes_.make<core::Cons>(e.loc, head, loop.next(nullptr));
    }
    scope_.undo(start);
    return nodes_.finish(block, result);
  }
  const Qualifier& q = e.qualifiers[at];
  switch (q.kind) {
    case QualifierKind::kList:
      return collection_loop(e, at, loop, c_.exprs.body({&q.source, 1}), [&](PatternContext& context) {
        return c_.patterns.pattern(*q.pattern, context);
      });
    case QualifierKind::kBinary: return binary_generator(e, at, loop);
    case QualifierKind::kMap: return map_generator(e, at, loop);
    case QualifierKind::kFilter: break;
  }
  auto clause_of = [&](core::PatList patterns, CExpr* test, CExpr* result) {
    return nodes_.make<core::Clause>(core::Clause{q.loc, patterns, test, result});
  };
  if (c_.guards.is_guard_expr(*q.source)) {
    CExpr* test = c_.guards.guard_test(*q.source);
    std::vector<core::Clause*> clauses{clause_of({}, test, qualifiers(e, at + 1, loop)),
                                       clause_of({}, nullptr, loop.next(loop.accumulator))};
    return nodes_.make<core::Case>(q.loc, core::ExprList(), nodes_.keep(clauses), core::Fail::kImpossible);
  }
  const std::size_t start = scope_.mark();
  Block block;
  CExpr* subject = c_.exprs.value(*q.source, block);
  core::Pat* yes = nodes_.literal_pattern(nodes_.atom("true"));
  core::Pat* no = nodes_.literal_pattern(nodes_.atom("false"));
  Var* other = nodes_.fresh("Other");
  core::Pat* any = nodes_.make<core::PVar>(other);
  CExpr* error = nodes_.erlang(
      q.loc, "error", {nodes_.tuple({}, {nodes_.atom_literal({}, "bad_filter"), nodes_.ref(other)})});
  std::vector<core::Clause*> clauses{clause_of(nodes_.copy(&yes, 1), nullptr, qualifiers(e, at + 1, loop)),
                                     clause_of(nodes_.copy(&no, 1), nullptr, loop.next(loop.accumulator)),
                                     clause_of(nodes_.copy(&any, 1), nullptr, error)};
  CExpr* whole = nodes_.finish(block, nodes_.make<core::Case>(q.loc, nodes_.copy(&subject, 1),
                                                              nodes_.keep(clauses), core::Fail::kImpossible));
  scope_.undo(start);
  return whole;
}

/// Returns the guard made of the pattern's tests and of the filters that follow directly and are
/// guards.
core::Expr* ComprehensionToCore::generator_guard(const ComprehensionExpr& e, std::size_t& at,
                                                 std::vector<CExpr*> tests) {
  for (; at < e.qualifiers.size(); ++at) {
    const Qualifier& q = e.qualifiers[at];
    if (q.kind != QualifierKind::kFilter || !c_.guards.is_guard_expr(*q.source)) break;
    tests.push_back(c_.guards.guard_test(*q.source));
  }
  return c_.guards.guard({}, tests);
}

/// Makes a loop function over `subject` (and the accumulator of a binary comprehension), and
/// returns the call that starts it with `source`. The first clause takes one element, by the
/// pattern of shape.element, and runs the inner part. Unless that clause always matches, one with
/// the pattern of shape.skip skips an element. The pattern of shape.end matches an exhausted
/// subject.
core::Expr* ComprehensionToCore::generator_loop(const ComprehensionExpr& e, std::size_t at, Loop& loop,
                                                const GeneratorShape& shape, CExpr* source) {
  const Qualifier& q = e.qualifiers[at];
  const auto clause_of = [&](core::Pat* p, CExpr* test, CExpr* result) {
    return nodes_.make<core::Clause>(core::Clause{q.loc, nodes_.copy(&p, 1), test, result});
  };
  Var* subject = nodes_.fresh(shape.subject_name);
  Var* acc = loop.accumulator ? nodes_.fresh("Acc") : nullptr;
  std::vector<Var*> params{subject};
  if (acc) params.push_back(acc);
  // The line that a process shows while it waits in an element, as in OTP.
  core::LetrecFun* f = loop.kind == ComprehensionKind::kBinary ? loop_function("lbc$^", &q, e.loc, params)
                                                               : loop_function("lc$^", &q, q.loc, params);
  const auto call_loop = [this, f, loc = q.loc](CExpr* next, Var* accumulator) -> CExpr* {
    std::vector<CExpr*> args{next};
    if (accumulator) args.push_back(nodes_.ref(accumulator));
    return nodes_.make<core::ApplyLetrec>(loc, f, nodes_.keep(args));
  };

  std::vector<core::Clause*> clauses;
  const std::size_t start = scope_.mark();
  PatternContext context{start, true};
  Var* rest = nodes_.fresh(shape.rest_name);
  bool always = false;
  core::Pat* taken = shape.element(context, rest, &always);
  std::size_t inner_at = at + 1;
  CExpr* test = generator_guard(e, inner_at, context.tests);
  Loop inner{loop.kind, loop.wanted, acc,
             [this, call_loop, rest](Var* a) { return call_loop(nodes_.ref(rest), a); }};
  clauses.push_back(clause_of(taken, test, qualifiers(e, inner_at, inner)));
  scope_.undo(start);
  if (!always || test) {
    Var* skipped = nodes_.fresh(shape.rest_name);
    core::Pat* any = shape.skip(start, skipped);
    scope_.undo(start);
    clauses.push_back(clause_of(any, nullptr, call_loop(nodes_.ref(skipped), acc)));
  }
  clauses.push_back(clause_of(shape.end(), nullptr, loop.next(acc)));
  Var* bad = nodes_.fresh("Bad");
  clauses.push_back(clause_of(nodes_.make<core::PVar>(bad), nullptr, bad_generator(q.loc, bad)));
  CExpr* subject_ref = nodes_.ref(subject);
  f->body = nodes_.make<core::Case>(q.loc, nodes_.copy(&subject_ref, 1), nodes_.keep(clauses),
                                    core::Fail::kImpossible);
  return nodes_.make<core::Letrec>(q.loc, nodes_.copy(&f, 1), call_loop(source, loop.accumulator));
}

/// A loop over the cells of a list.
core::Expr* ComprehensionToCore::collection_loop(const ComprehensionExpr& e, std::size_t at, Loop& loop,
                                                 CExpr* source,
                                                 const std::function<core::Pat*(PatternContext&)>& element) {
  GeneratorShape shape{"List", "Tail"};
  shape.element = [&](PatternContext& context, Var* tail, bool* always) {
    core::Pat* head = element(context);
    *always = head->kind == core::PatKind::kVar || head->kind == core::PatKind::kWild;
    return nodes_.make<core::PCons>(head, nodes_.make<core::PVar>(tail));
  };
  shape.skip = [&](std::size_t, Var* tail) {
    return nodes_.make<core::PCons>(nodes_.wild(), nodes_.make<core::PVar>(tail));
  };
  shape.end = [&] { return nodes_.literal_pattern(Term::nil()); };
  return generator_loop(e, at, loop, shape, source);
}

core::Expr* ComprehensionToCore::bad_generator(Loc loc, Var* subject) {
  return nodes_.erlang(loc, "error",
                       {nodes_.tuple({}, {nodes_.atom_literal({}, "bad_generator"), nodes_.ref(subject)})});
}

/// Makes a loop over a bit string. One pattern takes an element and the rest behind it. A second
/// one, which only has its shape, skips other values. A rest without even that shape ends the loop.
core::Expr* ComprehensionToCore::binary_generator(const ComprehensionExpr& e, std::size_t at, Loop& loop) {
  const Qualifier& q = e.qualifiers[at];
  const auto& segments = q.pattern->as<BinaryExpr>();
  CExpr* source = c_.exprs.body({&q.source, 1});
  GeneratorShape shape{"Bits", "Rest"};
  shape.element = [&](PatternContext& context, Var* rest, bool* always) {
    core::Pat* p = c_.patterns.binary_pattern(segments, context, rest);
    *always = true;
    for (const core::PSegment& s : p->as<core::PBinary>().segments)
      *always = *always && s.spec.type != core::SegType::kFloat &&
                (s.value->kind == core::PatKind::kVar || s.value->kind == core::PatKind::kWild);
    return p;
  };
  shape.skip = [&](std::size_t start, Var* rest) {
    PatternContext any{start, true, true};
    return c_.patterns.binary_pattern(segments, any, rest);
  };
  shape.end = [&] {
    core::SegSpec all;
    all.type = core::SegType::kBinary;
    std::vector<core::PSegment> remainder{{all, nodes_.wild(), nullptr}};
    return nodes_.make<core::PBinary>(nodes_.keep(remainder));
  };
  return generator_loop(e, at, loop, shape, source);
}

/// A map (or map iterator) is walked as the list of its pairs.
core::Expr* ComprehensionToCore::map_generator(const ComprehensionExpr& e, std::size_t at, Loop& loop) {
  const Qualifier& q = e.qualifiers[at];
  CExpr* source = c_.exprs.body({&q.source, 1});
  Var* map = nodes_.fresh("Map");
  Var* bad = nodes_.fresh("Bad");
  auto clause_of = [&](core::Pat* p, CExpr* test, CExpr* result) {
    return nodes_.make<core::Clause>(core::Clause{q.loc, nodes_.copy(&p, 1), test, result});
  };
  std::vector<CExpr*> kinds{nodes_.erlang({}, "is_map", {nodes_.ref(map)}),
                            nodes_.erlang({}, "is_list", {nodes_.ref(map)}),
                            nodes_.erlang({}, "is_tuple", {nodes_.ref(map)})};
  CExpr* known = nodes_.make<core::AnyOf>(q.loc, nodes_.keep(kinds));
  std::vector<core::Clause*> clauses{
      clause_of(nodes_.make<core::PVar>(map), known,
                nodes_.call(q.loc, "maps", "to_list", {nodes_.ref(map)})),
      clause_of(nodes_.make<core::PVar>(bad), nullptr, bad_generator(q.loc, bad))};
  CExpr* pairs =
      nodes_.make<core::Case>(q.loc, nodes_.copy(&source, 1), nodes_.keep(clauses), core::Fail::kImpossible);
  return collection_loop(e, at, loop, pairs, [&](PatternContext& context) {
    core::Pat* pair[2] = {c_.patterns.pattern(*q.pattern, context), nullptr};
    pair[1] = c_.patterns.pattern(*q.value_pattern, context);
    return nodes_.make<core::PTuple>(nodes_.copy(pair, 2));
  });
}

}  // namespace vmrun::compile
