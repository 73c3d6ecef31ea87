// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include "vm/jit/callees.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

/// Tests of what kind a term is, where more than one test is needed.
namespace vmrun::jit {

using op::Family;

namespace {

constexpr Word bit_of(Term::Sub sub) { return Word{1} << static_cast<Word>(sub); }
constexpr Word kBigs = bit_of(Term::Sub::kPosBig) | bit_of(Term::Sub::kNegBig);
/// Headers of large integers differ in one bit.
constexpr Word kBigMasked = masked(kHeaderSubMask & ~Word{4}, sub_header(Term::Sub::kPosBig));
static_assert((sub_header(Term::Sub::kPosBig) ^ sub_header(Term::Sub::kNegBig)) == 4);

}  // namespace

void Builder::aside(std::vector<Incoming>* edges, Condition c, std::initializer_list<ValueId> args, Word imm,
                    ValueId v, const Type& then) {
  branch(c, args, imm);
  const BlockId holds = block().to, not_so = block().otherwise;
  State kept = state_;
  narrow(v, then);
  edges->push_back({holds, std::move(state_)});
  block_ = not_so;
  state_ = std::move(kept);
}

void Builder::test_either(ValueId v, Condition first, Word imm, std::uint16_t first_kinds, Condition second,
                          Word second_imm, std::uint16_t second_kinds, const Word* fail) {
  const Type t = type(v);
  if (t.is(first_kinds | second_kinds) && !t.may_be(Type::kOtherBoxed | Type::kOtherImmediate)) return;
  if (!t.may_be(first_kinds | second_kinds)) return go_to(fail);
  std::vector<Incoming> edges;
  if (t.may_be(first_kinds)) {
    aside(&edges, first, {v}, imm, v, Type::of(first_kinds));
    if (first != Condition::kTagIs) exclude(v, first_kinds);
  }
  if (second_kinds & Type::kBoxed) test_header(v, second, second_imm, Type::of(second_kinds), fail);
  else test_word(v, second_imm, second_kinds, fail);
  if (block_ != kNone) edges.push_back({block_, state_});
  join(edges);
}

void Builder::test_word(ValueId v, Word word, std::uint16_t kinds, const Word* fail) {
  if (!type(v).may_be(kinds)) return go_to(fail);
  require(Condition::kSame, {v}, word, [&] { go_to(fail); });
  narrow(v, Type::of(Term::from_raw(word)));
}

void Builder::test_boolean(ValueId v, const Word* fail) {
  if (!type(v).may_be(Type::kAtom)) return go_to(fail);
  std::vector<Incoming> edges;
  aside(&edges, Condition::kSame, {v}, atoms::true_.raw(), v, Type::of(atoms::true_));
  test_word(v, atoms::false_.raw(), Type::kAtom, fail);
  edges.push_back({block_, state_});
  join(edges);
}

void Builder::test_integer(ValueId v, const Word* fail) {
  constexpr std::uint16_t kSmall = Type::kSmall, kBig = Type::kBig;
  if (type(v).is(kSmall | kBig)) return;
  if (!type(v).may_be(kSmall))
    return test_header(v, Condition::kHeaderMasked, kBigMasked, Type::of(kBig), fail);
  if (!guesses())
    return test_either(v, Condition::kIsSmall, 0, kSmall, Condition::kHeaderMasked, kBigMasked, kBig, fail);
  require(
      Condition::kIsSmall, {v}, 0,
      [&] {
        exclude(v, kSmall);
        test_header(v, Condition::kHeaderMasked, kBigMasked, Type::of(kBig), fail);
        if (block_ != kNone) leave_with(exit_of_guess());
      },
      true);
  narrow(v, Type::of(kSmall));
}

void Builder::test_function(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]), arity = get(o[1]);
  const Word* const fail = o[2].target();
  if (!g_.is_const(arity)) return leave();
  const Term n = Term::from_raw(g_.imms[arity]);
  if (!n.is_small() || n.small_value() < 0 || n.small_value() > 255) return go_to(fail);
  test_header(v, Condition::kHeaderMasked, masked(kHeaderSubMask, sub_header(Term::Sub::kFun)),
              Type::of(std::uint16_t{Type::kFun}), fail);
  if (block_ == kNone) return;
  require(Condition::kFunParameters, {v}, static_cast<Word>(n.small_value()), [&] { go_to(fail); });
}

void Builder::build_kind(const Part& p) {
  using C = Condition;
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::is_list:
      return test_either(get(o[0]), C::kIsList, 0, Type::kCons, C::kSame, Term::nil().raw(), Type::kNil,
                         o[1].target());
    case Family::is_number:
      return test_either(get(o[0]), C::kIsSmall, 0, Type::kSmall, C::kHeaderIn,
                         kBigs | bit_of(Term::Sub::kFloat), Type::kBig | Type::kFloat, o[1].target());
    case Family::is_pid:
      return test_either(get(o[0]), C::kTagIs, masked(15, Term::kPidTag), Type::kOtherImmediate, C::kHeaderIn,
                         bit_of(Term::Sub::kExternalPid), Type::kOtherBoxed, o[1].target());
    case Family::is_port:
      return test_either(get(o[0]), C::kTagIs, masked(15, Term::kPortTag), Type::kOtherImmediate,
                         C::kHeaderIn, bit_of(Term::Sub::kExternalPort), Type::kOtherBoxed, o[1].target());
    case Family::is_reference:
      return test_header(
          get(o[0]), C::kHeaderIn,
          bit_of(Term::Sub::kRef) | bit_of(Term::Sub::kMagicRef) | bit_of(Term::Sub::kExternalRef),
          Type::of(std::uint16_t{Type::kOtherBoxed}), o[1].target());
    case Family::is_boolean: return test_boolean(get(o[0]), o[1].target());
    case Family::is_integer: return test_integer(get(o[0]), o[1].target());
    case Family::is_function2: return test_function(p);
    case Family::is_eq: return test_equal(get(o[0]), get(o[1]), true, o[2].target(), false);
    case Family::is_ne: return test_equal(get(o[0]), get(o[1]), false, o[2].target(), false);
    default: return build_guard(p);
  }
}

}  // namespace vmrun::jit
