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

/// A generator of a loop: its subject, and the patterns that take that apart.
struct ComprehensionToCore::Generator {
  const char* subject_name;  // names of variables, for a reader of the assembly
  const char* rest_name;
  bool strict = false;
  CExpr* source = nullptr;
  /// The pattern of an element that is wanted. Sets `always` if it matches every element.
  std::function<core::Pat*(PatternContext&, Var* rest, bool* always)> element = {};
  /// A pattern that any element matches.
  std::function<core::Pat*(std::size_t start, Var* rest)> skip = {};
  /// The pattern of an exhausted subject.
  std::function<core::Pat*()> end = {};
  /// A pattern that any subject with an element matches; a strict generator fails with `bad`.
  std::function<core::Pat*(Var* bad)> mismatch = {};
  /// The subject of the next round; without it, the rest.
  std::function<CExpr*(Var* rest)> next = {};
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

/// Puts what one round makes in front of what the following rounds make.
core::Expr* ComprehensionToCore::add_values(const ComprehensionExpr& e, CExpr* result, Block& block) {
  std::vector<const Expr*> parts;
  for (const ComprehensionValue& made : e.values) {
    if (made.key) parts.push_back(made.key);
    parts.push_back(made.value);
  }
  std::vector<CExpr*> items = c_.exprs.operands(parts, block);
  if (e.what == ComprehensionKind::kMap)
    for (std::size_t i = 0; i < e.values.size(); ++i)
      items[i] = nodes_.tuple(e.loc, {items[2 * i], items[2 * i + 1]});
  for (std::size_t i = e.values.size(); i-- > 0;) result = nodes_.make<core::Cons>(e.loc, items[i], result);
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
      const Expr& value = *e.values[0].value;
      std::vector<core::Segment> segments{{bits, nodes_.ref(loop.accumulator), nullptr, value.loc}};
      if (value.is(ExprKind::kBinary)) c_.binaries.append_segments(value.as<BinaryExpr>(), block, segments);
      else segments.push_back({bits, c_.exprs.value(value, block), nullptr, value.loc});
      Var* longer = nodes_.fresh("Acc");
      CExpr* binary = nodes_.make<core::Binary>(value.loc, nodes_.keep(segments));
      result = nodes_.make<core::Let>(e.loc, nodes_.copy(&longer, 1), binary, loop.next(longer));
    } else if (!loop.wanted) {
      for (const ComprehensionValue& made : e.values) c_.exprs.effect(*made.value, block);
      result = loop.next(nullptr);
    } else {
      result = add_values(e, loop.next(nullptr), block);
    }
    scope_.undo(start);
    return nodes_.finish(block, result);
  }
  const Qualifier& q = e.qualifiers[at];
  if (q.generates()) return generator_loop(e, at, loop);
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

/// Makes a loop function over the subjects of a generator or zip (and the accumulator of a binary
/// comprehension), and returns the call that starts it. The first clause takes one element of each
/// and runs the inner part. Where elements may be passed over, a second one does that. Then come
/// the clauses for exhausted subjects and for what is wrong.
core::Expr* ComprehensionToCore::generator_loop(const ComprehensionExpr& e, std::size_t at, Loop& loop) {
  const Qualifier& q = e.qualifiers[at];
  const bool zip = q.kind == QualifierKind::kZip;
  const Loc loc = q.parts()[0].loc;
  const Loc source_loc = q.parts()[0].source->loc;
  std::vector<Generator> generators;
  std::vector<Var*> subjects;
  std::vector<CExpr*> sources;
  for (const Qualifier& part : q.parts()) {
    generators.push_back(generator(part, zip));
    subjects.push_back(nodes_.fresh(generators.back().subject_name));
    sources.push_back(generators.back().source);
  }
  const auto clause_of = [&](const std::vector<core::Pat*>& patterns, CExpr* test, CExpr* result) {
    return nodes_.make<core::Clause>(core::Clause{loc, nodes_.keep(patterns), test, result});
  };
  Var* acc = loop.accumulator ? nodes_.fresh("Acc") : nullptr;
  std::vector<Var*> params = subjects;
  if (acc) params.push_back(acc);
  // The line that a process shows while it waits in an element, as in OTP.
  core::LetrecFun* f = loop.kind == ComprehensionKind::kBinary
                           ? loop_function(zip ? "bzip$^" : "lbc$^", &q, e.loc, params)
                           : loop_function(zip ? "zlc$^" : "lc$^", &q, loc, params);
  const auto call_loop = [this, f, loc](std::vector<CExpr*> args, Var* accumulator) -> CExpr* {
    if (accumulator) args.push_back(nodes_.ref(accumulator));
    return nodes_.make<core::ApplyLetrec>(loc, f, nodes_.keep(args));
  };
  const auto rests_of = [&] {
    std::vector<Var*> rests;
    for (const Generator& g : generators) rests.push_back(nodes_.fresh(g.rest_name));
    return rests;
  };
  const auto next_round = [&](const std::vector<Var*>& rests, Var* accumulator) {
    std::vector<CExpr*> args;
    for (std::size_t i = 0; i < rests.size(); ++i)
      args.push_back(generators[i].next ? generators[i].next(rests[i]) : nodes_.ref(rests[i]));
    return call_loop(args, accumulator);
  };

  std::vector<core::Clause*> clauses;
  const std::size_t start = scope_.mark();
  PatternContext context{start, true};
  const std::vector<Var*> rests = rests_of();
  std::vector<core::Pat*> patterns;
  bool all_match = true;    // every element of every subject
  bool none_passed = true;  // no generator that is not strict passes over an element
  for (std::size_t i = 0; i < generators.size(); ++i) {
    bool always = false;
    patterns.push_back(generators[i].element(context, rests[i], &always));
    all_match = all_match && always;
    none_passed = none_passed && (always || generators[i].strict);
  }
  std::size_t inner_at = at + 1;
  CExpr* test = generator_guard(e, inner_at, context.tests);
  Loop inner{loop.kind, loop.wanted, acc, [&](Var* a) { return next_round(rests, a); }};
  clauses.push_back(clause_of(patterns, test, qualifiers(e, inner_at, inner)));
  scope_.undo(start);
  if (!none_passed || test) clauses.push_back(pass_over(generators, rests_of(), loc, acc, next_round));
  patterns.clear();
  for (const Generator& g : generators) patterns.push_back(g.end());
  clauses.push_back(clause_of(patterns, nullptr, loop.next(acc)));
  if (!zip && generators[0].strict && (!all_match || q.kind == QualifierKind::kBinary)) {
    Var* bad = nodes_.fresh("Bad");
    clauses.push_back(clause_of({generators[0].mismatch(bad)}, nullptr, failure(loc, "badmatch", {bad})));
  }
  patterns.clear();
  std::vector<CExpr*> subject_refs;
  std::vector<Var*> bad;
  for (Var* subject : subjects) {
    subject_refs.push_back(nodes_.ref(subject));
    bad.push_back(nodes_.fresh("Bad"));
    patterns.push_back(nodes_.make<core::PVar>(bad.back()));
  }
  clauses.push_back(
      clause_of(patterns, nullptr, failure(source_loc, zip ? "bad_generators" : "bad_generator", bad)));
  f->body =
      nodes_.make<core::Case>(loc, nodes_.keep(subject_refs), nodes_.keep(clauses), core::Fail::kImpossible);
  return nodes_.make<core::Letrec>(loc, nodes_.copy(&f, 1), call_loop(sources, loop.accumulator));
}

/// Makes the clause that goes on without one element of each subject. An element of a strict
/// generator has to match for that.
core::Clause* ComprehensionToCore::pass_over(
    const std::vector<Generator>& generators, const std::vector<Var*>& rests, Loc loc, Var* accumulator,
    const std::function<CExpr*(const std::vector<Var*>&, Var*)>& next_round) {
  const std::size_t start = scope_.mark();
  PatternContext context{start, true};
  std::vector<core::Pat*> patterns;
  bool always = false;
  for (std::size_t i = 0; i < generators.size(); ++i) {
    const Generator& g = generators[i];
    patterns.push_back(g.strict ? g.element(context, rests[i], &always) : g.skip(start, rests[i]));
  }
  CExpr* test = c_.guards.guard({}, context.tests);
  scope_.undo(start);
  return nodes_.make<core::Clause>(
      core::Clause{loc, nodes_.keep(patterns), test, next_round(rests, accumulator)});
}

core::Expr* ComprehensionToCore::failure(Loc loc, std::string_view reason, const std::vector<Var*>& terms) {
  std::vector<CExpr*> refs;
  for (Var* v : terms) refs.push_back(nodes_.ref(v));
  CExpr* what = reason == "bad_generators" ? nodes_.tuple({}, refs) : refs[0];
  return nodes_.erlang(loc, "error", {nodes_.tuple({}, {nodes_.atom_literal({}, reason), what})});
}

ComprehensionToCore::Generator ComprehensionToCore::generator(const Qualifier& q, bool zipped) {
  switch (q.kind) {
    case QualifierKind::kBinary: return binary_generator(q);
    case QualifierKind::kMap: return zipped ? map_iterator(q) : map_pairs(q);
    default: break;
  }
  return list_generator(q, c_.exprs.body({&q.source, 1}), [this, &q](PatternContext& context) {
    return c_.patterns.pattern(*q.pattern, context);
  });
}

/// A generator over the cells of a list.
ComprehensionToCore::Generator ComprehensionToCore::list_generator(
    const Qualifier& q, CExpr* source, const std::function<core::Pat*(PatternContext&)>& element) {
  Generator g{"List", "Tail", q.strict, source};
  g.element = [this, element](PatternContext& context, Var* tail, bool* always) {
    core::Pat* head = element(context);
    *always = head->kind == core::PatKind::kVar || head->kind == core::PatKind::kWild;
    return nodes_.make<core::PCons>(head, nodes_.make<core::PVar>(tail));
  };
  g.skip = [this](std::size_t, Var* tail) {
    return nodes_.make<core::PCons>(nodes_.wild(), nodes_.make<core::PVar>(tail));
  };
  g.end = [this] { return nodes_.literal_pattern(Term::nil()); };
  g.mismatch = [this](Var* bad) {
    return nodes_.make<core::PCons>(nodes_.make<core::PVar>(bad), nodes_.wild());
  };
  return g;
}

/// A generator over a bit string. One pattern takes an element and the rest behind it. A second
/// one, which only has its shape, skips other values. A rest without even that shape ends the loop,
/// unless the generator is strict.
ComprehensionToCore::Generator ComprehensionToCore::binary_generator(const Qualifier& q) {
  const auto& segments = q.pattern->as<BinaryExpr>();
  const auto any_bits = [this] {
    core::SegSpec all;
    all.type = core::SegType::kBinary;
    std::vector<core::PSegment> remainder{{all, nodes_.wild(), nullptr}};
    return nodes_.make<core::PBinary>(nodes_.keep(remainder));
  };
  Generator g{"Bits", "Rest", q.strict, c_.exprs.body({&q.source, 1})};
  g.element = [this, &segments](PatternContext& context, Var* rest, bool* always) {
    core::Pat* p = c_.patterns.binary_pattern(segments, context, rest);
    *always = true;
    for (const core::PSegment& s : p->as<core::PBinary>().segments)
      *always = *always && s.spec.type != core::SegType::kFloat &&
                (s.value->kind == core::PatKind::kVar || s.value->kind == core::PatKind::kWild);
    return p;
  };
  g.skip = [this, &segments](std::size_t start, Var* rest) {
    PatternContext any{start, true, true};
    return c_.patterns.binary_pattern(segments, any, rest);
  };
  g.end = [this, any_bits, strict = q.strict]() -> core::Pat* {
    return strict ? nodes_.make<core::PBinary>(std::span<const core::PSegment>()) : any_bits();
  };
  g.mismatch = [this, any_bits](Var* bad) {
    return nodes_.make<core::PAlias>(nodes_.make<core::PVar>(bad), any_bits());
  };
  return g;
}

/// Evaluates the subject of a map generator, a map or an iterator. Returns the call of
/// `maps:function` with it, or with what `maps:of_map` makes of it where that is given.
core::Expr* ComprehensionToCore::map_subject(const Qualifier& q, std::string_view function,
                                             std::string_view of_map) {
  CExpr* source = c_.exprs.body({&q.source, 1});
  std::vector<core::Clause*> clauses;
  const auto add = [&](Var* subject, const std::vector<CExpr*>& tests, CExpr* result) {
    core::Pat* p = nodes_.make<core::PVar>(subject);
    CExpr* test = tests.empty() ? nullptr : nodes_.make<core::AnyOf>(q.loc, nodes_.keep(tests));
    clauses.push_back(nodes_.make<core::Clause>(core::Clause{q.loc, nodes_.copy(&p, 1), test, result}));
  };
  Var* map = nodes_.fresh("Map");
  CExpr* given = nodes_.ref(map);
  if (!of_map.empty()) given = nodes_.call(q.loc, "maps", of_map, {given});
  add(map, {nodes_.erlang({}, "is_map", {nodes_.ref(map)})}, nodes_.call(q.loc, "maps", function, {given}));
  Var* iterator = nodes_.fresh("Iterator");
  const auto rest = [&] {
    return nodes_.erlang({}, "element", {nodes_.integer_literal({}, 3), nodes_.ref(iterator)});
  };
  add(iterator,
      {nodes_.erlang({}, "is_map", {nodes_.erlang({}, "tl", {nodes_.ref(iterator)})}),
       nodes_.erlang({}, "=:=", {nodes_.ref(iterator), nodes_.atom_literal({}, "none")}),
       nodes_.erlang({}, "=:=", {rest(), nodes_.atom_literal({}, "none")}),
       nodes_.erlang({}, "is_list", {rest()}), nodes_.erlang({}, "is_tuple", {rest()})},
      nodes_.call(q.loc, "maps", function, {nodes_.ref(iterator)}));
  Var* bad = nodes_.fresh("Bad");
  add(bad, {}, failure(q.loc, "bad_generator", {bad}));
  return nodes_.make<core::Case>(q.loc, nodes_.copy(&source, 1), nodes_.keep(clauses),
                                 core::Fail::kImpossible);
}

/// A map (or map iterator) is walked as the list of its pairs.
ComprehensionToCore::Generator ComprehensionToCore::map_pairs(const Qualifier& q) {
  return list_generator(q, map_subject(q, "to_list", {}), [this, &q](PatternContext& context) {
    core::Pat* pair[2] = {c_.patterns.pattern(*q.pattern, context), nullptr};
    pair[1] = c_.patterns.pattern(*q.value_pattern, context);
    return nodes_.make<core::PTuple>(nodes_.copy(pair, 2));
  });
}

/// In a zip a map is walked by an iterator, `{Key, Value, Next}` or `none`, because the error shows
/// that if the subjects differ in length.
ComprehensionToCore::Generator ComprehensionToCore::map_iterator(const Qualifier& q) {
  const auto triple = [this](core::Pat* key, core::Pat* value, Var* rest) {
    core::Pat* parts[3] = {key, value, nodes_.make<core::PVar>(rest)};
    return nodes_.make<core::PTuple>(nodes_.copy(parts, 3));
  };
  Generator g{"Iterator", "Next", q.strict, map_subject(q, "next", "iterator")};
  g.element = [this, &q, triple](PatternContext& context, Var* rest, bool* always) {
    core::Pat* key = c_.patterns.pattern(*q.pattern, context);
    core::Pat* value = c_.patterns.pattern(*q.value_pattern, context);
    const auto any = [](const core::Pat* p) {
      return p->kind == core::PatKind::kVar || p->kind == core::PatKind::kWild;
    };
    *always = any(key) && any(value);
    return triple(key, value, rest);
  };
  g.skip = [this, triple](std::size_t, Var* rest) { return triple(nodes_.wild(), nodes_.wild(), rest); };
  g.end = [this] { return nodes_.literal_pattern(nodes_.atom("none")); };
  g.next = [this, loc = q.loc](Var* rest) { return nodes_.call(loc, "maps", "next", {nodes_.ref(rest)}); };
  return g;
}

}  // namespace vmrun::compile
