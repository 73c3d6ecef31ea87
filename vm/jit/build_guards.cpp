// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include "vm/jit/callees.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

/// Guard built-ins: those that are instructions, and those that are called as functions.
namespace vmrun::jit {

using op::Family;

namespace {
constexpr Word kMostCopied = 40;  // one by one; the interpreter copies larger tuples
}

void Builder::length(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId n = invoke(callees::length, {get(o[0])}, Type::small(0, Type::kMost));
  require(
      Condition::kDiffers, {n}, 0, [&] { leave(); }, true);
  set(o[1], n);
}

void Builder::element_at(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId index = get(o[0]), tuple = get(o[1]);
  const auto otherwise = [&] { fail_to(o[3]); };
  const bool rare = !o[3].value;
  if (!type(index).may_be(Type::kSmall) || !type(tuple).may_be(Type::kTuple)) return otherwise();
  if (!type(index).is(Type::kSmall)) require(Condition::kIsSmall, {index}, 0, otherwise, rare);
  narrow(index, Type::of(std::uint16_t{Type::kSmall}));
  require_boxed(tuple, Type::kTuple, Condition::kHeaderMasked, masked(kHeaderSubMask, 0), otherwise, rare);
  require(Condition::kIndexIn, {tuple, index}, 0, otherwise, rare);
  set(o[2], emit(Op::kTupleElement, Type{}, {tuple, index}));
}

void Builder::extreme(const Part& p, bool least) {
  const auto o = code_.operands(p);
  const ValueId a = get(o[0]), b = get(o[1]);
  std::vector<Incoming> edges;
  std::vector<ValueId> results;
  const auto ends_with = [&](BlockId block, const State& state, ValueId result) {
    edges.push_back({block, state});
    results.push_back(result);
  };
  const auto call = [&] {
    const ValueId result = invoke(least ? callees::minimum : callees::maximum, {a, b}, type(a).join(type(b)));
    ends_with(block_, state_, result);
    block_ = kNone;
  };
  if (!type(a).may_be(Type::kSmall) || !type(b).may_be(Type::kSmall)) {
    call();
  } else {
    otherwise_than_small(a, b, call);
    less_than(a, b);
    ends_with(block().to, state_, least ? a : b);
    ends_with(block().otherwise, state_, least ? b : a);
  }
  set(o[2], join(edges, results));
}

void Builder::bool_not(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId v = get(o[0]), no = constant(atoms::false_.raw()), yes = constant(atoms::true_.raw());
  std::vector<Incoming> edges;
  aside(&edges, Condition::kSame, {v}, atoms::true_.raw(), v, Type::of(atoms::true_));
  require(
      Condition::kSame, {v}, atoms::false_.raw(), [&] { fail_to(o[2]); }, !o[2].value);
  edges.push_back({block_, state_});
  set(o[1], join(edges, {no, yes}));
}

void Builder::guard_bif(const Part& p, unsigned arity) {
  const auto o = code_.operands(p);
  const ValueId function = number(o[0].value);
  ValueId result;
  if (arity == 0) result = invoke(callees::bif0, {function}, Type{});
  else if (arity == 1) result = invoke(callees::bif1, {function, get(o[1])}, Type{});
  else if (arity == 2) result = invoke(callees::bif2, {function, get(o[1]), get(o[2])}, Type{});
  else result = invoke(callees::bif3, {function, get(o[1]), get(o[2]), get(o[3])}, Type{});
  const auto fail = [&] {
    if (arity == 0) leave();
    else fail_to(o[arity + 2]);
  };
  require(Condition::kDiffers, {result}, 0, fail, true);
  set(o[arity + 1], result);
}

void Builder::make_room_for_bif() {
  // There often are words outside the heap's block, but seldom many.
  std::vector<Incoming> edges;
  branch(Condition::kFragments, {}, 0);
  edges.push_back({block().otherwise, state_});
  block_ = block().to;
  block().rare = true;
  require(Condition::kSame, {invoke(callees::is_collection_due, {})}, 0, [&] { leave(); });
  edges.push_back({block_, state_});
  join(edges);
}

void Builder::update_tuple(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId tuple = get(o[1]);
  const Word header = o[2].value;
  if (Term::from_raw(header).header_arity() > kMostCopied) return leave();
  std::vector<ValueId> args(1 + Term::from_raw(header).header_arity(), kNone);
  args[0] = tuple;
  for (std::size_t n = 0; n + 1 < p.list.size(); n += 2) args[p.list[n]] = get(source_of(p.list[n + 1]));
  const ValueId v = g_.value(Op::kUpdateTuple, tuple_of(header), header);
  append(Op::kUpdateTuple, v, args, header);
  set(o[0], v);
}

void Builder::build_guard(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::length: return length(p);
    case Family::element_var: return element_at(p);
    case Family::minimum: return extreme(p, true);
    case Family::maximum: return extreme(p, false);
    case Family::bool_not: return bool_not(p);
    case Family::guard_bif0: return guard_bif(p, 0);
    case Family::guard_bif1: {
      const auto* e = reinterpret_cast<const Export*>(o[4].value);
      if (e->module == atoms::erlang && atom_text(e->function) == "bit_size")
        return size_of_bits(get(o[1]), o[2], o[3], callees::bit_size, 3);
      return guard_bif(p, 1);
    }
    case Family::guard_bif2: return guard_bif(p, 2);
    case Family::guard_bif3: return guard_bif(p, 3);
    case Family::gc_bif_check: return make_room_for_bif();
    case Family::update_tuple: return update_tuple(p);
    case Family::set_tuple_element: return act(Op::kSetElement, {get(o[1]), get(o[0])}, o[2].value);
    default: return build_matching(p);
  }
}

}  // namespace vmrun::jit
