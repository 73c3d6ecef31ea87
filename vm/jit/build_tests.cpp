// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include "vm/jit/callees.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {

using op::Family;

void Builder::test_kind(ValueId v, Condition c, std::uint16_t kinds, const Word* fail) {
  if (type(v).is(kinds)) return;
  if (!type(v).may_be(kinds)) return go_to(fail);
  require(c, {v}, c == Condition::kSame ? Term::nil().raw() : 0, [&] {
    exclude(v, kinds);
    go_to(fail);
  });
  narrow(v, Type::of(kinds));
}

void Builder::test_header(ValueId v, Condition c, Word imm, const Type& then, const Word* fail) {
  const Type t = type(v);
  if (!t.may_be(then.kinds)) return go_to(fail);
  if (t.is(then.kinds) && !then.has_header() && then.kinds != Type::kOtherBoxed) return;
  if (then.has_header() && t.is(Type::kTuple) && t.header == then.header) return;
  if (!t.is(Type::kBoxed))
    require(Condition::kIsBoxed, {v}, 0, [&] {
      exclude(v, Type::kBoxed);
      go_to(fail);
    });
  require(c, {v}, imm, [&] { go_to(fail); });
  narrow(v, then);
}

Type Builder::tuple_of(Word header) {
  Type t = Type::of(std::uint16_t{Type::kTuple});
  t.header = header;
  return t;
}

void Builder::test_same(ValueId v, Word word, const Word* fail) {
  require(Condition::kSame, {v}, word, [&] { go_to(fail); });
  narrow(v, Type::of(Term::from_raw(word)));
}

void Builder::test_equal(ValueId a, ValueId b, bool wanted, const Word* fail, bool exact) {
  if (g_.is_const(a)) std::swap(a, b);
  const Type ta = type(a), tb = type(b);
  // Words that differ are of terms that differ. But 1 == 1.0.
  constexpr std::uint16_t kNoNumber = Type::kImmediate & ~Type::kSmall;
  const bool decides =
      exact ? ta.is(Type::kImmediate) || tb.is(Type::kImmediate)
            : ta.is(kNoNumber) || tb.is(kNoNumber) || (ta.is(Type::kImmediate) && tb.is(Type::kImmediate));
  if (!decides) return test_equal_terms(a, b, wanted, fail, exact);
  const auto same = [&](auto otherwise) {
    if (g_.is_const(b)) require(Condition::kSame, {a}, g_.imms[b], otherwise);
    else require(Condition::kSame, {a, b}, 0, otherwise);
  };
  if (wanted) {
    same([&] { go_to(fail); });
    narrow(a, tb);
    narrow(b, ta);
    return;
  }
  State before = state_;
  const BlockId from = block_;
  same([&] {});
  // The other way round.
  const BlockId no = g_.blocks[from].otherwise;
  narrow(a, tb);
  go_to(fail);
  block_ = no;
  state_ = std::move(before);
}

void Builder::test_equal_terms(ValueId a, ValueId b, bool wanted, const Word* fail, bool exact) {
  // Terms of one word are equal. Else they are not, if one is immediate, or both when 1 == 1.0;
  // else they are compared.
  branch(Condition::kSame, {a, b}, 0);
  const BlockId same = block().to;
  block_ = block().otherwise;
  std::vector<Incoming> equal{{same, state_}}, differ;
  const auto look = [&](ValueId v, auto otherwise) {
    if (type(v).is(Type::kBoxed | Type::kCons)) return otherwise();
    if (!type(v).is(Type::kImmediate)) require(Condition::kIsImmediate, {v}, 0, otherwise);
    if (!exact) return;
    differ.push_back({block_, state_});
    block_ = kNone;
  };
  const auto compare = [&] {
    branch(Condition::kDiffers, {invoke(exact ? callees::are_equal : callees::are_equal_numbers, {a, b})}, 0);
    equal.push_back({block().to, state_});
    differ.push_back({block().otherwise, state_});
    block_ = kNone;
  };
  if (exact) {
    look(a, [&] { look(b, compare); });
  } else {
    look(a, compare);
    if (block_ != kNone) look(b, compare);
    if (block_ != kNone) differ.push_back({block_, state_});
    block_ = kNone;
  }
  go_on(wanted ? equal : differ, wanted ? differ : equal, fail);
}

void Builder::test_less(ValueId a, ValueId b, bool wanted, const Word* fail) {
  constexpr std::uint16_t kSmall = Type::kSmall;
  if (guesses() && type(a).may_be(kSmall) && type(b).may_be(kSmall) &&
      (type(a).is(kSmall) || type(b).is(kSmall)))
    require_small(a, b);
  if (!type(a).is(kSmall) || !type(b).is(kSmall)) return test_terms_less(a, b, wanted, fail);
  const Type now_a = type(a), now_b = type(b);
  const bool known_less = now_a.high < now_b.low, known_not = now_a.low >= now_b.high;
  if (known_less || known_not) {
    if (known_less != wanted) go_to(fail);
    return;
  }
  const auto less = [&] {  // a < b holds
    narrow(a, Type::small(Type::kLeast, now_b.high - 1));
    narrow(b, Type::small(now_a.low + 1, Type::kMost));
  };
  const auto not_less = [&] {
    narrow(a, Type::small(now_b.low, Type::kMost));
    narrow(b, Type::small(Type::kLeast, now_a.high));
  };
  const auto test = [&](auto otherwise) {
    if (g_.is_const(b)) require(Condition::kLess, {a}, g_.imms[b], otherwise);
    else require(Condition::kLess, {a, b}, 0, otherwise);
  };
  if (wanted) {
    test([&] {
      not_less();
      go_to(fail);
    });
    less();
    return;
  }
  State before = state_;
  const BlockId from = block_;
  test([&] {});
  const BlockId no = g_.blocks[from].otherwise;
  less();
  go_to(fail);
  block_ = no;
  state_ = std::move(before);
  not_less();
}

void Builder::test_terms_less(ValueId a, ValueId b, bool wanted, const Word* fail) {
  std::vector<Incoming> less, not_less;
  const auto ends_in = [&] {
    less.push_back({block().to, state_});
    not_less.push_back({block().otherwise, state_});
    block_ = kNone;
  };
  const auto compare_terms = [&] {
    branch(Condition::kDiffers, {invoke(callees::is_less, {a, b})}, 0);
    ends_in();
  };
  if (!type(a).may_be(Type::kSmall) || !type(b).may_be(Type::kSmall)) {
    compare_terms();
  } else {
    constexpr std::uint16_t kSmall = Type::kSmall;
    const bool a_is = type(a).is(kSmall), b_is = type(b).is(kSmall);
    if (!a_is && !b_is) require(Condition::kBothSmall, {a, b}, 0, compare_terms, true);
    else require(Condition::kIsSmall, {a_is ? b : a}, 0, compare_terms, true);
    branch(Condition::kLess, {a, b}, 0);
    ends_in();
  }
  go_on(wanted ? less : not_less, wanted ? not_less : less, fail);
}

void Builder::require_small(ValueId a, ValueId b) {
  otherwise_than_small(a, b, [&] { leave_with(exit_of_guess()); });
}

void Builder::truth_value(const Part& p) {
  const auto o = code_.operands(p);
  const bool exact = p.family == Family::eq_exact_value;
  const ValueId a = get(o[exact ? 0 : 1]), b = get(o[exact ? 1 : 2]);
  const Operand& dst = o[exact ? 2 : 3];
  // As bits: less, equal, greater.
  const unsigned mask = exact ? 2 : static_cast<unsigned>(o[0].value);
  const Type ta = type(a), tb = type(b);
  const bool words_decide = exact && (ta.is(Type::kImmediate) || tb.is(Type::kImmediate));
  const bool may_be_small = ta.may_be(Type::kSmall) && tb.may_be(Type::kSmall);
  std::vector<Incoming> edges;
  std::vector<ValueId> results;
  const auto ends_with = [&](BlockId block, ValueId result) {
    edges.push_back({block, state_});
    results.push_back(result);
  };
  const auto compare_terms = [&] {
    const Type atom = Type::of(std::uint16_t{Type::kAtom});
    const ValueId result = exact ? invoke(callees::is_equal, {a, b}, atom)
                                 : invoke(callees::compare, {number(mask), a, b}, atom);
    ends_with(block_, result);
    block_ = kNone;
  };
  if (!words_decide) {
    if (may_be_small) otherwise_than_small(a, b, compare_terms);
    else compare_terms();
  }
  if (block_ != kNone) {
    // a < b, a = b, or their contrary; a > b is b < a.
    const bool swaps = mask == 4 || mask == 3;
    const ValueId x = swaps ? b : a, y = swaps ? a : b;
    if (mask == 2 || mask == 5) same(x, y);
    else less_than(x, y);
    const bool holds = mask == 1 || mask == 2 || mask == 4;
    const BlockId no = block().otherwise;
    ends_with(block().to, constant((holds ? atoms::true_ : atoms::false_).raw()));
    ends_with(no, constant((holds ? atoms::false_ : atoms::true_).raw()));
  }
  set(dst, join(edges, results));
}

void Builder::less_than(ValueId a, ValueId b) {
  if (g_.is_const(b)) branch(Condition::kLess, {a}, g_.imms[b]);
  else branch(Condition::kLess, {a, b}, 0);
}

void Builder::same(ValueId a, ValueId b) {
  if (g_.is_const(b)) branch(Condition::kSame, {a}, g_.imms[b]);
  else branch(Condition::kSame, {a, b}, 0);
}

void Builder::select(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]);
  const auto distance_at = [&](std::size_t n) { return p.at + static_cast<SWord>(p.list[n]); };
  switch (p.family) {
    case Family::select_dense:  // src step fail first table
      return switch_on(v, o[2].target(), [&](auto add) {
        for (std::size_t n = 0; n < p.list.size(); ++n)
          if (distance_at(n) != o[2].target()) add(o[3].value + (n << o[1].value), distance_at(n));
      });
    case Family::select_two:
      return switch_on(v, o[5].target(), [&](auto add) {
        add(o[1].value, o[2].target());
        add(o[3].value, o[4].target());
      });
    case Family::select_linear:
      return switch_on(v, o[1].target(), [&](auto add) {
        for (std::size_t n = 0; n + 1 < p.list.size(); n += 2) add(p.list[n], distance_at(n + 1));
      });
    case Family::select_hash:
      return switch_on(v, o[2].target(), [&](auto add) {
        for (std::size_t n = 0; n + 1 < p.list.size(); n += 2)
          if (p.list[n]) add(p.list[n], distance_at(n + 1));
      });
    default: break;
  }
  // select_tuple_arity
  const Word* const fail = o[1].target();
  if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, [&] { go_to(fail); });
  const ValueId header = load(v, kBoxedTag, 0, Type::of(std::uint16_t{0}));
  switch_on(header, fail, [&](auto add) {
    for (std::size_t n = 0; n + 1 < p.list.size(); n += 2) add(p.list[n], distance_at(n + 1));
  });
}

void Builder::build_test(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::is_nonempty_list:
      return test_kind(get(o[0]), Condition::kIsList, Type::kCons, o[1].target());
    case Family::is_nil: return test_kind(get(o[0]), Condition::kSame, Type::kNil, o[1].target());
    case Family::is_atom: return test_kind(get(o[0]), Condition::kIsAtom, Type::kAtom, o[1].target());
    case Family::is_tuple:
      return test_header(get(o[0]), Condition::kHeaderMasked, masked(kHeaderSubMask, 0),
                         Type::of(std::uint16_t{Type::kTuple}), o[1].target());
    case Family::test_arity:
    case Family::is_tuple_of_arity:
      return test_header(get(o[0]), Condition::kHeaderIs, o[1].value, tuple_of(o[1].value), o[2].target());
    case Family::is_tagged_tuple: {
      const ValueId v = get(o[0]);
      test_header(v, Condition::kHeaderIs, o[1].value, tuple_of(o[1].value), o[3].target());
      if (block_ == kNone) return;
      return test_same(load(v, kBoxedTag, 1), o[2].value, o[3].target());
    }
    case Family::is_map:
      return test_header(get(o[0]), Condition::kHeaderMasked,
                         masked(kHeaderSubMask, sub_header(Term::Sub::kMap)),
                         Type::of(std::uint16_t{Type::kMap}), o[1].target());
    case Family::is_function:
      return test_header(get(o[0]), Condition::kHeaderMasked,
                         masked(kHeaderSubMask, sub_header(Term::Sub::kFun)),
                         Type::of(std::uint16_t{Type::kFun}), o[1].target());
    case Family::is_float:
      return test_header(get(o[0]), Condition::kHeaderIs, Term::header(Term::Sub::kFloat, 1).raw(),
                         Type::of(std::uint16_t{Type::kFloat}), o[1].target());
    case Family::is_eq_exact: return test_equal(get(o[0]), get(o[1]), true, o[2].target());
    case Family::is_ne_exact: return test_equal(get(o[0]), get(o[1]), false, o[2].target());
    case Family::is_lt: return test_less(get(o[0]), get(o[1]), true, o[2].target());
    case Family::is_ge: return test_less(get(o[0]), get(o[1]), false, o[2].target());
    case Family::select_dense:
    case Family::select_two:
    case Family::select_linear:
    case Family::select_hash:
    case Family::select_tuple_arity: return select(p);
    case Family::eq_exact_value:
    case Family::compare_value: return truth_value(p);
    default: return build_term(p);
  }
}

}  // namespace vmrun::jit
