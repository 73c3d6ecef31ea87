// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/instr_gen.hpp"

#include <algorithm>

#include "vm/base/code_traits.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/bits_fields.hpp"

namespace vmrun::compile {

using ir::BlockEnd;
using ir::SegSpec;
using ir::SegType;
using ir::Test;

namespace {

Operand u(std::uint64_t n) { return Operand::u(n); }

/// Whether memory may be collected while it runs; then heap reserved before it is lost.
bool may_collect(const Instr& i) {
  switch (i.op) {
    case Op::kBif: return i.bif->gc;
    case Op::kPutMapAssoc:
    case Op::kPutMapExact:
    case Op::kPutRecord:
    case Op::kBsCreate:
    case Op::kBsGetTail:
    case Op::kBsGetPosition:
    case Op::kBsStart:
    case Op::kBsGet: return true;
    default: return ir::clobbers_x(i.op);
  }
}

std::uint64_t flags_of(const SegSpec& s) {
  return (s.little ? 2u : 0u) | (s.is_signed ? 4u : 0u) | (s.native ? 16u : 0u);
}

}  // namespace

void InstrGen::line(Loc loc) {
  if (loc.known()) regs_.emit(Bop::kLine, {u(builder_.line(loc))});
}

HeapNeed InstrGen::heap_need(std::uint32_t at) const {
  HeapNeed n;
  for (; at < uses_.block().code.size(); ++at) {
    const Instr& i = uses_.block().code[at];
    if (may_collect(i)) break;
    if (i.op == Op::kPutList) n.words += 2;
    if (i.op == Op::kFloatBox) ++n.floats;
    if (i.op == Op::kPutTuple) n.words += static_cast<std::uint32_t>(i.args.size()) + 1;
    if (i.op == Op::kMakeFun) {
      ++n.funs;
      n.words += static_cast<std::uint32_t>(i.args.size());
    }
  }
  return n;
}

/// Reserves heap for instruction `at` and the following ones, up to the next that may collect.
void InstrGen::reserve_heap(std::uint32_t at) {
  if (at < heap_until_) return;
  const HeapNeed need = heap_need(at);
  const std::uint32_t live = regs_.live_x();
  regs_.emit(Bop::kTestHeap, {need.operand(), u(live)});
  regs_.collection(live);
  heap_reserved_from(at);
}

void InstrGen::heap_reserved_from(std::uint32_t at) {
  const Block& b = uses_.block();
  heap_until_ = at;
  while (heap_until_ < b.code.size() && !may_collect(b.code[heap_until_])) ++heap_until_;
}

bool InstrGen::tail_position(std::uint32_t at) const {
  const Instr& i = uses_.block().code[at];
  return at + 1 == uses_.block().code.size() && uses_.block().end == BlockEnd::kReturn &&
         uses_.block().subject == Arg::of(i.dst());
}

/// Fetches head and tail of a cell at once, if this instruction and the next one fetch them.
bool InstrGen::get_list(std::uint32_t at) {
  const Block& b = uses_.block();
  if (at + 1 >= b.code.size() || (at + 2 == b.code.size() && b.end == BlockEnd::kFallible)) return false;
  const Instr &i = b.code[at], &other = b.code[at + 1];
  const bool hd = i.op == Op::kGetHd;
  if (other.op != (hd ? Op::kGetTl : Op::kGetHd) || !(other.args[0] == i.args[0])) return false;
  const Operand from = regs_.operand(i.args[0]);
  regs_.release_dead(other.args, at + 1);
  const Instr &h = hd ? i : other, &t = hd ? other : i;
  const Operand first = regs_.define(h.dst(), at + 1);
  const Operand second = regs_.define(t.dst(), at + 1);
  if (!(first == second)) regs_.emit(Bop::kGetList, {from, first, second});
  else regs_.emit(uses_.dies(h.dst(), at + 1) ? Bop::kGetTl : Bop::kGetHd, {from, first});
  return true;
}

/// Makes a tuple, or a fun with its environment.
void InstrGen::construct(const Instr& i, std::uint32_t at) {
  reserve_heap(at);
  std::vector<Operand> elements{Operand::list(i.args.size())};
  for (Arg a : i.args) elements.push_back(regs_.operand(a));
  regs_.release_dead(i.args, at);
  const Operand dst = regs_.define(i.dst(), at);
  std::vector<Operand> args;
  if (i.op == Op::kMakeFun) args.push_back(Operand::fun(static_cast<std::uint32_t>(i.imm)));
  args.push_back(dst);
  args.insert(args.end(), elements.begin(), elements.end());
  regs_.emit(i.op == Op::kMakeFun ? Bop::kMakeFun3 : Bop::kPutTuple2, std::move(args));
}

/// Returns the position of the next instruction, kNone after a tail call.
std::uint32_t InstrGen::instruction(std::uint32_t at) {
  const Instr& i = uses_.block().code[at];
  if (ir::clobbers_x(i.op)) {
    const bool plain = i.op == Op::kCall || i.op == Op::kCallExt;
    const bool end = at + 1 == uses_.block().code.size();
    if (plain &&
        (tail_position(at) || (end && uses_.block().end == BlockEnd::kUnreachable && !frames_.open_now()))) {
      tail_call(i);
      return kNone;
    }
    if ((i.op == Op::kCallFun || i.op == Op::kApply) && tail_position(at)) {
      call_fun_last(i, at);
      return kNone;
    }
    call(i, at);
    return at + 1;
  }
  auto simple = [&](Bop op, std::vector<Operand> args) {
    regs_.release_dead(i.args, at);
    args.push_back(regs_.define(i.dst(), at));
    regs_.emit(op, std::move(args));
  };
  switch (i.op) {
    case Op::kMove: simple(Bop::kMove, {regs_.operand(i.args[0])}); break;
    case Op::kGetHd:
    case Op::kGetTl:
      if (get_list(at)) return at + 2;
      simple(i.op == Op::kGetHd ? Bop::kGetHd : Bop::kGetTl, {regs_.operand(i.args[0])});
      break;
    case Op::kGetElement: simple(Bop::kGetTupleElement, {regs_.operand(i.args[0]), u(i.imm)}); break;
    case Op::kPutList:
      reserve_heap(at);
      simple(Bop::kPutList, {regs_.operand(i.args[0]), regs_.operand(i.args[1])});
      break;
    case Op::kPutTuple:
    case Op::kMakeFun: construct(i, at); break;
    case Op::kFloatLoad: float_load(i, at); break;
    case Op::kFloatOp: {
      static constexpr Bop kOps[] = {Bop::kFadd, Bop::kFsub, Bop::kFmul, Bop::kFdiv};
      const Operand a = float_in(i.args[0], at), b = float_in(i.args[1], at);
      regs_.stack_walk();
      line(i.loc);
      regs_.emit(kOps[i.imm], {Operand::label(0), a, b, float_out(i.dst(), at)});
      break;
    }
    case Op::kFloatBox: {
      reserve_heap(at);
      const Operand from = float_in(i.args[0], at), to = regs_.define(i.dst(), at);
      regs_.emit(Bop::kFmove, {from, to});
      break;
    }
    case Op::kBif: bif(i, at, kNone); break;
    case Op::kPutMapAssoc:
    case Op::kPutMapExact: put_map(i, at, kNone); break;
    case Op::kPutRecord: put_record(i, at); break;
    case Op::kGetRecordField: record_field(i, at, kNone); break;
    case Op::kBsCreate: create_binary(i, at, kNone); break;
    case Op::kBsGetPosition:
    case Op::kBsGetTail: {
      const std::uint32_t live = regs_.live_x();
      const Operand from = regs_.operand(i.args[0]);
      regs_.release_dead(i.args, at);
      const Operand dst = regs_.define(i.dst(), at);
      regs_.collection(live);
      regs_.emit(i.op == Op::kBsGetTail ? Bop::kBsGetTail : Bop::kBsGetPosition, {from, dst, u(live)});
      regs_.wrote(dst);
      break;
    }
    case Op::kBsSetPosition:
      regs_.emit(Bop::kBsSetPosition, {regs_.operand(i.args[0]), regs_.operand(i.args[1])});
      regs_.release_dead(i.args, at);
      break;
    case Op::kTryEnd:
      regs_.emit(Bop::kTryEnd, {regs_.operand(i.args[0])});
      regs_.release_dead(i.args, at);
      break;
    case Op::kRemoveMessage: regs_.emit(Bop::kRemoveMessage, {}); break;
    case Op::kTimeout: regs_.emit(Bop::kTimeout, {}); break;
    case Op::kMarkerReserve: {
      const Operand dst = regs_.define(i.dst(), at);
      regs_.emit(Bop::kRecvMarkerReserve, {dst});
      break;
    }
    case Op::kMarkerBind:
    case Op::kMarkerUse:
    case Op::kMarkerClear: {
      std::vector<Operand> args;
      for (Arg a : i.args) args.push_back(regs_.operand(a));
      regs_.emit(i.op == Op::kMarkerBind  ? Bop::kRecvMarkerBind
                 : i.op == Op::kMarkerUse ? Bop::kRecvMarkerUse
                                          : Bop::kRecvMarkerClear,
                 std::move(args));
      regs_.release_dead(i.args, at);
      break;
    }
    default: break;
  }
  return at + 1;
}

// --- floats --------------------------------------------------------------------------------------

/// Returns the float register of `a`, and frees it if this was the last use.
Operand InstrGen::float_in(Arg a, std::uint32_t at) {
  const std::uint32_t r = loc_fr_[a.value];
  if (uses_.dies(a.value, at)) fr_taken_[r] = false;
  return Operand::fr(r);
}

Operand InstrGen::float_out(ValueId v, std::uint32_t at) {
  std::uint32_t r = 0;
  while (r < fr_taken_.size() && fr_taken_[r]) ++r;
  grow(fr_taken_, r + 1);
  fr_taken_[r] = !uses_.dies(v, at);
  loc_fr_[v] = r;
  return Operand::fr(r);
}

void InstrGen::float_load(const Instr& i, std::uint32_t at) {
  const Operand from = regs_.operand(i.args[0]);
  regs_.release_dead(i.args, at);
  const Operand to = float_out(i.dst(), at);
  if (i.imm != 0) {
    regs_.emit(Bop::kFmove, {from, to});
    return;
  }
  regs_.stack_walk();
  line(i.loc);
  regs_.emit(Bop::kFconv, {from, to});
}

// --- calls ---------------------------------------------------------------------------------------

void InstrGen::call(const Instr& i, std::uint32_t at) {
  const std::size_t from = ir::first_register_arg(i);
  const auto args = i.args.subspan(from);
  const std::uint64_t n = args.size();
  const Operand tag = i.op == Op::kTryCase || i.op == Op::kCatchEnd ? regs_.operand(i.args[0]) : Operand{};
  regs_.to_registers(args, at, true);
  regs_.release_dead(i.args, at);
  // Not before a function calls itself: time matters most there, and the frame is gone soon.
  const bool long_call = (i.op == Op::kCall && i.imm != self_) || i.op == Op::kCallExt ||
                         i.op == Op::kCallFun || i.op == Op::kApply;
  if (long_call) regs_.forget_dead();
  line(i.loc);
  switch (i.op) {
    case Op::kCall: regs_.emit(Bop::kCall, {u(n), Operand::label(entries_[i.imm])}); break;
    case Op::kCallExt:
      regs_.emit(Bop::kCallExt, {u(n), Operand::ext(builder_.import(i.args[0].literal, i.args[1].literal,
                                                                    static_cast<std::uint32_t>(n)))});
      break;
    case Op::kCallFun: regs_.emit(Bop::kCallFun, {u(n - 1)}); break;
    case Op::kApply: regs_.emit(Bop::kApply, {u(n - 2)}); break;
    case Op::kSend: regs_.emit(Bop::kSend, {}); break;
    case Op::kBsInitWritable: regs_.emit(Bop::kBsInitWritable, {}); break;
    case Op::kBuildStacktrace: regs_.emit(Bop::kBuildStacktrace, {}); break;
    case Op::kRawRaise: regs_.emit(Bop::kRawRaise, {}); break;
    case Op::kCatchEnd: regs_.emit(Bop::kCatchEnd, {tag}); break;
    case Op::kTryCase: regs_.emit(Bop::kTryCase, {tag}); break;
    default: break;
  }
  regs_.clobber();
  regs_.collection(0);
  for (std::uint32_t k = 0; k < i.dsts.size(); ++k) {
    if (uses_.dies(i.dsts[k], at)) {
      regs_.wrote(Operand::x(k));
    } else {
      regs_.set_x(k, i.dsts[k]);
    }
  }
}

void InstrGen::tail_call(const Instr& i) {
  const auto args = i.args.subspan(ir::first_register_arg(i));
  regs_.to_registers(args, static_cast<std::uint32_t>(uses_.block().code.size()), false);
  regs_.stack_walk();
  line(i.loc);
  const auto n = static_cast<std::uint32_t>(args.size());
  const bool ext = i.op == Op::kCallExt;
  const Operand to = ext ? Operand::ext(builder_.import(i.args[0].literal, i.args[1].literal, n))
                         : Operand::label(entries_[i.imm]);
  if (!frames_.open_now()) regs_.emit(ext ? Bop::kCallExtOnly : Bop::kCallOnly, {u(n), to});
  else regs_.emit(ext ? Bop::kCallExtLast : Bop::kCallLast, {u(n), to, u(frames_.current())});
}

/// The loader merges call_fun, deallocate and return into one jump.
void InstrGen::call_fun_last(const Instr& i, std::uint32_t at) {
  regs_.to_registers(i.args, at, false);
  regs_.stack_walk();
  line(i.loc);
  const auto n = static_cast<std::uint32_t>(i.args.size());
  if (i.op == Op::kApply) {
    regs_.emit(Bop::kApplyLast, {u(n - 2), u(frames_.current())});
    return;
  }
  regs_.emit(Bop::kCallFun, {u(n - 1)});
  regs_.collection(0);
  regs_.emit(Bop::kDeallocate, {u(frames_.current())});
  regs_.emit(Bop::kReturn, {});
}

/// Returns the register for the result of an operation that may go to `fail`. In that case the
/// register is not written, so the result may replace a value that only the failure path needs.
/// (The label for `fail` must have been made before.)
Operand InstrGen::define_result(const Instr& i, std::uint32_t at, BlockId fail) {
  regs_.release_dead(i.args, at);
  if (fail != kNone) regs_.release_others(fn_.blocks[uses_.block().succ].live_in);
  return regs_.define(i.dst(), at);
}

// --- operations with a failure exit --------------------------------------------------------------

void InstrGen::fallible(const Instr& i, std::uint32_t at, BlockId fail) {
  switch (i.op) {
    case Op::kTest: {
      const std::uint32_t label = edges_.edge(fail);
      test(i, label);
      regs_.release_dead(i.args, at);
      break;
    }
    case Op::kBif: bif(i, at, fail); break;
    case Op::kPutMapAssoc:
    case Op::kPutMapExact: put_map(i, at, fail); break;
    case Op::kBsCreate: create_binary(i, at, fail); break;
    case Op::kGetMap:
    case Op::kGetRecord: read_map(i, at, fail); break;
    case Op::kPutRecord: put_record(i, at); break;
    case Op::kGetRecordField: record_field(i, at, fail); break;
    default: read_bits(i, at, fail); break;
  }
}

void InstrGen::test(const Instr& i, std::uint32_t fail) {
  static constexpr Bop kOps[] = {Bop::kIsLt,
                                 Bop::kIsGe,
                                 Bop::kIsEq,
                                 Bop::kIsNe,
                                 Bop::kIsEqExact,
                                 Bop::kIsNeExact,
                                 Bop::kIsInteger,
                                 Bop::kIsFloat,
                                 Bop::kIsNumber,
                                 Bop::kIsAtom,
                                 Bop::kIsPid,
                                 Bop::kIsReference,
                                 Bop::kIsPort,
                                 Bop::kIsNil,
                                 Bop::kIsBinary,
                                 Bop::kIsBitstr,
                                 Bop::kIsList,
                                 Bop::kIsNonemptyList,
                                 Bop::kIsTuple,
                                 Bop::kTestArity,
                                 Bop::kIsTaggedTuple,
                                 Bop::kIsBoolean,
                                 Bop::kIsFunction,
                                 Bop::kIsFunction2,
                                 Bop::kIsMap,
                                 Bop::kHasMapFields,
                                 Bop::kIsAnyNativeRecord,
                                 Bop::kIsNativeRecord,
                                 Bop::kIsRecordAccessible};
  const Bop op = kOps[static_cast<std::size_t>(i.test)];
  // OTP's validator does not accept types in tests that inspect the term.
  const bool inside = i.test == Test::kArity || i.test == Test::kTagged || i.test >= Test::kMapFields;
  std::vector<Operand> args{Operand::label(fail), inside ? regs_.operand(i.args[0]) : typed_operand(i, 0)};
  if (i.test == Test::kArity) {
    args.push_back(u(i.imm));
  } else if (i.test == Test::kTagged) {
    args.push_back(u(i.imm));
    args.push_back(regs_.operand(i.args[1]));
  } else if (i.test == Test::kMapFields) {
    args.push_back(Operand::list(i.args.size() - 1));
    for (Arg a : i.args.subspan(1)) args.push_back(regs_.operand(a));
  } else if (i.test == Test::kRecordNamed || i.test == Test::kRecordOpen) {
    for (Arg a : i.args.subspan(1)) args.push_back(regs_.operand(a));
  } else if (i.test == Test::kEqExact && i.args[1].is_literal() && i.args[1].literal.is_nil()) {
    regs_.emit(Bop::kIsNil, std::move(args));
    return;
  } else if (i.args.size() > 1) {
    args.push_back(typed_operand(i, 1));
  }
  regs_.emit(op, std::move(args));
}

void InstrGen::bif(const Instr& i, std::uint32_t at, BlockId fail) {
  if (fail == kNone) regs_.trade_places(i, at);
  const bool gc = i.bif->gc;
  const std::uint32_t live = gc ? regs_.live_x() : 0;
  std::vector<Operand> in;
  for (std::size_t k = 0; k < i.args.size(); ++k) in.push_back(typed_operand(i, k));
  const std::uint32_t label = fail_label(fail);
  const Operand dst = define_result(i, at, fail);
  if (fail == kNone && !i.bif->safe) line(i.loc);
  const Operand name = Operand::ext(builder_.import(atoms::erlang, i.bif->atom, i.bif->arity));
  std::vector<Operand> args;
  if (i.bif->arity > 0 || gc) args.push_back(Operand::label(label));
  if (gc) args.push_back(u(live));
  args.push_back(name);
  args.insert(args.end(), in.begin(), in.end());
  args.push_back(dst);
  static constexpr Bop kPlain[] = {Bop::kBif0, Bop::kBif1, Bop::kBif2},
                       kGc[] = {Bop::kGcBif1, Bop::kGcBif1, Bop::kGcBif2, Bop::kGcBif3};
  if (gc) regs_.collection(live);
  else if (fail == kNone && !i.bif->safe) regs_.stack_walk();
  regs_.emit(gc ? kGc[in.size()] : kPlain[in.size()], std::move(args));
  regs_.wrote(dst);
}

void InstrGen::put_map(const Instr& i, std::uint32_t at, BlockId fail) {
  const std::uint32_t live = regs_.live_x();
  std::vector<Operand> in;
  for (Arg a : i.args) in.push_back(regs_.operand(a));
  const std::uint32_t label = fail_label(fail);
  const Operand dst = define_result(i, at, fail);
  if (fail == kNone) line(i.loc);
  std::vector<Operand> args{Operand::label(label), in[0], dst, u(live), Operand::list(in.size() - 1)};
  args.insert(args.end(), in.begin() + 1, in.end());
  regs_.collection(live);
  regs_.emit(i.op == Op::kPutMapExact ? Bop::kPutMapExact : Bop::kPutMapAssoc, std::move(args));
  regs_.wrote(dst);
}

void InstrGen::read_map(const Instr& i, std::uint32_t at, BlockId fail) {
  const std::uint32_t label = edges_.edge(fail);
  std::vector<Operand> args{Operand::label(label), regs_.operand(i.args[0]),
                            Operand::list(2 * i.dsts.size())};
  // The map is read for every key, so no result may replace it before the last key.
  std::vector<Operand> keys;
  for (Arg a : i.args.subspan(1)) keys.push_back(regs_.operand(a));
  for (std::size_t k = 0; k < i.dsts.size(); ++k) {
    if (k + 1 == i.dsts.size()) regs_.release_dead(i.args, at);
    args.push_back(keys[k]);
    args.push_back(regs_.define(i.dsts[k], at));
    if (uses_.dies(i.dsts[k], at) && k + 1 < i.dsts.size()) {
      // An unused result still occupies its register for the length of this instruction: give it a
      // name.
      regs_.set_x(args.back().n, i.dsts[k]);
    }
  }
  regs_.emit(i.op == Op::kGetRecord ? Bop::kGetRecordElements : Bop::kGetMapElements, std::move(args));
  for (ValueId v : i.dsts)
    if (uses_.dies(v, at)) regs_.release(v);
}

// --- native records ------------------------------------------------------------------------------

/// Makes or updates a record. In a guard there is none.
void InstrGen::put_record(const Instr& i, std::uint32_t at) {
  const std::uint32_t live = regs_.live_x();
  std::vector<Operand> in;
  for (Arg a : i.args) in.push_back(regs_.operand(a));
  const Operand dst = define_result(i, at, kNone);
  line(i.loc);
  std::vector<Operand> args{Operand::label(0), in[0], in[1], dst, u(live), Operand::list(in.size() - 2)};
  args.insert(args.end(), in.begin() + 2, in.end());
  regs_.collection(live);
  regs_.emit(Bop::kPutRecord, std::move(args));
  regs_.wrote(dst);
}

void InstrGen::record_field(const Instr& i, std::uint32_t at, BlockId fail) {
  std::vector<Operand> args{Operand::label(fail_label(fail))};
  for (Arg a : i.args) args.push_back(regs_.operand(a));
  const Operand dst = define_result(i, at, fail);
  if (fail == kNone) {
    line(i.loc);
    regs_.stack_walk();
  }
  args.push_back(dst);
  regs_.emit(Bop::kGetRecordField, std::move(args));
  regs_.wrote(dst);
}

// --- binaries ------------------------------------------------------------------------------------

namespace {

/// Appends constant whole bytes, to be written as part of a string.
bool constant_byte_run(const SegSpec& s, Arg value, Arg size, std::vector<std::uint8_t>& out) {
  if (s.type != SegType::kInteger || !value.is_literal() || !value.literal.is_small() || !size.is_literal())
    return false;
  Word n;
  if (field_bits(size.literal, s.unit, &n) != FieldSize::kOk || n > 64 || n % 8 != 0) return false;
  for (Word k = 0; k < n; k += 8) {
    const Word shift = s.little || s.native ? k : n - 8 - k;
    out.push_back(static_cast<std::uint8_t>(value.literal.small_value() >> std::min<Word>(shift, 63)));
  }
  return true;
}

}  // namespace

void InstrGen::create_binary(const Instr& i, std::uint32_t at, BlockId fail) {
  const std::uint32_t live = regs_.live_x();
  const Term all = intern_atom("all"), undefined = atoms::undefined;
  std::vector<Operand> segs;
  bool bytes_only = true;
  std::vector<std::uint8_t> run;
  auto flush = [&] {
    if (run.empty()) return;
    const auto at_byte = builder_.string(run);
    for (Operand o : {Operand::of(intern_atom("string")), u(0), u(8), Operand::of(Term::nil()),
                      Operand::u(at_byte), Operand::of(Term::small(static_cast<SWord>(run.size())))})
      segs.push_back(o);
    segs[segs.size() - 2] = Operand::string(at_byte, static_cast<std::uint32_t>(run.size() * 8));
    run.clear();
  };
  for (std::size_t k = 0; k < i.segments.size(); ++k) {
    const SegSpec& s = i.segments[k];
    const Arg value = i.args[2 * k], size = i.args[2 * k + 1];
    if (constant_byte_run(s, value, size, run)) continue;
    flush();
    const bool is_all = s.type == SegType::kBinary && size.is_literal() && size.literal == all;
    const char* type = "integer";
    switch (s.type) {
      case SegType::kInteger: break;
      case SegType::kFloat: type = "float"; break;
      case SegType::kBinary: type = is_all && k == 0 && segs.empty() ? "append" : "binary"; break;
      case SegType::kUtf8: type = "utf8"; break;
      case SegType::kUtf16: type = "utf16"; break;
      case SegType::kUtf32: type = "utf32"; break;
    }
    const bool utf = s.type >= SegType::kUtf8;
    bytes_only &= utf || s.unit % 8 == 0 ||
                  (size.is_literal() && size.literal.is_small() &&
                   static_cast<Word>(size.literal.small_value()) * s.unit % 8 == 0);
    Operand flags = Operand::of(Term::nil());
    if (s.little || s.native || s.is_signed) {
      Term list = Term::nil();
      if (s.is_signed && !utf) list = ssa_cons(intern_atom("signed"), list);
      if (s.native) list = ssa_cons(intern_atom("native"), list);
      else if (s.little) list = ssa_cons(intern_atom("little"), list);
      if (!list.is_nil()) flags = Operand::of(list);
    }
    segs.push_back(Operand::of(intern_atom(type)));
    segs.push_back(u(s.position));
    segs.push_back(u(utf ? 0 : s.unit));
    segs.push_back(flags);
    segs.push_back(regs_.operand(value));
    segs.push_back(utf ? Operand::of(undefined) : regs_.operand(size));
  }
  flush();
  const std::uint32_t label = fail_label(fail);
  const Operand dst = define_result(i, at, fail);
  if (fail == kNone) line(i.loc);
  std::vector<Operand> args{Operand::label(label), u(0), u(live),
                            u(bytes_only ? 8 : 1), dst,  Operand::list(segs.size())};
  args.insert(args.end(), segs.begin(), segs.end());
  regs_.collection(live);
  regs_.emit(Bop::kBsCreateBin, std::move(args));
  regs_.wrote(dst);
}

Term InstrGen::ssa_cons(Term head, Term tail) {
  Term* cell = static_cast<Term*>(program_.arena.alloc(2 * sizeof(Term), alignof(Term)));
  return make_cons(cell, head, tail);
}

/// Tests whether the rest is whole units.
void InstrGen::test_unit(std::uint32_t label, const Operand& context, Operand unit) {
  if (code_has(CodeTrait::kUnitTestsInMatches, builder_.code().release))
    regs_.emit(Bop::kBsMatch, {Operand::label(label), context, Operand::list(3),
                               Operand::of(intern_atom("ensure_at_least")), u(0), unit});
  else regs_.emit(Bop::kBsTestUnit, {Operand::label(label), context, unit});
}

void InstrGen::read_bits(const Instr& i, std::uint32_t at, BlockId fail) {
  if (i.op == Op::kBsTestTail || i.op == Op::kBsTestUnit || i.op == Op::kBsMatchString) {
    const std::uint32_t label = edges_.edge(fail);
    const Operand context = regs_.operand(i.args[0]);
    if (i.op == Op::kBsTestTail) regs_.emit(Bop::kBsTestTail2, {Operand::label(label), context, u(0)});
    else if (i.op == Op::kBsTestUnit) test_unit(label, context, u(i.imm));
    else
      regs_.emit(Bop::kBsMatchString,
                 {Operand::label(label), context, u(i.imm),
                  Operand::string(builder_.string(i.bytes), static_cast<std::uint32_t>(i.imm))});
    regs_.release_dead(i.args, at);
    return;
  }
  const std::uint32_t live = regs_.live_x();
  const Operand context = regs_.operand(i.args[0]);
  const Operand size = i.args.size() > 1 ? regs_.operand(i.args[1]) : Operand{};
  const std::uint32_t label = edges_.edge(fail);
  Operand dst;
  if (!i.dsts.empty()) dst = define_result(i, at, fail);
  else regs_.release_dead(i.args, at);
  const Operand f = Operand::label(label), flags = u(flags_of(i.spec));
  const bool collects = i.op != Op::kBsSkip || i.spec.type >= SegType::kUtf8;
  if (collects) regs_.collection(live);
  switch (i.op) {
    case Op::kBsStart:
      if (!i.args[0].is_literal()) {
        regs_.emit(Bop::kBsStartMatch4, {f, u(live), context, dst});
      } else {  // OTP's loader requires a register
        regs_.emit(Bop::kMove, {context, dst});
        regs_.emit(Bop::kBsStartMatch4, {f, u(live), dst, dst});
      }
      break;
    case Op::kBsGet:
      switch (i.spec.type) {
        case SegType::kInteger:
          regs_.emit(Bop::kBsGetInteger2, {f, context, u(live), size, u(i.spec.unit), flags, dst});
          break;
        case SegType::kFloat:
          regs_.emit(Bop::kBsGetFloat2, {f, context, u(live), size, u(i.spec.unit), flags, dst});
          break;
        case SegType::kBinary:
          regs_.emit(Bop::kBsGetBinary2, {f, context, u(live), size, u(i.spec.unit), flags, dst});
          break;
        case SegType::kUtf8: regs_.emit(Bop::kBsGetUtf8, {f, context, u(live), flags, dst}); break;
        case SegType::kUtf16: regs_.emit(Bop::kBsGetUtf16, {f, context, u(live), flags, dst}); break;
        case SegType::kUtf32: regs_.emit(Bop::kBsGetUtf32, {f, context, u(live), flags, dst}); break;
      }
      break;
    case Op::kBsSkip:
      switch (i.spec.type) {
        case SegType::kUtf8: regs_.emit(Bop::kBsSkipUtf8, {f, context, u(live), flags}); break;
        case SegType::kUtf16: regs_.emit(Bop::kBsSkipUtf16, {f, context, u(live), flags}); break;
        case SegType::kUtf32: regs_.emit(Bop::kBsSkipUtf32, {f, context, u(live), flags}); break;
        default: regs_.emit(Bop::kBsSkipBits2, {f, context, size, u(i.spec.unit), flags}); break;
      }
      break;
    default: break;
  }
  if (!i.dsts.empty()) regs_.wrote(dst);
}

}  // namespace vmrun::compile
