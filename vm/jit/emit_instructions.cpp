// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "vm/code/instructions.hpp"
#include "vm/jit/callees.hpp"
#include "vm/jit/code_emitter.hpp"
#include "vm/jit/process_offsets.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {

using Kind = Location::Kind;

/// A term at the top of the heap: a header, and what follows it.
void Emitter::build(Word header, std::span<const ValueId> elements, ValueId dst) {
  a_.store(kHeap, 0, header);
  for (std::size_t n = 0; n < elements.size(); ++n)
    store(kHeap, words(static_cast<SWord>(n) + 1), elements[n]);
  const Register r = out(dst, kScratch);
  a_.address(r, kHeap, Term::kBoxedTag);
  a_.add(kHeap, words(static_cast<SWord>(elements.size()) + 1));
  done(dst, r);
}

void Emitter::box(ValueId number, Register to) {
  a_.store(kHeap, 0, Term::header(Term::Sub::kFloat, 1).raw());
  a_.store(kHeap, words(1), float_in(number, kFloatScratch));
  a_.address(to, kHeap, Term::kBoxedTag);
  a_.add(kHeap, words(2));
}

void Emitter::update_tuple(const Inst& i) {
  const auto elements = g_.args_of(i).subspan(1);
  const Register from = in(g_.args_of(i)[0], kScratch2);
  a_.store(kHeap, 0, i.imm);
  for (std::size_t n = 0; n < elements.size(); ++n) {
    const SWord at = words(static_cast<SWord>(n) + 1);
    if (elements[n] != kNone) {
      store(kHeap, at, elements[n]);
    } else if (n + 1 < elements.size() && elements[n + 1] == kNone) {
      a_.copy_two(kHeap, at, from, at - Term::kBoxedTag);
      ++n;
    } else {
      a_.load(kScratch, from, at - Term::kBoxedTag);
      a_.store(kHeap, at, kScratch);
    }
  }
  const Register r = out(i.dst, kScratch);
  a_.address(r, kHeap, Term::kBoxedTag);
  a_.add(kHeap, words(static_cast<SWord>(elements.size()) + 1));
  done(i.dst, r);
}

void Emitter::element_of_tuple(const Inst& i) {
  // Half of a tagged index is eight times the index, and seven more.
  move_to(kScratch, g_.args_of(i)[1]);
  a_.shift_right(kScratch, 1);
  const Register r = out(i.dst, kScratch);
  a_.load(r, in(g_.args_of(i)[0], kScratch2), kScratch, -7 - static_cast<SWord>(Term::kBoxedTag));
  done(i.dst, r);
}

void Emitter::put_fun(const Inst& i) {
  const auto values = g_.args_of(i);
  const auto* const entry = reinterpret_cast<const FunEntry*>(i.imm);
  FunObject object{};
  object.arity = entry->arity;
  object.free_count = static_cast<std::uint32_t>(values.size());
  Word arities;
  std::memcpy(&arities, &object.arity, sizeof arities);
  constexpr SWord kHeaderWords = sizeof(FunObject) / sizeof(Word);
  a_.store(kHeap, 0, Term::header(Term::Sub::kFun, kHeaderWords - 1 + values.size()).raw());
  a_.store(kHeap, words(1), i.imm);
  a_.store(kHeap, words(2), arities);
  a_.load(kScratch, kProcess, kSelfId);
  a_.store(kHeap, words(3), kScratch);
  a_.store(kHeap, words(4), Word{0});
  static_assert(kHeaderWords == 5);
  for (std::size_t n = 0; n < values.size(); ++n)
    store(kHeap, words(kHeaderWords + static_cast<SWord>(n)), values[n]);
  const Register r = out(i.dst, kScratch);
  a_.address(r, kHeap, Term::kBoxedTag);
  a_.add(kHeap, words(kHeaderWords + static_cast<SWord>(values.size())));
  done(i.dst, r);
}

/// As the interpreter's call_bif.
void Emitter::call_bif(const Inst& i) {
  const auto args = g_.args_of(i);
  for (std::size_t n = 0; n < args.size(); ++n) store(kXRegisters, x_at(n), args[n]);
  a_.move(kScratch, reinterpret_cast<Word>(i.at));
  a_.store(kProcess, kInstruction, kScratch);
  a_.move(kAddress, i.imm);
  a_.call_outward(stubs.call_bif);
  const Label failed = a_.label(), collect = a_.label();
  a_.jump_if(Comparison::kEqual, failed);
  asides_.push_back({failed, i.at, stubs.leave[static_cast<unsigned>(How::kFailed)]});
  a_.compare_memory_64(kProcess, kFragments, 0);
  a_.jump_if(Comparison::kNotEqual, collect);
  asides_.push_back({collect, i.next, stubs.collect});
  if (at(i.dst).kind == Kind::kRegister) a_.move(reg(at(i.dst)), Register{0});
  done(i.dst, Register{0});
}

void Emitter::float_operation(const Inst& i, Assembler::FloatOperation op) {
  const auto args = g_.args_of(i);
  const FloatRegister x = float_in(args[0], kFloatScratch2), y = float_in(args[1], kFloatScratch);
  const FloatRegister to = at(i.dst).kind == Kind::kFloat ? FloatRegister{at(i.dst).number} : kFloatScratch2;
  a_.operate(op, to, x, y);
  if (i.exit != kNone) a_.jump_if_not_finite(to, exit_label(i.exit));
  done(i.dst, to);
}

/// Small integers are v << 4 | 15. The result is computed in a scratch register if the exit, or the
/// other operand, needs what its own register has.
void Emitter::arithmetic(const Inst& i) {
  const ValueId x = g_.args_of(i)[0], y = g_.args_of(i)[1];
  const bool checked = i.imm;
  const bool y_const = g_.is_const(y);
  const SWord y_value = y_const ? static_cast<SWord>(g_.imms[y]) >> 4 : 0;
  const auto small_constant = [](SWord v) { return v == static_cast<std::int32_t>(v); };
  Register r = out(i.dst, kScratch);
  if (!y_const && at(y).kind == Kind::kRegister && reg(at(y)) == r) r = kScratch;  // also x + x
  switch (i.op) {
    case Op::kAdd:
    case Op::kSubtract: {
      const bool minus = i.op == Op::kSubtract;
      const auto by = static_cast<SWord>(static_cast<Word>(minus ? -y_value : y_value) << 4);
      if (y_const && small_constant(by)) {
        if (!checked) {
          a_.address(r, in(x, r), by);
          break;
        }
        move_to(r, x);
        a_.add(r, by);
        break;
      }
      move_to(r, x);
      if (minus) {
        // (x | 15) - (y | 15) has no tag: it cannot overflow what the untagged does not.
        a_.subtract(r, in(y, kScratch2));
        a_.address(r, r, 15);
      } else {
        a_.and_(r, ~SWord{15});
        a_.add(r, in(y, kScratch2));
      }
      break;
    }
    case Op::kMultiply:
      r = kScratch;  // what is multiplied is needed after an overflow
      move_to(r, x);
      a_.shift_right(r, 4);
      move_to(kScratch2, y);
      a_.and_(kScratch2, ~SWord{15});
      a_.multiply(r, kScratch2);
      a_.address(r, r, 15);
      break;
    case Op::kAnd:
      move_to(r, x);
      if (y_const && small_constant(static_cast<SWord>(g_.imms[y])))
        a_.and_(r, static_cast<SWord>(g_.imms[y]));
      else a_.and_(r, in(y, kScratch2));
      break;
    case Op::kOr:
      move_to(r, x);
      a_.or_(r, in(y, kScratch2));
      break;
    case Op::kXor:
      move_to(r, x);
      a_.xor_(r, in(y, kScratch2));
      a_.or_(r, 15);
      break;
    case Op::kShiftRight:
    case Op::kShiftLeft: return shift(i);
    case Op::kDivide:
    case Op::kRemainder: {
      const bool known = y_const && y_value > 0;
      if (!known) {
        // Zero and -1 are the interpreter's.
        const Register by = in(y, kScratch);
        a_.compare(by, Term::small(0).raw());
        a_.jump_if(Comparison::kEqual, exit_label(i.exit));
        a_.compare(by, Term::small(-1).raw());
        a_.jump_if(Comparison::kEqual, exit_label(i.exit));
      }
      move_to(kScratch, y);
      a_.shift_right(kScratch, 4);
      move_to(kScratch2, x);
      a_.shift_right(kScratch2, 4);
      a_.divide(kScratch2, kScratch);
      r = out(i.dst, kScratch);
      a_.move(r, i.op == Op::kDivide ? kQuotient : kRemainder);
      a_.shift_left(r, 4);
      a_.or_(r, 15);
      break;
    }
    default: a_.jump(exit_label(i.exit)); break;
  }
  if (at(i.dst).kind == Kind::kRegister) a_.move(reg(at(i.dst)), r);
  done(i.dst, r);
}

void Emitter::shift(const Inst& i) {
  const auto args = g_.args_of(i);
  const ValueId x = args[0], y = args[1];
  const bool y_const = g_.is_const(y), left = i.op == Op::kShiftLeft, checked = i.imm;
  const auto bits = static_cast<unsigned>(y_const ? g_.imms[y] >> 4 : 0);
  // kScratch has the number of bits.
  const auto shift = [&](Register r, bool to_left) {
    if (y_const) to_left ? a_.shift_left(r, bits) : a_.shift_right(r, bits);
    else to_left ? a_.shift_left(r) : a_.shift_right(r);
  };
  if (!y_const) {
    move_to(kScratch, y);
    a_.shift_right(kScratch, 4);
  }
  const Register r = kScratch2;
  move_to(r, x);
  if (!left) {
    shift(r, false);
    a_.or_(r, 15);
  } else {
    a_.and_(r, ~SWord{15});
    shift(r, true);
    if (checked) {
      // What is shifted back is what it was.
      const bool aside = at(i.dst).kind != Kind::kRegister;
      if (aside) a_.store(kFrame, words(kKeptSlot), r);
      else a_.move(reg(at(i.dst)), r);
      shift(r, false);
      a_.or_(r, 15);
      a_.compare(r, in(x, kScratch));
      if (aside) a_.load(r, kFrame, words(kKeptSlot));
      else a_.move(r, reg(at(i.dst)));
    }
    a_.address(r, r, 15);
  }
  const Register to = out(i.dst, r);
  a_.move(to, r);
  done(i.dst, to);
}

void Emitter::call_function(const Inst& i) {
  const Callee& callee = *reinterpret_cast<const Callee*>(i.imm);
  LiveRegisters live = places_.live_over.at(&i);
  live.general &= ~kKept;
  const auto each = [](std::uint32_t set, auto with) {
    for (std::uint8_t n = 0; set >> n; ++n)
      if (set >> n & 1) with(n);
  };
  each(live.general, [&](std::uint8_t n) { a_.store(kFrame, words(kKeptSlot + n), Register{n}); });
  each(live.floats, [&](std::uint8_t n) { a_.store(kFrame, words(kKeptFloatsSlot + n), FloatRegister{n}); });
  std::vector<Move> moves;
  const Register* argument = kArguments + callee.takes_process;
  for (const ValueId v : g_.args_of(i)) moves.push_back({{Kind::kRegister, (argument++)->number}, v});
  move_all(std::move(moves));
  if (callee.takes_process) {
    a_.store(kProcess, kHeapTop, kHeap);
    a_.store(kProcess, kHeapStop, kStack);
    a_.move(kArguments[0], kProcess);
  }
  a_.call_function(callee.function);
  if (callee.takes_process) a_.load(kHeap, kProcess, kHeapTop);
  if (i.dst != kNone && at(i.dst).kind != Kind::kNowhere) {
    a_.move(out(i.dst, kResult), kResult);
    done(i.dst, kResult);
  }
  each(live.general, [&](std::uint8_t n) { a_.load(Register{n}, kFrame, words(kKeptSlot + n)); });
  each(live.floats, [&](std::uint8_t n) { a_.load(FloatRegister{n}, kFrame, words(kKeptFloatsSlot + n)); });
}

/// Where everything that allocates is to collect, every second call goes on: behind what has
/// collected the interpreter goes on, and this code is to run as well.
void Emitter::need(const Inst& i) {
  if (i.imm & kNeedAlways) {
    a_.test_bits(kProcess, kReductions, 1);
    a_.jump_if(Comparison::kNotEqual, exit_label(i.exit));
  }
  a_.address(kScratch, kHeap, words(static_cast<SWord>(i.imm & ~Word{kNeedAlways})));
  a_.compare(kScratch, kStack);
  a_.jump_if(Comparison::kAbove, exit_label(i.exit));
}

void Emitter::instruction(const Inst& i) {
  const auto args = g_.args_of(i);
  if (i.dst != kNone && at(i.dst).kind == Kind::kNowhere && i.exit == kNone &&
      (i.op == Op::kLoad || i.op == Op::kLoadY || i.op == Op::kUnbox || i.op == Op::kToFloat ||
       i.op == Op::kFloatConst || is_pure_of_bits(i.op)))
    return;  // nobody uses it
  if (i.exit != kNone && leaves_anyway(i.exit, i.at)) a_.jump(exit_label(i.exit));
  switch (i.op) {
    case Op::kConst:
    case Op::kParam:
    case Op::kFloatParam: return;
    case Op::kLoadX:
    case Op::kLoadY: {
      const Register r = out(i.dst, kScratch);
      if (i.op == Op::kLoadX) a_.load(r, kXRegisters, x_at(i.imm));
      else a_.load(r, kStack, words(static_cast<SWord>(i.imm)));
      return done(i.dst, r);
    }
    case Op::kStoreY: return store(kStack, words(static_cast<SWord>(i.imm)), args[0]);
    case Op::kLoad: {
      const Register r = out(i.dst, kScratch);
      a_.load(r, in(args[0], kScratch), static_cast<SWord>(i.imm));
      return done(i.dst, r);
    }
    case Op::kPutList: {
      store(kHeap, 0, args[0]);
      store(kHeap, words(1), args[1]);
      const Register r = out(i.dst, kScratch);
      a_.address(r, kHeap, Term::kListTag);
      a_.add(kHeap, words(2));
      return done(i.dst, r);
    }
    case Op::kPutTuple: return build(i.imm, args, i.dst);
    case Op::kPutFun: return put_fun(i);
    case Op::kStoreX: return store(kXRegisters, x_at(i.imm), args[0]);
    case Op::kAddressOfX: {
      const Register r = out(i.dst, kScratch);
      a_.address(r, kXRegisters, x_at(i.imm));
      return done(i.dst, r);
    }
    case Op::kMapGet: return map_get(i);
    case Op::kCall: return call_function(i);
    case Op::kCount:
      a_.compare_memory_32(kProcess, kReductions, 1);
      a_.jump_if(Comparison::kNotGreater, exit_label(i.exit));
      return a_.count_down(kProcess, kReductions);
    case Op::kCountCall:
      a_.count_down(kProcess, kReductions);
      return a_.jump_if_not_positive(exit_label(i.exit));
    case Op::kPushReturn: return push(reinterpret_cast<const Word*>(i.imm));
    case Op::kCallBif: return call_bif(i);
    case Op::kMoveStack: return a_.add(kStack, words(static_cast<SWord>(i.imm)));
    case Op::kNeed: return need(i);
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kRemainder:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShiftRight:
    case Op::kShiftLeft: return arithmetic(i);
    case Op::kAbsolute: {
      const Register r = kScratch;
      move_to(r, args[0]);
      const Label positive = a_.label();
      a_.test_zero(r);
      a_.jump_if(Comparison::kNotLess, positive);
      a_.move(kScratch2, Word{2 * Term::kSmallTag});
      a_.subtract(kScratch2, r);
      a_.jump_if(Comparison::kOverflow, exit_label(i.exit));
      a_.move(r, kScratch2);
      a_.bind(positive);
      const Register to = out(i.dst, kScratch);
      a_.move(to, r);
      return done(i.dst, to);
    }
    case Op::kTupleSize: {
      // The header is the arity shifted by six bits, and four of them are a small integer's.
      const Register r = out(i.dst, kScratch);
      a_.load(r, in(args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
      a_.shift_right(r, 2);
      a_.or_(r, Term::kSmallTag);
      return done(i.dst, r);
    }
    case Op::kTag: {
      const Register r = out(i.dst, kScratch);
      move_to(r, args[0]);
      a_.shift_left(r, 4);
      a_.or_(r, Term::kSmallTag);
      return done(i.dst, r);
    }
    case Op::kTupleElement: return element_of_tuple(i);
    case Op::kUpdateTuple: return update_tuple(i);
    case Op::kSetElement:
      return store(in(args[0], kScratch2), words(static_cast<SWord>(i.imm)) - Term::kBoxedTag, args[1]);
    case Op::kUnbox: {
      const FloatRegister f = float_out(i.dst);
      a_.load(f, in(args[0], kScratch), words(1) - static_cast<SWord>(Term::kBoxedTag));
      return done(i.dst, f);
    }
    case Op::kToFloat: {
      move_to(kScratch, args[0]);
      a_.shift_right(kScratch, 4);
      const FloatRegister f = float_out(i.dst);
      a_.to_float(f, kScratch);
      return done(i.dst, f);
    }
    case Op::kFloatConst: {
      const FloatRegister f = float_out(i.dst);
      a_.constant(f, i.imm);
      return done(i.dst, f);
    }
    case Op::kFloatAdd: return float_operation(i, Assembler::FloatOperation::kAdd);
    case Op::kFloatSubtract: return float_operation(i, Assembler::FloatOperation::kSubtract);
    case Op::kFloatMultiply: return float_operation(i, Assembler::FloatOperation::kMultiply);
    case Op::kFloatDivide: return float_operation(i, Assembler::FloatOperation::kDivide);
    case Op::kBox: {
      const Register r = out(i.dst, kScratch);
      box(args[0], r);
      return done(i.dst, r);
    }
    case Op::kPeek: {  // as receive_peek_quickly
      const Label none = a_.label();
      a_.load(kScratch, kProcess, kMailboxSave);
      a_.load(kScratch, kScratch, 0);
      a_.test_zero(kScratch);
      a_.jump_if(Comparison::kEqual, none);
      a_.load_bytes(kScratch2, kScratch, kFragmentUsed, 4);
      a_.add(kScratch2, SWord{1});
      a_.store_bytes(kProcess, kPeeked, kScratch2, 4);
      a_.load(kScratch, kScratch, kFragmentMessage);
      a_.bind(none);
      const Register r = out(i.dst, kScratch);
      a_.move(r, kScratch);
      return done(i.dst, r);
    }
    case Op::kPassMessage:  // as receive_next
      a_.load(kScratch, kProcess, kMailboxSave);
      a_.load(kScratch, kScratch, 0);
      a_.add(kScratch, kFragmentNext);
      a_.store(kProcess, kMailboxSave, kScratch);
      return a_.store_bytes(kProcess, kPeeked, Word{0}, 4);
    case Op::kSelf: {
      const Register r = out(i.dst, kScratch);
      a_.load(r, kProcess, kSelfId);
      return done(i.dst, r);
    }
    default: return bits_instruction(i);
  }
}

}  // namespace vmrun::jit
