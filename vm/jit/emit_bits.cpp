// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/code_emitter.hpp"
#include "vm/jit/process_offsets.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {

using Kind = Location::Kind;

/// The result's register, or a scratch register if another argument, which is read later, is there.
Register Emitter::out_beside(ValueId dst, ValueId read_later) const {
  const Register r = out(dst, kScratch);
  const bool is_there = !g_.is_const(read_later) && at(read_later) == Location{Kind::kRegister, r.number};
  return is_there ? kScratch : r;
}

void Emitter::done_in(ValueId v, Register r) {
  if (at(v).kind == Kind::kRegister) a_.move(reg(at(v)), r);
  done(v, r);
}

void Emitter::shift(Register r, const Shift& by) {
  if (by.left) a_.shift_left(r, by.left);
  if (by.right) {
    if (by.is_signed) a_.shift_right(r, by.right);
    else a_.shift_right_unsigned(r, by.right);
  }
  if (by.tags) a_.or_(r, Term::kSmallTag);
}

/// Where a bit of a bit string lies: the address of its byte.
void Emitter::byte_address(Register to, ValueId base, ValueId bits) {
  move_to(to, bits);
  a_.shift_right_unsigned(to, 3);
  a_.add(to, in(base, to == kScratch ? kScratch2 : kScratch));
}

void Emitter::bits_at(const Inst& i) {
  const auto args = g_.args_of(i);
  byte_address(kScratch2, args[0], args[1]);
  a_.load(kScratch2, kScratch2, 0);
  a_.swap_bytes(kScratch2, 8);
  move_to(kScratch, args[1]);
  a_.and_(kScratch, 7);
  a_.shift_left(kScratch2);
  done_in(i.dst, kScratch2);
}

namespace {

Word swapped(Word w, const Field& f) { return f.swaps ? __builtin_bswap64(w) >> (64 - 8 * f.bytes) : w; }

}  // namespace

void Emitter::store_bytes(const Inst& i) {
  const auto args = g_.args_of(i);
  const Field f = Field::of(i.imm);
  const Register base = args.size() == 1 ? kHeap : in(args[1], kScratch2);
  if (g_.is_const(args[0]))
    return a_.store_bytes(base, f.displacement, swapped(g_.imms[args[0]], f), f.bytes);
  if (!f.shift && !f.swaps) return a_.store_bytes(base, f.displacement, in(args[0], kScratch), f.bytes);
  move_to(kScratch, args[0]);
  if (f.shift > 0) a_.shift_left(kScratch, static_cast<unsigned>(f.shift));
  if (f.shift < 0) a_.shift_right(kScratch, static_cast<unsigned>(-f.shift));
  if (f.swaps && f.bytes > 1) a_.swap_bytes(kScratch, f.bytes);
  a_.store_bytes(base, f.displacement, kScratch, f.bytes);
}

/// At the top of the heap.
void Emitter::put_binary(const Inst& i) {
  const ValueId size = g_.args_of(i)[0];
  const auto header_of = [](Word words) { return Term::header(Term::Sub::kHeapBinary, words).raw(); };
  const Register r = out(i.dst, kScratch2);
  if (g_.is_const(size)) {
    const Word words = 1 + words_for_bytes(g_.imms[size]);
    a_.store(kHeap, 0, header_of(words));
    a_.store(kHeap, sizeof(Word), g_.imms[size]);
    a_.address(r, kHeap, Term::kBoxedTag);
    a_.add(kHeap, Emitter::words(static_cast<SWord>(words) + 1));
    return done(i.dst, r);
  }
  // Its bytes in whole words, and two more words. The header counts one word less, in units of 64.
  a_.store(kHeap, sizeof(Word), in(size, kScratch));
  move_to(kScratch, size);
  a_.add(kScratch, 7 + 2 * sizeof(Word));
  a_.and_(kScratch, -SWord{8});
  a_.move(kScratch2, kScratch);
  a_.shift_left(kScratch2, 3);
  a_.add(kScratch2, static_cast<SWord>(header_of(0)) - 64);
  a_.store(kHeap, 0, kScratch2);
  a_.address(r, kHeap, Term::kBoxedTag);
  a_.add(kHeap, kScratch);
  done(i.dst, r);
}

void Emitter::bits_instruction(const Inst& i) {
  const auto args = g_.args_of(i);
  switch (i.op) {
    case Op::kOffset: {
      const Register r = out(i.dst, kScratch);
      a_.address(r, in(args[0], kScratch), static_cast<SWord>(i.imm));
      return done(i.dst, r);
    }
    case Op::kSum: {
      const Register r = out(i.dst, kScratch);
      const bool is_second = !g_.is_const(args[1]) && at(args[1]) == Location{Kind::kRegister, r.number};
      move_to(r, args[is_second]);
      a_.add(r, in(args[!is_second], kScratch2));
      return done(i.dst, r);
    }
    case Op::kDifference: {
      const Register r = out_beside(i.dst, args[1]);
      move_to(r, args[0]);
      a_.subtract(r, in(args[1], kScratch2));
      return done_in(i.dst, r);
    }
    case Op::kShift: {
      const Register r = out(i.dst, kScratch);
      move_to(r, args[0]);
      shift(r, Shift::of(i.imm));
      return done(i.dst, r);
    }
    case Op::kJoin: {
      const Register r = out_beside(i.dst, args[1]);
      move_to(r, args[0]);
      a_.shift_left(r, static_cast<unsigned>(i.imm));
      a_.or_(r, in(args[1], kScratch2));
      return done_in(i.dst, r);
    }
    case Op::kBytesAt: {
      const Register r = out_beside(i.dst, args[0]);
      byte_address(r, args[0], args[1]);
      return done_in(i.dst, r);
    }
    case Op::kBitsAt: return bits_at(i);
    case Op::kLoadBytes: {
      const Field f = Field::of(i.imm);
      const Register r = out(i.dst, kScratch);
      a_.load_bytes(r, in(args[0], kScratch), f.displacement, f.bytes);
      if (f.swaps && f.bytes > 1) a_.swap_bytes(r, f.bytes);
      return done(i.dst, r);
    }
    case Op::kStoreBytes: return store_bytes(i);
    case Op::kStoreWord: {
      const Register base = in(args[0], kScratch2);
      if (g_.is_const(args[1])) return a_.store(base, static_cast<SWord>(i.imm), g_.imms[args[1]]);
      return a_.store(base, static_cast<SWord>(i.imm), in(args[1], kScratch));
    }
    case Op::kHeapTop: {
      const Register r = out(i.dst, kScratch);
      a_.address(r, kHeap, static_cast<SWord>(i.imm));
      return done(i.dst, r);
    }
    case Op::kPutBinary: return put_binary(i);
    case Op::kCharge: return a_.subtract_32(kProcess, kReductions, in(args[0], kScratch));
    default: return;
  }
}

}  // namespace vmrun::jit
