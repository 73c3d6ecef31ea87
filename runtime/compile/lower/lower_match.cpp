// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_match.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/compile/lower/lower_cond.hpp"
#include "runtime/compile/lower/lower_expr.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::compile::lower {

using namespace core;

namespace {

/// Kinds of terms that are pairwise disjoint.
enum TypeGroup {
  kListType,
  kTupleType,
  kAtomType,
  kSmallType,
  kOtherType,
  kMapType,
  kRecordType,
  kBinaryType,
  kTypes
};

TypeGroup type_of(const Pat* p) {
  switch (p->kind) {
    case PatKind::kCons: return kListType;
    case PatKind::kTuple: return kTupleType;
    case PatKind::kMap: return kMapType;
    case PatKind::kRecord: return kRecordType;
    case PatKind::kBinary: return kBinaryType;
    default: break;
  }
  const Term t = p->as<PLiteral>().value;
  if (t.is_cons_or_nil()) return kListType;
  if (t.is_atom()) return kAtomType;
  if (t.is_small()) return kSmallType;
  return t.is_tuple() ? kTupleType : kOtherType;
}

bool always_true(const Expr* guard) {
  return !guard || (guard->kind == Kind::kLiteral && guard->as<Literal>().value == atoms::true_);
}

/// Visits the variables that a guard (or a size) reads.
void variables_of(const Expr* e, const std::function<void(Var*)>& f) {
  auto all = [&](ExprList es) {
    for (Expr* x : es) variables_of(x, f);
  };
  switch (e->kind) {
    case Kind::kVar: f(e->as<VarRef>().var); break;
    case Kind::kCons:
      variables_of(e->as<Cons>().head, f);
      variables_of(e->as<Cons>().tail, f);
      break;
    case Kind::kTuple: all(e->as<Tuple>().elements); break;
    case Kind::kMap:
      if (e->as<Map>().base != nullptr) variables_of(e->as<Map>().base, f);
      for (const MapPair& p : e->as<Map>().pairs) {
        variables_of(p.key, f);
        variables_of(p.value, f);
      }
      break;
    case Kind::kBinary:
      for (const Segment& s : e->as<Binary>().segments) {
        variables_of(s.value, f);
        if (s.size) variables_of(s.size, f);
      }
      break;
    case Kind::kRecord:
      if (e->as<Record>().base != nullptr) variables_of(e->as<Record>().base, f);
      for (const RecordPair& p : e->as<Record>().pairs) variables_of(p.value, f);
      break;
    case Kind::kLet:
      variables_of(e->as<Let>().arg, f);
      variables_of(e->as<Let>().body, f);
      break;
    case Kind::kCall: all(e->as<Call>().args); break;
    case Kind::kAndAlso:
      variables_of(e->as<AndAlso>().left, f);
      variables_of(e->as<AndAlso>().right, f);
      break;
    case Kind::kOrElse:
      variables_of(e->as<OrElse>().left, f);
      variables_of(e->as<OrElse>().right, f);
      break;
    case Kind::kAllOf: all(e->as<AllOf>().tests); break;
    case Kind::kAnyOf: all(e->as<AnyOf>().alternatives); break;
    default: break;
  }
}

}  // namespace

// --- the algorithm -------------------------------------------------------------------------------

void MatchCompiler::run(const std::vector<Arg>& subjects, ClauseList clauses, BlockId fail, Dest d,
                        bool in_receive) {
  clauses_ = clauses;
  in_receive_ = in_receive;
  leaves_.resize(clauses.size());
  std::vector<Occ*> roots;
  for (Arg s : subjects) roots.push_back(places_.root(s.value));
  Rows rows(clauses.size());
  for (std::uint32_t i = 0; i < clauses.size(); ++i) {
    rows[i].clause = i;
    for (std::size_t k = roots.size(); k-- > 0;) add(arena_, rows[i], roots[k], clauses[i]->patterns[k]);
  }
  budget_ = 32 + 2 * rows.size();
  match(std::move(rows), fail);
  for (std::uint32_t i = 0; i < clauses.size(); ++i) body(i, d);
}

/// Returns the end of the clauses from `i` on that read the same segment of a binary next.
std::size_t MatchCompiler::end_of_reads(const Rows& rows, std::size_t i, const Occ* at) {
  std::size_t end = i + 1;
  const Cell& first = rows[i].cells.back();
  for (; end < rows.size(); ++end) {
    const Cell* c = cell_at(rows[end], at);
    if (!c || c->segment != first.segment) break;
    const auto a = first.pat->as<PBinary>().segments, b = c->pat->as<PBinary>().segments;
    const bool a_end = first.segment == a.size(), b_end = c->segment == b.size();
    if (a_end != b_end ||
        (!a_end && !BitMatcher::same_shape(a[first.segment], b[c->segment], rows[i], rows[end])))
      break;
  }
  return end;
}

/// Returns the end of the clauses from `i` on that are grouped by their test of a place.
std::size_t MatchCompiler::end_of_part(const Rows& rows, std::size_t i, const Occ* at) {
  // The part ends with the last clause that tests the place. Clauses in between are copied to every
  // group.
  std::size_t run = 0, others = 0, looking = 0, last = i;
  bool unbroken = true;
  std::size_t k = i;
  for (; k < rows.size(); ++k) {
    if (cell_at(rows[k], at) != nullptr) {
      if (unbroken) run = k + 1 - i;
      last = k;
      ++looking;
    } else {
      unbroken = false;
      if (rows[k].cells.empty() && always_true(clauses_[rows[k].clause]->guard)) break;
      ++others;
    }
  }
  const std::size_t end = last + 1;
  std::size_t after = k - end, between = others - std::min(others, after);
  const std::size_t groups = looking + 1;  // at most
  if (between > 0 && copies_ + between * groups > budget_) return i + run;
  if (after > 0 && after <= 8 && !rows[end].cells.empty() &&
      copies_ + (between + after) * groups <= budget_) {
    copies_ += (between + after) * groups;
    return k;
  }
  copies_ += between * groups;
  return end;
}

/// Reading moves the context forward. If one of the `later` clauses reads the same place again, its
/// position is restored.
void MatchCompiler::read(Rows part, std::span<const Row> later, Occ* at, BlockId next) {
  const std::size_t m = places_.mark();
  const BlockId base = blocks_.here();
  bool again = false;
  for (const Row& row : later) again = again || cell_at(row, at) != nullptr;
  BlockId restore = next;
  const ValueId context = places_.fetch(at);
  Arg position;
  if (again) {
    position = blocks_.emit_value(Op::kBsGetPosition, {Arg::of(context)});
    restore = blocks_.new_block();
  }
  bits_.segments(std::move(part), at, next, restore);
  places_.undo(m, base);
  if (again) {
    blocks_.start(restore);
    blocks_.emit(Op::kBsSetPosition, {Arg::of(context), position});
    blocks_.jump(next);
  }
}

void MatchCompiler::match(Rows rows, BlockId fail) {
  std::size_t i = 0;
  while (i < rows.size()) {
    const std::size_t m = places_.mark();
    const BlockId base = blocks_.here();
    if (rows[i].cells.empty()) {
      const BlockId next = i + 1 < rows.size() ? blocks_.new_block() : fail;
      if (!leaf(rows[i], next)) return;
      places_.undo(m, base);
      if (++i == rows.size()) return;
      blocks_.start(next);
      continue;
    }
    Occ* at = rows[i].cells.back().at;
    const std::size_t end = at->kind == Occ::kBinRest ? end_of_reads(rows, i, at) : end_of_part(rows, i, at);
    const BlockId next = end < rows.size() ? blocks_.new_block() : fail;
    Rows part(std::make_move_iterator(rows.begin() + static_cast<std::ptrdiff_t>(i)),
              std::make_move_iterator(rows.begin() + static_cast<std::ptrdiff_t>(end)));
    if (at->kind == Occ::kBinRest) {
      read(std::move(part), std::span(rows).subspan(end), at, next);
    } else {
      if (at->kind == Occ::kMapValue) map_key(std::move(part), at, next);
      else if (at->kind >= Occ::kRecordName && at->kind <= Occ::kRecordValue)
        record_part(std::move(part), at, next);
      else dispatch(std::move(part), at, next);
      places_.undo(m, base);
    }
    if (end == rows.size()) return;
    blocks_.start(next);
    i = end;
  }
  blocks_.jump(fail);
}

/// All tests of a clause are done. Returns whether a guard may still fail (and go to `next`).
bool MatchCompiler::leaf(Row& row, BlockId next) {
  Clause* c = clauses_[row.clause];
  const bool guarded = !always_true(c->guard);
  if (guarded) {
    std::unordered_map<Var*, Occ*> bound;
    for (const Binding& b : row.bindings) bound[b.var] = b.at;
    variables_of(c->guard, [&](Var* v) {
      if (auto it = bound.find(v); it != bound.end()) c_.bind(v, Arg::of(places_.fetch(it->second)));
    });
    const BlockId yes = blocks_.new_block();
    c_.conds.cond(c->guard, yes, next, next);
    blocks_.start(yes);
  }
  Leaf leaf;
  for (const Binding& b : row.bindings) leaf.values.push_back({b.var, Arg::of(places_.fetch(b.at))});
  leaf.block = blocks_.here();
  leaves_[row.clause].push_back(std::move(leaf));
  return guarded;
}

void MatchCompiler::body(std::uint32_t clause, Dest d) {
  auto& leaves = leaves_[clause];
  if (leaves.empty()) return;
  if (leaves.size() == 1) {
    for (auto& [var, value] : leaves[0].values) c_.bind(var, value);
    blocks_.start(leaves[0].block);
  } else {
    // Several paths lead here; values that differ are passed as parameters.
    const BlockId join = blocks_.new_block();
    std::unordered_map<Var*, std::size_t> position;
    std::vector<bool> same;
    auto& first = leaves[0].values;
    for (std::size_t i = 0; i < first.size(); ++i) position[first[i].first] = i;
    for (std::size_t i = 0; i < first.size(); ++i) same.push_back(true);
    std::vector<std::vector<Arg>> rows(leaves.size(), std::vector<Arg>(first.size()));
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      for (auto& [var, value] : leaves[k].values) {
        const std::size_t i = position[var];
        rows[k][i] = value;
        if (!(value == first[i].second)) same[i] = false;
      }
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (same[i]) {
        c_.bind(first[i].first, first[i].second);
        continue;
      }
      ValueId p = fn_.new_value();
      fn_.blocks[join].params.push_back(p);
      c_.bind(first[i].first, Arg::of(p));
    }
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      std::vector<Arg> args;
      for (std::size_t i = 0; i < first.size(); ++i)
        if (!same[i]) args.push_back(rows[k][i]);
      blocks_.start(leaves[k].block);
      blocks_.jump(join, std::move(args));
    }
    blocks_.start(join);
  }
  if (in_receive_) blocks_.emit(Op::kRemoveMessage, {});
  c_.exprs.to(clauses_[clause]->body, d);
}

// --- groups by type ------------------------------------------------------------------------------

/// Sorts rows by type, then tests one type after the other. Rows that do not test `at` belong to
/// all groups and to the rest.
void MatchCompiler::dispatch(Rows rows, Occ* at, BlockId fail) {
  constexpr int kAny = -1;
  std::vector<int> order, types;
  for (const Row& r : rows) {
    const Cell* c = cell_at(r, at);
    types.push_back(!c ? kAny : type_of(c->pat));
    if (c && std::find(order.begin(), order.end(), types.back()) == order.end())
      order.push_back(types.back());
  }
  places_.fetch(at);
  const BlockId base = blocks_.here();
  const std::size_t m = places_.mark();
  Rows rest;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (types[i] == kAny) rest.push_back(rows[i]);
  const BlockId other = rest.empty() ? fail : blocks_.new_block();
  BlockId here = base;
  for (std::size_t k = 0; k < order.size(); ++k) {
    Rows part;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (types[i] == order[k]) part.push_back(std::move(rows[i]));
      else if (types[i] == kAny) part.push_back(rows[i]);
    }
    const BlockId next = k + 1 == order.size() ? other : blocks_.new_block();
    blocks_.start(here);
    switch (order[k]) {
      case kListType: lists(std::move(part), at, {fail, next, other}); break;
      case kTupleType: tuples(std::move(part), at, {fail, next, other}); break;
      case kMapType: maps(std::move(part), at, {fail, next, other}); break;
      case kRecordType: records(std::move(part), at, {fail, next, other}); break;
      case kBinaryType: bits_.binaries(std::move(part), at, {fail, next, other}); break;
      default: constants(std::move(part), at, {fail, next, other}, order[k] != kOtherType); break;
    }
    places_.undo(m, base);
    here = next;
  }
  if (!rest.empty()) {
    blocks_.start(other);
    match(std::move(rest), fail);
    places_.undo(m, base);
  }
}

/// Groups rows by `key_of` their pattern at `at`; rows without one go to every group. The order is
/// kept.
template <class KeyOf, class Same>
std::vector<MatchCompiler::Group> MatchCompiler::group(Rows rows, const Occ* at, KeyOf key_of, Same same) {
  std::vector<Group> groups;
  std::unordered_map<Word, std::size_t> by_word;
  std::vector<std::size_t> of(rows.size(), kNone);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Cell* c = cell_at(rows[i], at);
    if (!c) continue;
    Term key = key_of(c->pat);
    std::size_t g = groups.size();
    if (auto it = by_word.find(key.raw()); it != by_word.end()) {
      g = it->second;
    } else if (!key.is_immed()) {
      for (std::size_t k = 0; k < groups.size(); ++k)
        if (same(groups[k].key, key)) g = k;
    }
    if (g == groups.size()) {
      groups.push_back({key, {}});
      by_word[key.raw()] = g;
    }
    of[i] = g;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (of[i] != kNone) {
      groups[of[i]].rows.push_back(std::move(rows[i]));
    } else {
      for (Group& g : groups) g.rows.push_back(rows[i]);
    }
  }
  return groups;
}

void MatchCompiler::constants(Rows rows, Occ* at, Exits x, bool select) {
  const Arg v = Arg::of(places_.fetch(at));
  auto groups = group(
      std::move(rows), at, [](const Pat* p) { return p->as<PLiteral>().value; }, equal_exact);
  for (Group& g : groups)
    for (Row& r : g.rows) take(r, at);
  const BlockId base = blocks_.here();
  const std::size_t m = places_.mark();
  if (select && groups.size() > 1) {
    std::vector<SwitchCase> cases;
    for (Group& g : groups) cases.push_back({g.key, blocks_.new_block()});
    Block& b = blocks_.cur();
    b.end = BlockEnd::kSwitchValue;
    b.subject = v;
    b.cases = cases;
    b.fail = x.not_type;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      blocks_.start(cases[i].to);
      match(std::move(groups[i].rows), x.fail);
      places_.undo(m, base);
    }
    return;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const BlockId yes = blocks_.new_block();
    const BlockId no = i + 1 == groups.size() ? x.not_type : blocks_.new_block();
    blocks_.test(Test::kEqExact, {v, Arg::lit(groups[i].key)}, yes, no);
    blocks_.start(yes);
    match(std::move(groups[i].rows), x.fail);
    places_.undo(m, base);
    if (no != x.not_type) blocks_.start(no);
  }
}

namespace {

bool is_nil(const Pat* p) { return p->kind == PatKind::kLiteral && p->as<PLiteral>().value.is_nil(); }

}  // namespace

/// If the only test of `at` in the group is one whole literal, compares with it at once.
bool MatchCompiler::whole_literal(Rows& rows, Occ* at, Exits x) {
  std::size_t looking = 0;
  const Cell* only = nullptr;
  for (const Row& r : rows) {
    const Cell* c = cell_at(r, at);
    if (!c) continue;
    ++looking;
    only = c;
  }
  if (looking != 1 || only->pat->kind != PatKind::kLiteral || rows.size() != 1) return false;
  const Term literal = only->pat->as<PLiteral>().value;
  const BlockId yes = blocks_.new_block();
  blocks_.test(Test::kEqExact, {Arg::of(places_.fetch(at)), Arg::lit(literal)}, yes, x.not_type);
  blocks_.start(yes);
  take(rows[0], at);
  match(std::move(rows), x.fail);
  return true;
}

void MatchCompiler::lists(Rows rows, Occ* at, Exits x) {
  const Arg v = Arg::of(places_.fetch(at));
  bool any_nil = false, any_cons = false;
  for (const Row& r : rows) {
    const Cell* c = cell_at(r, at);
    if (c) (is_nil(c->pat) ? any_nil : any_cons) = true;
  }
  if (!any_nil && whole_literal(rows, at, x)) return;
  Rows cons, nil;
  for (Row& r : rows) {
    const Cell* c = cell_at(r, at);
    if (!c) {
      nil.push_back(r);
      cons.push_back(std::move(r));
      continue;
    }
    if (is_nil(c->pat)) {
      take(r, at);
      nil.push_back(std::move(r));
      continue;
    }
    Cell cell = take(r, at);
    Occ* head = places_.child(at, Occ::kHead, 0);
    Occ* tail = places_.child(at, Occ::kTail, 0);
    if (cell.pat->kind == PatKind::kCons) {
      add(arena_, r, tail, cell.pat->as<PCons>().tail);
      add(arena_, r, head, cell.pat->as<PCons>().head);
    } else {
      const Term t = cell.pat->as<PLiteral>().value;
      add(arena_, r, tail, arena_.make<PLiteral>(t.tail()));
      add(arena_, r, head, arena_.make<PLiteral>(t.head()));
    }
    cons.push_back(std::move(r));
  }
  const BlockId base = blocks_.here();
  const std::size_t m = places_.mark();
  const BlockId no = any_nil && any_cons ? blocks_.new_block() : x.not_type;
  if (any_cons) {
    const BlockId yes = blocks_.new_block();
    blocks_.test(Test::kNonemptyList, {v}, yes, no);
    blocks_.start(yes);
    match(std::move(cons), x.fail);
    places_.undo(m, base);
  }
  if (!any_nil) return;
  if (any_cons) blocks_.start(no);
  const BlockId yes = blocks_.new_block();
  blocks_.test(Test::kNil, {v}, yes, x.not_type);
  blocks_.start(yes);
  match(std::move(nil), x.fail);
  places_.undo(m, base);
}

void MatchCompiler::tuples(Rows rows, Occ* at, Exits x) {
  if (whole_literal(rows, at, x)) return;
  const Arg v = Arg::of(places_.fetch(at));
  auto arity = [](const Pat* p) -> std::size_t {
    return p->kind == PatKind::kTuple ? p->as<PTuple>().elements.size()
                                      : p->as<PLiteral>().value.tuple_arity();
  };
  auto groups = group(
      std::move(rows), at, [&](const Pat* p) { return Term::small(static_cast<SWord>(arity(p))); },
      [](Term, Term) { return false; });
  for (Group& g : groups) {
    for (Row& r : g.rows) {
      if (cell_at(r, at) == nullptr) continue;
      Cell cell = take(r, at);
      for (std::size_t i = arity(cell.pat); i-- > 0;) {
        const Pat* p = cell.pat->kind == PatKind::kTuple
                           ? cell.pat->as<PTuple>().elements[i]
                           : arena_.make<PLiteral>(cell.pat->as<PLiteral>().value.element(i));
        add(arena_, r, places_.child(at, Occ::kElement, i), p);
      }
    }
  }
  const BlockId base = blocks_.here();
  const std::size_t m = places_.mark();
  const BlockId tuple = blocks_.new_block();
  blocks_.test(Test::kTuple, {v}, tuple, x.not_type);
  blocks_.start(tuple);
  if (groups.size() == 1) {
    const BlockId yes = blocks_.new_block();
    blocks_.test(Test::kArity, {v}, yes, x.other, static_cast<std::uint64_t>(groups[0].key.small_value()));
    blocks_.start(yes);
    match(std::move(groups[0].rows), x.fail);
    places_.undo(m, base);
    return;
  }
  std::vector<SwitchCase> cases;
  for (Group& g : groups) cases.push_back({g.key, blocks_.new_block()});
  Block& b = blocks_.cur();
  b.end = BlockEnd::kSwitchArity;
  b.subject = v;
  b.cases = cases;
  b.fail = x.other;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    blocks_.start(cases[i].to);
    match(std::move(groups[i].rows), x.fail);
    places_.undo(m, base);
  }
}

void MatchCompiler::maps(Rows rows, Occ* at, Exits x) {
  for (Row& r : rows) {
    if (cell_at(r, at) == nullptr) continue;
    Cell cell = take(r, at);
    const auto pairs = cell.pat->as<PMap>().pairs;
    for (std::size_t i = pairs.size(); i-- > 0;)
      r.cells.push_back({places_.child(at, Occ::kMapValue, 0, pairs[i].key), pairs[i].value});
  }
  const BlockId yes = blocks_.new_block();
  blocks_.test(Test::kMap, {Arg::of(places_.fetch(at))}, yes, x.not_type);
  blocks_.start(yes);
  match(std::move(rows), x.fail);
}

/// Reads what a map or a record has under this key, for the field below `at`.
void MatchCompiler::get_field(Op op, Arg from, Arg key, Occ* at, BlockId no) {
  Instr i{.op = op};
  const std::vector<Arg> args{from, key};
  i.args = arena_.copy(args);
  ValueId v = fn_.new_value();
  i.dsts = arena_.copy(&v, 1);
  blocks_.fallible(i, no);
  places_.known(places_.child(at, Occ::kField, 0), v);
}

/// Goes on, in the block `no`, with the rows that do not ask for what was not there.
void MatchCompiler::match_without(Rows rows, BlockId no, BlockId fail) {
  if (rows.empty()) return;
  blocks_.start(no);
  match(std::move(rows), fail);
}

void MatchCompiler::map_key(Rows rows, Occ* at, BlockId fail) {
  const Arg map = Arg::of(places_.fetch(at->parent));
  Rows with, without;
  bool wanted = false;
  for (Row& r : rows) {
    if (cell_at(r, at) == nullptr) {
      without.push_back(r);
      with.push_back(std::move(r));
      continue;
    }
    Cell cell = take(r, at);
    wanted |= cell.pat->kind != PatKind::kWild &&
              !(cell.pat->kind == PatKind::kVar && cell.pat->as<PVar>().var->uses == 0);
    add(arena_, r, places_.child(at, Occ::kField, 0), cell.pat);
    with.push_back(std::move(r));
  }
  const BlockId no = without.empty() ? fail : blocks_.new_block();
  const std::size_t m = places_.mark();
  const BlockId outer = c_.guard_fail;
  c_.guard_fail = no;
  const Arg key = c_.exprs.value(at->key);
  c_.guard_fail = outer;
  const BlockId base = blocks_.here();
  if (wanted) {
    get_field(Op::kGetMap, map, key, at, no);
  } else {
    const BlockId yes = blocks_.new_block();
    blocks_.test(Test::kMapFields, {map, key}, yes, no);
    blocks_.start(yes);
  }
  match(std::move(with), fail);
  places_.undo(m, base);
  match_without(std::move(without), no, fail);
}

/// What a pattern asks of a record is tested one after the other: the name, whether the fields are
/// to be seen, the fields.
void MatchCompiler::records(Rows rows, Occ* at, Exits x) {
  const auto part = [&](Row& r, Occ::Kind kind, Term key, Pat* value) {
    r.cells.push_back({places_.child(at, kind, 0, arena_.make<Literal>(Loc{}, key)), value});
  };
  for (Row& r : rows) {
    if (cell_at(r, at) == nullptr) continue;
    Cell cell = take(r, at);
    const PRecord& p = cell.pat->as<PRecord>();
    for (std::size_t i = p.pairs.size(); i-- > 0;)
      part(r, Occ::kRecordValue, p.pairs[i].field, p.pairs[i].value);
    if (p.scope.is_value()) part(r, Occ::kRecordScope, p.scope, arena_.make<PWild>());
    if (p.id.is_value()) part(r, Occ::kRecordName, p.id, arena_.make<PWild>());
  }
  const BlockId yes = blocks_.new_block();
  blocks_.test(Test::kRecord, {Arg::of(places_.fetch(at))}, yes, x.not_type);
  blocks_.start(yes);
  match(std::move(rows), x.fail);
}

void MatchCompiler::record_part(Rows rows, Occ* at, BlockId fail) {
  const Arg record = Arg::of(places_.fetch(at->parent));
  // A record of this name has no other.
  const auto wants_another = [&](const Row& r) {
    return at->kind == Occ::kRecordName && std::ranges::any_of(r.cells, [&](const Cell& c) {
             return c.at->kind == Occ::kRecordName && c.at->parent == at->parent;
           });
  };
  Rows with, without;
  for (Row& r : rows) {
    if (cell_at(r, at) == nullptr) {
      without.push_back(r);
      if (!wants_another(r)) with.push_back(std::move(r));
      continue;
    }
    Cell cell = take(r, at);
    if (at->kind == Occ::kRecordValue) add(arena_, r, places_.child(at, Occ::kField, 0), cell.pat);
    with.push_back(std::move(r));
  }
  const BlockId no = without.empty() ? fail : blocks_.new_block();
  const std::size_t m = places_.mark();
  const BlockId base = blocks_.here();
  const Term key = at->key->as<Literal>().value;
  if (at->kind == Occ::kRecordValue) {
    get_field(Op::kGetRecord, record, Arg::lit(key), at, no);
  } else {
    const BlockId yes = blocks_.new_block();
    if (at->kind == Occ::kRecordScope) blocks_.test(Test::kRecordOpen, {record, Arg::lit(key)}, yes, no);
    else
      blocks_.test(Test::kRecordNamed, {record, Arg::lit(key.element(0)), Arg::lit(key.element(1))}, yes, no);
    blocks_.start(yes);
  }
  match(std::move(with), fail);
  places_.undo(m, base);
  match_without(std::move(without), no, fail);
}

}  // namespace vmrun::compile::lower
