// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include <bit>

#include "vm/term/layout.hpp"

namespace vmrun::jit {

using op::Family;

Type Builder::sum(const Type& a, const Type& b, bool minus) {
  const SWord low = minus ? a.low - b.high : a.low + b.low, high = minus ? a.high - b.low : a.high + b.high;
  if (low < Type::kLeast || high > Type::kMost) return Type::of(std::uint16_t{Type::kSmall});
  return Type::small(low, high);
}

Type Builder::result_of(Op op, const Type& a, const Type& b) const {
  switch (op) {
    case Op::kAdd: return sum(a, b, false);
    case Op::kSubtract: return sum(a, b, true);
    case Op::kAnd:
      if (b.low >= 0) return Type::small(0, b.high);
      if (a.low >= 0) return Type::small(0, a.high);
      break;
    case Op::kRemainder:
      if (b.low > 0) return Type::small(a.low >= 0 ? 0 : 1 - b.high, b.high - 1);
      break;
    case Op::kShiftRight:
      if (a.low >= 0) return Type::small(0, a.high);
      break;
    default: break;
  }
  return Type::of(std::uint16_t{Type::kSmall});
}

Op Builder::small_operation(ArithOp op) {
  switch (op) {
    case ArithOp::kAdd: return Op::kAdd;
    case ArithOp::kSubtract: return Op::kSubtract;
    case ArithOp::kMultiply: return Op::kMultiply;
    case ArithOp::kDiv: return Op::kDivide;
    case ArithOp::kRem: return Op::kRemainder;
    case ArithOp::kBand: return Op::kAnd;
    case ArithOp::kBor: return Op::kOr;
    case ArithOp::kBxor: return Op::kXor;
    case ArithOp::kBsr: return Op::kShiftRight;
    default: return Op::kConst;
  }
}

bool Builder::always_works(Op op, const Type& result) {
  switch (op) {
    case Op::kAdd:
    case Op::kSubtract: return result.low != Type::kLeast || result.high != Type::kMost;
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShiftRight: return true;
    default: return false;
  }
}

void Builder::arithmetic(Op op, ValueId a, ValueId b, const Operand& dst) {
  if (op == Op::kShiftRight && !(g_.is_const(b) && type(b).low >= 0)) return leave();
  const Op float_op = op == Op::kAdd        ? Op::kFloatAdd
                      : op == Op::kSubtract ? Op::kFloatSubtract
                      : op == Op::kMultiply ? Op::kFloatMultiply
                                            : Op::kConst;
  constexpr std::uint16_t kSmall = Type::kSmall;
  // What is computed with a small integer is taken for one, until it is known to be another
  // number.
  const bool may_be_small = type(a).may_be(kSmall) && type(b).may_be(kSmall),
             may_be_float = !type(a).is(kSmall) && !type(b).is(kSmall) &&
                            (type(a).may_be(Type::kFloat) || type(b).may_be(Type::kFloat));
  if (float_op == Op::kConst || (may_be_small && !may_be_float)) {
    if (!may_be_small) return leave();
    require_small(a, b);
    return set(dst, of_small(op, a, b));
  }
  if (!may_be_small) {
    const ValueId r = of_floats(float_op, a, b);
    if (block_ != kNone) set(dst, r);
    return;
  }
  // Either of it.
  std::vector<Incoming> edges;
  std::vector<ValueId> results;
  const auto ends_with = [&](ValueId result) {
    results.push_back(result);
    edges.push_back({block_, state_});
  };
  const bool a_is = type(a).is(kSmall), b_is = type(b).is(kSmall), both = !a_is && !b_is && a != b;
  const auto otherwise = [&] {
    const ValueId result = of_floats(float_op, a, b);
    if (block_ != kNone) ends_with(result);
    block_ = kNone;
  };
  if (both) require(Condition::kBothSmall, {a, b}, 0, otherwise, true);
  else require(Condition::kIsSmall, {a_is ? b : a}, 0, otherwise, true);
  narrow(a, Type::of(kSmall));
  narrow(b, Type::of(kSmall));
  ends_with(of_small(op, a, b));
  set(dst, join(edges, results));
}

ValueId Builder::of_small(Op op, ValueId a, ValueId b) {
  const Type result = result_of(op, type(a), type(b));
  return emit(op, result, {a, b}, 0, always_works(op, result) ? kNone : exit());
}

ValueId Builder::of_floats(Op op, ValueId a, ValueId b) {
  const ValueId x = as_float(a);
  if (block_ == kNone) return kNone;
  const ValueId y = as_float(b);
  if (block_ == kNone) return kNone;
  const ValueId r = emit(op, Type{}, {x, y}, 0, exit());
  act(Op::kNeed, {}, 2 + kStackReserveWords, exit());
  return emit(Op::kBox, Type::of(std::uint16_t{Type::kFloat}), {r});
}

ValueId Builder::as_float(ValueId v) {
  if (g_.is_const(v)) {
    const Term t = Term::from_raw(g_.imms[v]);
    if (!t.is_small() && !t.is_float()) return leave(), kNone;
    const double d = t.is_small() ? static_cast<double>(t.small_value()) : float_of(t)->value;
    return emit(Op::kFloatConst, Type{}, {}, std::bit_cast<Word>(d));
  }
  constexpr std::uint16_t kSmall = Type::kSmall, kFloat = Type::kFloat;
  if (!type(v).may_be(kSmall | kFloat)) return leave(), kNone;
  if (type(v).is(kSmall)) return emit(Op::kToFloat, Type{}, {v});
  std::vector<Incoming> edges;
  std::vector<ValueId> results;
  if (type(v).may_be(kSmall)) {
    branch(Condition::kIsSmall, {v}, 0);
    const BlockId other = block().otherwise;
    const State before = state_;
    block_ = block().to;
    results.push_back(emit(Op::kToFloat, Type{}, {v}));
    edges.push_back({block_, state_});
    block_ = other;
    state_ = before;
    exclude(v, kSmall);
  }
  if (!type(v).is(kFloat)) {
    if (!type(v).is(Type::kBoxed))
      require(
          Condition::kIsBoxed, {v}, 0, [&] { leave(); }, true);
    require(
        Condition::kHeaderIs, {v}, Term::header(Term::Sub::kFloat, 1).raw(), [&] { leave(); }, true);
    narrow(v, Type::of(kFloat));
  }
  const ValueId unboxed = emit(Op::kUnbox, Type{}, {v});
  if (edges.empty()) return unboxed;
  results.push_back(unboxed);
  edges.push_back({block_, state_});
  return join(edges, results);
}

void Builder::float_operation(const Part& p, Op op) {
  const auto o = code_.operands(p);
  state_.floats[o[2].value] =
      emit(op, Type{}, {state_.floats[o[0].value], state_.floats[o[1].value]}, 0, exit());
}

void Builder::build_arithmetic(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::plus:
    case Family::plus_small: return arithmetic(Op::kAdd, get(o[0]), get(o[1]), o[2]);
    case Family::minus:
    case Family::minus_small: return arithmetic(Op::kSubtract, get(o[0]), get(o[1]), o[2]);
    case Family::times: return arithmetic(Op::kMultiply, get(o[0]), get(o[1]), o[2]);
    case Family::int_div: return arithmetic(Op::kDivide, get(o[0]), get(o[1]), o[2]);
    case Family::int_rem: return arithmetic(Op::kRemainder, get(o[0]), get(o[1]), o[2]);
    case Family::band:
    case Family::band_small: return arithmetic(Op::kAnd, get(o[0]), get(o[1]), o[2]);
    case Family::bor: return arithmetic(Op::kOr, get(o[0]), get(o[1]), o[2]);
    case Family::bxor: return arithmetic(Op::kXor, get(o[0]), get(o[1]), o[2]);
    case Family::bsr: return arithmetic(Op::kShiftRight, get(o[0]), get(o[1]), o[2]);
    case Family::fload: {
      const ValueId v = get(o[0]);
      if (!g_.is_const(v)) narrow(v, Type::of(std::uint16_t{Type::kFloat}));
      const ValueId f = as_float(v);
      if (block_ != kNone) state_.floats[o[1].value] = f;
      return;
    }
    case Family::fconv: {
      const ValueId f = as_float(get(o[0]));
      if (block_ != kNone) state_.floats[o[1].value] = f;
      return;
    }
    case Family::fstore:
      return set(o[1], emit(Op::kBox, Type::of(std::uint16_t{Type::kFloat}), {state_.floats[o[0].value]}));
    case Family::fadd: return float_operation(p, Op::kFloatAdd);
    case Family::fsub: return float_operation(p, Op::kFloatSubtract);
    case Family::fmul: return float_operation(p, Op::kFloatMultiply);
    case Family::fdiv: return float_operation(p, Op::kFloatDivide);
    case Family::abs: {
      const ValueId v = get(o[0]);
      if (!type(v).may_be(Type::kSmall)) return leave();
      require_small(v, v);
      if (type(v).low >= 0) return set(o[1], v);
      return set(o[1], emit(Op::kAbsolute, Type::small(0, Type::kMost), {v}, 0, exit()));
    }
    case Family::arith: {
      const auto operation = static_cast<ArithOp>(std::countr_zero(o[0].value));
      if (const Op op = small_operation(operation); op != Op::kConst)
        return arithmetic(op, get(o[1]), get(o[2]), o[3]);
      if (operation != ArithOp::kDivide) return leave();
      const ValueId r = of_floats(Op::kFloatDivide, get(o[1]), get(o[2]));
      if (block_ != kNone) set(o[3], r);
      return;
    }
    default: return build_kind(p);
  }
}

}  // namespace vmrun::jit
