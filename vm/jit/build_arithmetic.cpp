// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include <bit>

#include "vm/term/layout.hpp"

namespace vmrun::jit {

using op::Family;

namespace {
constexpr SWord kMost32 = 0xFFFFFFFF;
}

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
      if (b.low == b.high && b.low >= 0 && b.low < 64) return Type::small(a.low >> b.low, a.high >> b.low);
      if (a.low >= 0) return Type::small(0, a.high);
      break;
    case Op::kShiftLeft:
      if (a.low >= 0 && b.low >= 0 && b.high < 59 && a.high <= Type::kMost >> b.high)
        return Type::small(0, a.high << b.high);
      break;
    case Op::kMultiply: {
      SWord most;
      if (a.low >= 0 && b.low >= 0 && !__builtin_mul_overflow(a.high, b.high, &most) && most <= Type::kMost)
        return Type::small(0, most);
      break;
    }
    case Op::kOr:
    case Op::kXor:
      if (a.low >= 0 && b.low >= 0 && a.high <= kMost32 && b.high <= kMost32) return Type::small(0, kMost32);
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
    case ArithOp::kBsl: return Op::kShiftLeft;
    default: return Op::kConst;
  }
}

bool Builder::always_works(Op op, const Type& result) {
  switch (op) {
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kShiftLeft: return result.low != Type::kLeast || result.high != Type::kMost;
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShiftRight: return true;
    default: return false;
  }
}

Op Builder::float_operation(ArithOp op) {
  switch (op) {
    case ArithOp::kAdd: return Op::kFloatAdd;
    case ArithOp::kSubtract: return Op::kFloatSubtract;
    case ArithOp::kMultiply: return Op::kFloatMultiply;
    case ArithOp::kDivide: return Op::kFloatDivide;
    default: return Op::kConst;
  }
}

Guess Builder::guess(ValueId a, ValueId b) const {
  if (const Guess own = guess_of(at_); own != Guess::kSmall) return own;
  // A small integer is more often counted with than with floats.
  if (type(a).is(Type::kSmall) || type(b).is(Type::kSmall)) return Guess::kSmall;
  return guess_of(reinterpret_cast<const Word*>(&code_.function()));
}

void Builder::arithmetic(ArithOp operation, ValueId a, ValueId b, const Operand& dst) {
  constexpr std::uint16_t kSmall = Type::kSmall, kFloat = Type::kFloat;
  const Op op = small_operation(operation), float_op = float_operation(operation);
  const auto may_be_float = [&] {
    return float_op != Op::kConst &&
           (operation == ArithOp::kDivide || type(a).may_be(kFloat) || type(b).may_be(kFloat));
  };
  const bool may_be_small = op != Op::kConst && type(a).may_be(kSmall) && type(b).may_be(kSmall),
             are_small = may_be_small && type(a).is(kSmall) && type(b).is(kSmall);
  const Guess guessed = guess(a, b);
  std::vector<Incoming> edges, others;
  std::vector<ValueId> results;
  const auto ends_with = [&](ValueId result) {
    if (block_ == kNone) return;
    results.push_back(result);
    edges.push_back({block_, state_});
    block_ = kNone;
  };
  const auto other = [&] {
    others.push_back({block_, state_});
    block_ = kNone;
  };
  const auto not_small = [&] {
    if (may_be_float() && !(guessed == Guess::kSmall && may_be_small))
      ends_with(of_floats(float_op, a, b, &others));
    else other();
  };
  if (may_be_small && (guessed != Guess::kFloat || are_small || !may_be_float())) {
    otherwise_than_small(a, b, not_small);
    ends_with(of_small(op, a, b, &others));
  } else {
    not_small();
  }
  // The rest is done by a function, or by the interpreter if it is not expected.
  if (!others.empty()) {
    const bool usual = edges.empty();
    join(others);
    block().rare = !usual;
    if (guesses() && !usual) {
      leave_with(exit_of_guess());
    } else {
      const bool is_exact = float_op == Op::kConst;  // of integers alone
      const Type number = Type::of(static_cast<std::uint16_t>(kSmall | Type::kBig | (is_exact ? 0 : kFloat)));
      const ValueId result =
          invoke(callees::arith, {this->number(static_cast<Word>(operation)), a, b}, number);
      require(
          Condition::kDiffers, {result}, 0, [&] { leave(); }, true);
      ends_with(result);
    }
  }
  if (edges.empty()) return;
  set(dst, join(edges, results));
}

ValueId Builder::of_small(Op op, ValueId a, ValueId b, std::vector<Incoming>* others) {
  const auto other = [&] {
    others->push_back({block_, state_});
    block_ = kNone;
  };
  if (op == Op::kShiftLeft || op == Op::kShiftRight) {
    const SWord most = op == Op::kShiftLeft ? 59 : 63;
    if (type(b).low < 0 || type(b).high > most) {
      require(Condition::kBelow, {b}, Term::small(most + 1).raw(), other, true);
      narrow(b, Type::small(0, most));
    }
  }
  const Type result = result_of(op, type(a), type(b));
  if (op == Op::kDivide || op == Op::kRemainder) return emit(op, result, {a, b}, 0, exit());
  if (always_works(op, result)) return emit(op, result, {a, b});
  const ValueId r = emit(op, result, {a, b}, 1);
  require(Condition::kFits, {}, op == Op::kShiftLeft, other, true);
  return r;
}

ValueId Builder::of_floats(Op op, ValueId a, ValueId b, std::vector<Incoming>* others) {
  const ValueId x = as_float(a, others);
  if (block_ == kNone) return kNone;
  const ValueId y = as_float(b, others);
  if (block_ == kNone) return kNone;
  const ValueId r = emit(op, Type{}, {x, y}, 0, exit());
  need(2 + kStackReserveWords);
  return box(r);
}

ValueId Builder::box(ValueId number) {
  const ValueId v = emit(Op::kBox, Type::of(std::uint16_t{Type::kFloat}), {number});
  g_.unboxed.emplace(v, number);
  return v;
}

ValueId Builder::as_float(ValueId v) {
  std::vector<Incoming> others;
  const ValueId f = as_float(v, &others);
  const BlockId here = block_;
  State kept = state_;
  for (Incoming& e : others) {
    block_ = e.block;
    state_ = std::move(e.state);
    leave();
  }
  block_ = here;
  state_ = std::move(kept);
  return f;
}

ValueId Builder::as_float(ValueId v, std::vector<Incoming>* others) {
  const auto other = [&] {
    others->push_back({block_, state_});
    block_ = kNone;
  };
  if (g_.is_const(v)) {
    const Term t = Term::from_raw(g_.imms[v]);
    if (!t.is_small() && !t.is_float()) return other(), kNone;
    const double d = t.is_small() ? static_cast<double>(t.small_value()) : float_of(t)->value;
    return emit(Op::kFloatConst, Type{}, {}, std::bit_cast<Word>(d));
  }
  if (const auto it = g_.unboxed.find(v); it != g_.unboxed.end()) return it->second;
  constexpr std::uint16_t kSmall = Type::kSmall, kFloat = Type::kFloat;
  if (!type(v).may_be(kSmall | kFloat)) return other(), kNone;
  if (type(v).is(kSmall)) return emit(Op::kToFloat, Type{}, {v});
  std::vector<Incoming> edges;
  std::vector<ValueId> results;
  if (type(v).may_be(kSmall) && !(type(v).may_be(kFloat) && guess(v, v) == Guess::kFloat)) {
    branch(Condition::kIsSmall, {v}, 0);
    const BlockId not_small = block().otherwise;
    const State before = state_;
    block_ = block().to;
    results.push_back(emit(Op::kToFloat, Type{}, {v}));
    edges.push_back({block_, state_});
    block_ = not_small;
    state_ = before;
    exclude(v, kSmall);
  }
  if (!type(v).is(kFloat))
    require_boxed(v, kFloat, Condition::kHeaderIs, Term::header(Term::Sub::kFloat, 1).raw(), other, true);
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

void Builder::arithmetic_of(const Part& p) {
  const auto o = code_.operands(p);
  const auto operation = static_cast<ArithOp>(std::countr_zero(o[0].value));
  const ValueId a = get(o[1]);
  if (operation < ArithOp::kNegate) return arithmetic(operation, a, get(o[2]), o[3]);
  // With one operand: small integers alone, or else the interpreter does it.
  if (!type(a).may_be(Type::kSmall)) return leave();
  otherwise_than_small(a, a, [&] { leave_with(exit_of_guess()); });
  switch (operation) {
    case ArithOp::kNegate: return arithmetic(ArithOp::kSubtract, constant(Term::small(0).raw()), a, o[3]);
    case ArithOp::kBnot: return arithmetic(ArithOp::kBxor, a, constant(Term::small(-1).raw()), o[3]);
    default: return set(o[3], a);
  }
}

void Builder::build_arithmetic(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::plus:
    case Family::plus_small: return arithmetic(ArithOp::kAdd, get(o[0]), get(o[1]), o[2]);
    case Family::minus:
    case Family::minus_small: return arithmetic(ArithOp::kSubtract, get(o[0]), get(o[1]), o[2]);
    case Family::times: return arithmetic(ArithOp::kMultiply, get(o[0]), get(o[1]), o[2]);
    case Family::int_div: return arithmetic(ArithOp::kDiv, get(o[0]), get(o[1]), o[2]);
    case Family::int_rem: return arithmetic(ArithOp::kRem, get(o[0]), get(o[1]), o[2]);
    case Family::band:
    case Family::band_small: return arithmetic(ArithOp::kBand, get(o[0]), get(o[1]), o[2]);
    case Family::bor: return arithmetic(ArithOp::kBor, get(o[0]), get(o[1]), o[2]);
    case Family::bxor: return arithmetic(ArithOp::kBxor, get(o[0]), get(o[1]), o[2]);
    case Family::bsl: return arithmetic(ArithOp::kBsl, get(o[0]), get(o[1]), o[2]);
    case Family::bsr: return arithmetic(ArithOp::kBsr, get(o[0]), get(o[1]), o[2]);
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
    case Family::fstore: return set(o[1], box(state_.floats[o[0].value]));
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
    case Family::fnegate: {
      // 0.0 - X is not -X.
      const ValueId minus = emit(Op::kFloatConst, Type{}, {}, std::bit_cast<Word>(-1.0));
      state_.floats[o[1].value] = emit(Op::kFloatMultiply, Type{}, {state_.floats[o[0].value], minus});
      return;
    }
    case Family::arith: return arithmetic_of(p);
    default: return build_kind(p);
  }
}

}  // namespace vmrun::jit
