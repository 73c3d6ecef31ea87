// SPDX-License-Identifier: Apache-2.0
#include "vm/code/interpreter.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "probes/probes.hpp"
#include "vm/base/allocate.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/code_upcalls.hpp"
#include "vm/code/construction.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/limits.hpp"
#include "vm/code/line_breakpoints.hpp"
#include "vm/code/machine_code.hpp"
#include "vm/code/native_call.hpp"
#include "vm/code/native_records.hpp"
#include "vm/code/select_table.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/receive.hpp"
#include "vm/message/send.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/deep_stack.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits_append.hpp"
#include "vm/term/long_compare.hpp"
#include "vm/term/map.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/calls_under_way.hpp"
#include "vm/trace/trace.hpp"
#ifdef VMRUN_COUNT_PAIRS
#include "vm/code/count_pairs.hpp"
#endif

// The interpreter loop. Instructions come from instructions.tab. This file has the machine state
// that they share, and the code that they jump to.
//
// Rules:
// - I, E, H and reds are local variables. They are stored back (VM_SWAP_OUT) before anything that
//   may look at the process, and reloaded after it (VM_SWAP_IN).
// - After VM_NEED, VM_COLLECT or VM_AFTER_BIF no term read before is valid.
// - Every frame leaves kStackReserveWords free between H and E. A call pushes one of these words
//   without a check, and a second one when it is watched (ends_of_calls). Two are left for roots
//   that are put on the stack (instruction_support.cpp).
// - A frame: y0 is E[0]; behind the slots lies the return address. A function without a frame has
//   the return address at E[0].
// - An instruction that raises leaves I at itself, since stack traces find the position there.
namespace vmrun {
namespace {

static_assert(kMaxFloatRegisters == kMaxFloatRegs);
static_assert(kMaxXRegisters == kMaxXRegs);  // one more exists, the loader's scratch register

inline SWord vm_divide(SWord a, SWord b) {
  if (((static_cast<Word>(a) | static_cast<Word>(b)) >> 32) == 0)
    return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}
inline SWord vm_remainder(SWord a, SWord b) {
  if (((static_cast<Word>(a) | static_cast<Word>(b)) >> 32) == 0)
    return static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b);
  return b == -1 ? 0 : a % b;
}
inline int vm_sign(int n) { return n < 0 ? -1 : n > 0; }

/// Builds at H the result of an operation on two numbers one of which is a float. Returns false for
/// other operands, when there is no room, or when the result is not finite; slow_arith deals with
/// these. It is a function of its own for each operator, since it would lengthen every instruction
/// that adds small integers.
inline bool make_float_result(ArithOp op, Term a, Term b, Term* H, const Term* E) {
  const bool is_division = op == ArithOp::kDivide;
  double v, w;
  if (a.is_float()) v = float_of(a)->value;
  else if (a.is_small() && (is_division || b.is_float())) v = static_cast<double>(a.small_value());
  else return false;
  if (b.is_float()) w = float_of(b)->value;
  else if (b.is_small()) w = static_cast<double>(b.small_value());
  else return false;
  if (H + 2 + kStackReserveWords > E) return false;
  double r;
  switch (op) {
    case ArithOp::kAdd: r = v + w; break;
    case ArithOp::kSubtract: r = v - w; break;
    case ArithOp::kMultiply: r = v * w; break;
    default: r = v / w; break;
  }
  if (!std::isfinite(r)) return false;
  make_float(H, r);
  return true;
}
template <ArithOp op>
[[gnu::noinline]] bool float_result(Term a, Term b, Term* H, const Term* E) {
  return make_float_result(op, a, b, H, E);
}
[[gnu::noinline]] bool float_result_of(ArithOp op, Term a, Term b, Term* H, const Term* E) {
  return make_float_result(op, a, b, H, E);
}

inline Term vm_term(Term t) { return t; }
inline Term vm_term(SWord shifted) { return Term::from_raw(static_cast<Word>(shifted) | Term::kSmallTag); }

/// Longer lists are counted outside the loop.
constexpr SWord kMostCellsHere = 100'000;

void save_registers(Process& p, const Term* x, unsigned live) {
  if (live > Process::kInlineRegs)
    p.saved_regs = static_cast<Term*>(allocate_bytes(live * sizeof(Term), "saved registers"));
  std::memcpy(static_cast<void*>(p.saved_regs), x, live * sizeof(Term));
  p.live_saved = static_cast<std::uint8_t>(live);
}

/// Those for floats too, behind the others, where no collection looks for terms.
void save_all_registers(Process& p, const Term* x, unsigned live, const double* floats) {
  constexpr std::size_t kFloatBytes = kMaxFloatRegisters * sizeof *floats;
  p.saved_regs = static_cast<Term*>(allocate_bytes(live * sizeof(Term) + kFloatBytes, "saved registers"));
  std::memcpy(static_cast<void*>(p.saved_regs), x, live * sizeof(Term));
  std::memcpy(static_cast<void*>(p.saved_regs + live), floats, kFloatBytes);
  p.live_saved = static_cast<std::uint8_t>(live);
}

void restore_registers(Process& p, Term* x, double* floats) {
  std::memcpy(static_cast<void*>(x), p.saved_regs, p.live_saved * sizeof(Term));
  if (p.saved_regs != p.inline_regs) {
    if (p.goes_on == Process::GoesOn::kCollected)
      std::memcpy(floats, p.saved_regs + p.live_saved, kMaxFloatRegisters * sizeof *floats);
    free_bytes(p.saved_regs);
  }
  p.saved_regs = p.inline_regs;
  p.live_saved = 0;
}

/// Returns where a call of `fun` with so many arguments goes, and puts its free variables in place.
/// Returns nullptr for a bad call (bad_fun_call finds out why).
inline const Word* fun_target(Term fun, unsigned arity, Term* x) {
  if (!fun.is_fun()) [[unlikely]]
    return nullptr;
  const FunObject* f = fun_of(fun);
  if (f->arity != arity) [[unlikely]]
    return nullptr;
  if (f->is_external) return f->exported->address.load(std::memory_order_acquire);
  spread_environment(*f, x);
  return f->entry->address.load(std::memory_order_acquire);
}

/// Returns where a patched instruction goes on, with the process's ip at it and its stack stored.
/// is_call: the probe of a function's entry fires first, if the instruction begins a function. This
/// is a function of its own, since its registers would be taken from all other instructions.
[[gnu::noinline]] const void* at_probe(Process& p, const Term* x, bool is_call, const void* const* normal,
                                       const void* const* traced) {
  const Patch patch = patch_at(p.ip);
  if (!patch.at) return normal[operation_at(p.ip)];  // it is not patched any more
  const Word depth = call_depth(p, p.heap.stop);
  if (is_call && patch.fires & Patch::kBreak) breakpoint_reached(p, *header_of_entry(p.ip), x, depth);
  if (is_call && patch.fires & (Patch::kEntry | Patch::kEnd)) begin_call(p, patch, x, depth);
  const bool as_traced = patch.fires & Patch::kInside || runs_traced(p);
  return (as_traced ? traced : normal)[patch.operation];
}

// Many instructions may collect, and each of them would be longer without these.

/// Collects, for an instruction at I, with everything stored. False: the process ends.
[[gnu::noinline]] bool make_room(Process& p, const Word* I, Word words, Term* x, unsigned live) {
  p.ip = I;
  const int cost = collect(p, words, x, live);
  if (cost >= 0) p.reductions -= cost;
  return cost >= 0;
}
/// Likewise. Returns false also when the process goes on after a collection on a dirty scheduler;
/// its registers are saved then. Those for floats are the scheduler's. They hold something if the
/// room is for the terms of results; that is not known here, so they are always saved, which is
/// little beside such a collection.
[[gnu::noinline]] bool make_room_or_leave(Process& p, const Word* I, Word need, Term* x, unsigned live,
                                          const double* floats) {
  const Word words = need & ~Word{kNeedAlways};
  if (!long_collection(p)) [[likely]]
    return make_room(p, I, words, x, live);
  if (may_go_on(p, words)) return true;
  p.ip = I;
  collect_on_dirty(p, words);
  p.goes_on = Process::GoesOn::kCollected;
  save_all_registers(p, x, live, floats);
  return false;
}

inline const Export* entry_export(const Word* entry) {
  const FunctionHeader* h = header_of_entry(entry);
  return export_entry(h->module, h->function, h->arity);
}

}  // namespace

// Operands of the current instruction, by byte offset.
#define VM_FIELD(type, o)       (*reinterpret_cast<const type*>(reinterpret_cast<const char*>(I) + (o)))
#define VM_X(o)                 x[VM_FIELD(std::uint16_t, o)]
#define VM_Y(o)                 E[VM_FIELD(std::uint16_t, o)]
#define VM_K(o)                 Term::from_raw(VM_FIELD(std::uint32_t, o))
#define VM_C(o)                 Term::from_raw(VM_FIELD(Word, o))
#define VM_I(o)                 static_cast<SWord>(VM_FIELD(std::int32_t, o))
#define VM_U(o)                 static_cast<unsigned>(VM_FIELD(std::uint16_t, o))
#define VM_Q(o)                 VM_FIELD(std::uint32_t, o)
#define VM_W(o)                 VM_FIELD(Word, o)
#define VM_LABEL(o)             static_cast<SWord>(VM_FIELD(std::int32_t, o))
#define VM_FLOAT(o)             f[VM_FIELD(std::uint16_t, o)]
#define VM_ANY_SOURCE(o)        decode_source(VM_FIELD(Word, o), x, E)
#define VM_DECODE(w)            decode_source(w, x, E)
#define VM_DESTINATION(w)       ((w)&kDestinationY ? E + ((w) & ~Word{kDestinationY}) : x + (w))
#define VM_ANY_DEST(o)          (*VM_DESTINATION(VM_FIELD(std::uint16_t, o)))
#define VM_EXPORT(w)            reinterpret_cast<Export*>(w)
#define VM_BIF(w)               reinterpret_cast<BifFn>(w)
#define VM_COUNTER(w)           reinterpret_cast<Word*>(w)
#define VM_RETURN_ADDRESS(next) Term::from_raw(reinterpret_cast<Word>(next))
#define VM_HEAP_WORDS(need)     ((need) & ~kNeedAlways)
#define VM_TERM(v)              vm_term(v)
#define VM_UNTAGGED(i)          vm_term(i)
// Atomic, since operations are replaced while other threads execute them: operations of functions
// that are or were native, and of functions that are watched by name.
#define VM_OPERATION __atomic_load_n(reinterpret_cast<const std::uint16_t*>(I), __ATOMIC_RELAXED)

#ifdef VMRUN_COUNT_PAIRS  // how often which instruction follows which: what to fuse (see count_pairs.hpp)
#define VM_DISPATCH               \
  do {                            \
    count_pair(VM_OPERATION);     \
    goto* dispatch[VM_OPERATION]; \
  } while (0)
#else
#define VM_DISPATCH goto* dispatch[VM_OPERATION]
#endif
#define VM_NEXT(n) \
  do {             \
    I += (n);      \
    VM_DISPATCH;   \
  } while (0)
#define VM_JUMP(distance) \
  do {                    \
    I += (distance);      \
    VM_DISPATCH;          \
  } while (0)
// Charges the call, at a function's first instruction.
#define VM_ENTER                  \
  do {                            \
    if (--reds <= 0) [[unlikely]] \
      goto yield_at_entry;        \
    VM_DISPATCH;                  \
  } while (0)
#define VM_YIELD_HERE(n) \
  do {                   \
    live_count = (n);    \
    goto yield_here;     \
  } while (0)

#define VM_SWAP_OUT      \
  do {                   \
    p.heap.top = H;      \
    p.heap.stop = E;     \
    p.reductions = reds; \
  } while (0)
#define VM_SWAP_IN       \
  do {                   \
    H = p.heap.top;      \
    E = p.heap.stop;     \
    reds = p.reductions; \
  } while (0)
#define VM_COLLECT(words, live)                        \
  do {                                                 \
    VM_SWAP_OUT;                                       \
    if (!make_room(p, I, words, x, live)) [[unlikely]] \
      goto exit_now;                                   \
    VM_SWAP_IN;                                        \
  } while (0)
#define VM_NEED(need, live)        \
  if (H + (need) > E) [[unlikely]] \
  VM_COLLECT(VM_HEAP_WORDS(need), live)
// Checks again after a collection on a dirty scheduler, without repeating the parts in front of it
// in a fused instruction: these may have changed registers, or may have read some that are not live
// any more.
#define VM_NEED_HERE(need, live)                                   \
  if (H + (need) > E) [[unlikely]] {                               \
    VM_SWAP_OUT;                                                   \
    if (!make_room_or_leave(p, I, need, x, live, f)) goto no_room; \
    VM_SWAP_IN;                                                    \
  }
// For an instruction that has much to do and has done nothing yet. A dirty scheduler does what it
// asked for, and then the instruction begins again. Not allowed behind others in a fused
// instruction.
#define VM_LEAVE_FOR_DIRTY(live) \
  do {                           \
    live_count = (live);         \
    goto leave_for_dirty;        \
  } while (0)
// For a built-in that left words outside the heap's block.
#define VM_AFTER_BIF(live)                                                   \
  do {                                                                       \
    if (p.heap.gc_desired() || gc_modes.collect_always) VM_COLLECT(0, live); \
  } while (0)
// The live registers are not known here, so this makes the next call collect.
#define VM_COLLECT_SOON \
  do {                  \
    if (!set_aside) {   \
      set_aside = reds; \
      reds = 0;         \
    }                   \
  } while (0)

#define VM_RAISE(reason)    \
  do {                      \
    VM_SWAP_OUT;            \
    raise_error(p, reason); \
    goto raise;             \
  } while (0)
#define VM_BOTH_SMALL(a, b)       (((a).raw() & (b).raw() & 0xF) == 0xF)
#define VM_EQUAL_SLOW(a, b)       (!(a).is_immed() && !(b).is_immed() && detail::long_equal_exact(a, b))
#define VM_FUN_TARGET(fun, arity) fun_target(fun, arity, x)
#define VM_ARITH(operation, a, b, live, fail, dst)               \
  do {                                                           \
    guard_arguments[0] = (a);                                    \
    guard_arguments[1] = (b);                                    \
    slow.live_registers = live;                                  \
    slow.fail_distance = fail;                                   \
    VM_SWAP_OUT;                                                 \
    const Term r_ = slow_arith(p, ArithOp::operation, &slow, x); \
    VM_SWAP_IN;                                                  \
    if (!r_.is_value()) [[unlikely]]                             \
      goto no_result;                                            \
    dst = r_;                                                    \
  } while (0)
#define VM_FLOAT_ARITH(operation, a, b, live, fail, dst)    \
  do {                                                      \
    if (float_result<ArithOp::operation>((a), (b), H, E)) { \
      dst = Term::boxed(H);                                 \
      H += 2;                                               \
    } else {                                                \
      VM_ARITH(operation, (a), (b), live, fail, dst);       \
    }                                                       \
  } while (0)

// The absolute value of a term that is not a small integer, or of the least small integer.
#define VM_SLOW_ABS(src, live, fail, target, dst)        \
  do {                                                   \
    if (p.heap.fragments) [[unlikely]]                   \
      VM_AFTER_BIF(live);                                \
    guard_arguments[0] = (src);                          \
    bif_export = VM_EXPORT(target);                      \
    VM_SWAP_OUT;                                         \
    const Term r_ = bif_export->bif(p, guard_arguments); \
    VM_SWAP_IN;                                          \
    if (!r_.is_value()) [[unlikely]] {                   \
      if (fail) VM_JUMP(fail);                           \
      goto guard_bif_failed;                             \
    }                                                    \
    dst = r_;                                            \
  } while (0)

// Builds a tuple at H. Its elements up to `same` are copied from another tuple, except for some.
#define VM_UPDATE_TUPLE(src, header, same, pairs, pairs_count)                                 \
  do {                                                                                         \
    copy_words(H + 1, (src).ptr() + 1, same);                                                  \
    H[0] = Term::from_raw(header);                                                             \
    for (unsigned k = 0; k < (pairs_count); k += 2) H[(pairs)[k]] = VM_DECODE((pairs)[k + 1]); \
  } while (0)

// Probes of the traced instructions. Tracing of calls may look at the process and send messages.
#define VM_TRACE(call) \
  do {                 \
    VM_SWAP_OUT;       \
    p.ip = I;          \
    call;              \
    VM_SWAP_IN;        \
  } while (0)
// These find the depth of the stack in the process. If they used E in so many copies of
// instructions, registers would be taken from the others. pushed: how many words the call is about
// to push.
#define VM_TRACE_RETURN()                VM_TRACE(trace_return(p, I, x))
#define VM_TRACE_LOCAL(entry, pushed)    VM_TRACE(trace_local_entry(p, entry, x, pushed))
#define VM_TRACE_GLOBAL(to, pushed)      VM_TRACE(trace_global_entry(p, *(to), x, pushed))
#define VM_TRACE_FUN(fun, pushed)        VM_TRACE(trace_fun(p, *(fun), false, x, pushed))
#define VM_TRACE_FUN_GLOBAL(fun, pushed) VM_TRACE(trace_fun(p, *(fun), true, x, pushed))
// A breakpoint may have begun to await its return, or may have switched tracing on. What the
// built-in goes on as must report that. last: it returns to the address on top of the stack.
#define VM_TRACE_BIF_ENTRY(target, last)              \
  do {                                                \
    VM_TRACE(trace_bif_entry(p, *(target), x, last)); \
    if (runs_traced(p)) dispatch = kTraced;           \
  } while (0)
#define VM_TRACE_BIF_RETURN(target, result, last) VM_TRACE(trace_bif_return(p, *(target), result, last))

#define VM_TRACE_BODY_BIF_ENTRY(target)          VM_TRACE(trace_body_bif_entry(p, *(target), guard_arguments))
#define VM_TRACE_BODY_BIF_RETURN(target, result) VM_TRACE(trace_body_bif_return(p, *(target), result))
// In the copies of returns for slices that begin with a deep stack, and in the traced copies. Only
// x0 is live where a function returns to.
#define VM_TRACE_COUNTED()                                 \
  do {                                                     \
    if (stack_is_deep(p) && --reds <= 0) VM_YIELD_HERE(1); \
  } while (0)
// JIT code is for slices that are not traced.
#define VM_TRACE_AS_IT_WAS() goto* dispatch[operation_as_it_was(hot_code(I))]
// A probe that fires in this instruction finds the process's ip there.
#define VM_TRACE_HERE() p.ip = I
// Used after what may have taken long: tracing of calls may have been enabled, and the slice may
// still go on for long.
#define VM_LOOK_AGAIN                      \
  if (probe::calls_enabled()) [[unlikely]] \
  dispatch = kTraced
#define VM_TRACE_SEND()                  trace_send_call(p)
#define VM_TRACE_EVENT(what)             trace_saved_event(p, what)
#define VM_TRACE_NIF_ENTRY(nif)          VM_TRACE(trace_nif_entry(p, nif))
#define VM_TRACE_NIF_RETURN(nif, result) VM_TRACE(trace_nif_return(p, nif, result))
// The function that begins at I, if one begins there, is not called.
#define VM_TRACE_AGAIN() goto again

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

RunResult interpret(Scheduler& s, Process& p) {
#include "vm/code/instruction_labels.inc"

  static const void* const* const kTables[] = {kNormal, kCounting, kTraced};  // by Instructions
  const void* const* dispatch = kTables[static_cast<unsigned>(s.instructions)];
  Term* const x = s.x;
  double* const f = s.f;
  const Word* I;
  Term* E;
  Term* H;
  std::int32_t reds;
  std::int32_t set_aside = 0;  // reductions kept back by VM_COLLECT_SOON
  unsigned live_count = 0;
  How left_by{};
  const Export* bif_export = nullptr;
  // where a failed or trapping built-in would have returned to; nullptr: it was called last
  const Word* bif_next = nullptr;
  Term tagged_reason, reason_value;
  Term bad_fun;
  unsigned bad_arity = 0;
  const Word* bad_next = nullptr;  // where the call would have returned to; nullptr: the caller's frame is
                                   // left
  unsigned bad_slots = 0;          // size of the caller's frame, which is left first
  const Export* handler = nullptr;
  Term handled_module;
  unsigned handled_arity = 0;
  SlowOperation slow;
  Term* const guard_arguments = slow.operands;
  BitsUnderWay built;
  static Export* const apply2_export = export_entry(atoms::erlang, atoms::apply, 2);
  static Export* const apply3_export = export_entry(atoms::erlang, atoms::apply, 3);
  static const Term of_functions = intern_atom("undefined_function"),
                    of_funs = intern_atom("undefined_lambda"), of_breakpoints = intern_atom("breakpoint");
  static Export* const after_on_load = export_entry(intern_atom("vmrun_on_load"), atoms::call, 3);
  static Export* const send_export = export_entry(atoms::erlang, atoms::send, 2);

  restore_registers(p, x, f);
  VM_SWAP_IN;
  if (!p.ip) {  // module, function and list of arguments are in x0...x2
    loop_cases.store(kCounting, std::memory_order_relaxed);
    *--E = VM_RETURN_ADDRESS(end_of_process);
    I = apply3_export->stub_code();
    if (dispatch == kTraced) [[unlikely]]
      VM_TRACE(trace_first_call(p, x));
  } else {
    I = p.ip;
    const auto how = std::exchange(p.goes_on, Process::GoesOn::kInstruction);
    if (how == Process::GoesOn::kCollected) [[unlikely]]
      goto collected;
    if (VM_OPERATION == op::probed && how == Process::GoesOn::kInstruction) [[unlikely]]
      goto again;
  }
  VM_DISPATCH;

#include "vm/code/instruction_bodies.inc"

  // ---- Functions that are watched by name ----

probed:
  VM_SWAP_OUT;
  p.ip = I;
  {
    const void* const body = at_probe(p, x, true, dispatch, kTraced);
    VM_SWAP_IN;
    if (runs_traced(p)) dispatch = kTraced;
    goto* body;
  }
// Executes the instruction at I once more, or as the target of a jump: no function is called.
again:
  VM_SWAP_OUT;
  p.ip = I;
  goto* at_probe(p, x, false, dispatch, kTraced);
// The instruction at I has had its collection on a dirty scheduler; the parts in front of that are
// not repeated.
collected:
  VM_SWAP_OUT;
  p.ip = I;
  {
    const void* const body = at_probe(p, x, false, dispatch, kTraced);
#include "vm/code/instruction_collected.inc"
    goto* body;
  }

// Returns to the address on top of the stack, with x0, after the calls of watched functions end.
ends_calls:
  VM_SWAP_OUT;
  p.ip = reinterpret_cast<const Word*>(E->raw());
  {
    const bool all_ended = end_calls(p, x[0]);
    VM_SWAP_IN;
    if (!all_ended) VM_YIELD_HERE(1);  // so many that other processes come first
  }
  I = reinterpret_cast<const Word*>(E->raw());
  E++;
  if (p.heap.fragments) [[unlikely]]
    VM_AFTER_BIF(1);
  if (stack_is_deep(p) && --reds <= 0) VM_YIELD_HERE(1);
  VM_DISPATCH;

left_machine_code:
  switch (left_by) {
    case How::kGuessed:
      code_upcalls.guessed_wrong(I, x, E);
      if (VM_OPERATION == op::machine_code) goto* dispatch[operation_as_it_was(hot_code(I))];
      VM_DISPATCH;
    case How::kCollectSoon: VM_COLLECT_SOON; VM_DISPATCH;
    case How::kWait: goto wait;
    case How::kExiting: goto exiting;
    case How::kYield: goto yield_at_entry;
    case How::kCounted: VM_YIELD_HERE(1);
    case How::kCollect: VM_AFTER_BIF(1); VM_DISPATCH;
    case How::kFailed: {
      const InstructionRow& row = op::kInstructions[operation_at(I)];
      bif_export = row.built_in ? VM_EXPORT(VM_W(row.built_in)) : send_export;
      bif_next = I + row.words;
      goto bif_failed;
    }
    default:  // kNoCode
      bad_fun = Term::from_raw(reinterpret_cast<Word>(I));
      bad_arity = fun_of(bad_fun)->arity;
      bad_next = nullptr;
      bad_slots = 0;
      I = nullptr;
      goto bad_fun_call;
  }

  // ---- Giving up the core ----

yield_at_entry:
  live_count = header_of_entry(I)->arity;
  p.goes_on = Process::GoesOn::kFunction;
yield_here:
  if (set_aside) {
    reds += set_aside;
    set_aside = 0;
    if (!long_collection(p)) {
      VM_COLLECT(0, live_count);
      if (reds > 0) {
        if (std::exchange(p.goes_on, Process::GoesOn::kInstruction) == Process::GoesOn::kInstruction)
          goto again;
        VM_DISPATCH;
      }
    }
  } else if (p.heap.gc_desired() && !long_collection(p)) {
    VM_COLLECT(0, live_count);
  }
  VM_SWAP_OUT;
  note_deep_stack(p);
  code_upcalls.look_for_heat(p, I);
  save_registers(p, x, live_count);
  p.ip = I;
  return RunResult::kYielded;

no_room:
  if (p.goes_on != Process::GoesOn::kCollected) goto exit_now;
  p.reductions += set_aside;
  return RunResult::kDirty;
leave_for_dirty:  // and executes this instruction again when that is done
  reds += set_aside;
  VM_SWAP_OUT;
  save_registers(p, x, live_count);
  p.ip = I;
  return RunResult::kDirty;

wait:
  reds += set_aside;
  VM_SWAP_OUT;
  p.ip = I;
  p.live_saved = 0;
  return RunResult::kWaiting;

wait_with_timeout:
  reds += set_aside;
  VM_SWAP_OUT;
  p.ip = I;
  save_registers(p, x, 1);
  return RunResult::kWaiting;

  // ---- Built-ins that did not return a value ----

bif_failed:
  switch (p.bif_action) {
    case BifAction::kRaise: goto raise_with_arguments;
    case BifAction::kTrap:
      if (bif_next) *--E = VM_RETURN_ADDRESS(bif_next);
      if (p.observed & (kCallsUnderWay | kAwaitsReturns)) [[unlikely]] {
        VM_SWAP_OUT;
        built_in_goes_on(p, *bif_export);
        VM_SWAP_IN;
      }
      if (dispatch == kTraced) {
        VM_TRACE_GLOBAL(static_cast<const Export*>(p.trap_target), 0);
      }
      I = static_cast<const Export*>(p.trap_target)->address.load(std::memory_order_acquire);
      VM_ENTER;
    case BifAction::kYield:
    case BifAction::kSuspendOnFiber:
    case BifAction::kSuspend:
    case BifAction::kSuspendBusy:
      if (p.bif_action == BifAction::kSuspendBusy) extra_of(p).suspended_in = bif_export;
      reds += set_aside;
      VM_SWAP_OUT;
      save_registers(p, x, bif_export->arity);
      p.ip = I;
      return p.bif_action >= BifAction::kSuspend ? RunResult::kSuspended : RunResult::kYielded;
    case BifAction::kDirty:
      give_job(p, bif_export->bif, x, bif_export->arity);
      live_count = bif_export->arity;
      goto leave_for_dirty;
    case BifAction::kExitNow: goto exit_now;
    case BifAction::kHibernate: {
      const auto* target = static_cast<const Export*>(p.trap_target);
      reds += set_aside;
      if (!target) {  // it keeps its stack, and calls the function again
        VM_SWAP_OUT;
        const int cost = collect_for_hibernate(p, x, 0);
        if (cost < 0) goto exit_now;
        p.reductions -= cost;
        save_registers(p, x, 0);
        p.ip = I;
        return RunResult::kWaiting;
      }
      if (calls_are_under_way(p)) drop_calls(p);
      E = p.heap.end - 1;
      *E = VM_RETURN_ADDRESS(end_of_process);
      VM_SWAP_OUT;
      const int cost = collect_for_hibernate(p, x, target->arity);
      if (cost < 0) goto exit_now;
      p.reductions -= cost;
      save_registers(p, x, target->arity);
      // It runs the version that there is when it wakes: the stub finds it. (The stub's code is not
      // an address that would keep this version.)
      p.ip = target->stub_code();
      return RunResult::kWaiting;
    }
  }
  __builtin_unreachable();

guard_bif_badarg:
  VM_SWAP_OUT;
  raise_badarg(p);
guard_bif_failed:
  if (p.bif_action == BifAction::kYield ||
      p.bif_action == BifAction::kSuspendOnFiber) {  // no yield in a guard: go on at once
    reds = 1000;
    goto again;
  }
  if (p.bif_action == BifAction::kExitNow) goto exit_now;
  if (p.exception_trace.is_nil()) p.exception_trace = bif_trace_head(p, *bif_export, guard_arguments);
  goto raise;

// An operator has no result. This stands here, not where it is used, since it is used in very many
// places.
no_result:
  live_count = slow.live_registers;
  if (live_count & kOperandsSwapped) {
    live_count &= ~kOperandsSwapped;
    std::swap(guard_arguments[0], guard_arguments[1]);
  }
  if (p.bif_action == BifAction::kDirty) goto leave_for_dirty;
  if (slow.fail_distance) VM_JUMP(slow.fail_distance);
  VM_SWAP_OUT;
  if (p.bif_action == BifAction::kExitNow) goto exit_now;
  raise_error(p, arith_failure(slow.op, guard_arguments[0], guard_arguments[1]));
  p.exception_trace = bif_trace_head(p, *operator_export(slow.op), guard_arguments);
  goto raise;

// apply with a number of arguments, which is bad_arity, failed.
bad_apply:
  VM_SWAP_OUT;
  gather_arguments(p, x, bad_arity);
  VM_SWAP_IN;
  bif_export = apply3_export;
bad_bif_argument:
  VM_SWAP_OUT;
  raise_badarg(p);
  p.exception_trace = bif_trace_head(p, *bif_export, x);
  goto raise;
raise_with_arguments:
  if (p.exception_trace.is_nil()) p.exception_trace = bif_trace_head(p, *bif_export, x);
  if (bif_next) capture_in_bif(p, I);
  else I = nullptr;
  goto raise;

  // ---- Calls that cannot be made ----

bad_fun_call:                                                     // bad_fun, bad_arity, bad_next, bad_slots
  if (bad_fun.is_fun() && fun_of(bad_fun)->arity == bad_arity) {  // the fun's code was missing
    const FunEntry& entry = *fun_of(bad_fun)->entry;
    handled_module = entry.module;
    handler = pending_purge(p, entry.module);
    if (handler) reds = 0;  // it waits there
    else handler = current_module(entry.module) ? nullptr : error_handler(p, of_funs);
    // The second look is needed: a module's funs are connected before it is current.
    const Word* const target = entry.address.load(std::memory_order_acquire);
    if (target || handler) {
      E += bad_slots;
      if (bad_next) *--E = VM_RETURN_ADDRESS(bad_next);
      x[bad_arity] = bad_fun;  // where its free variables are, or itself was
      handled_arity = bad_arity;
      if (!target) goto handler_call;
      spread_environment(*fun_of(bad_fun), x);
      I = target;
      VM_ENTER;
    }
    VM_SWAP_OUT;
    if (!current_module(entry.module)) raise_error(p, atoms::undef);
    else {
      Term* hp = p.heap.alloc(3);
      raise_error(p, make_tuple(hp, atoms::badfun, bad_fun));
    }
    goto raise;
  }
  VM_SWAP_OUT;
  {
    Term* hp = p.heap.alloc(2 * bad_arity + 6);
    Term reason = settled(p.heap, bad_fun);
    if (bad_fun.is_fun()) {
      Term list = Term::nil();
      for (unsigned n = bad_arity; n-- > 0;) list = make_cons(hp, x[n], list);
      reason = make_tuple(hp, bad_fun, list);
    }
    raise_error(p, make_tuple(hp, bad_fun.is_fun() ? atoms::badarity : atoms::badfun, reason));
    goto raise;
  }

undefined_function : {  // bif_export
  if (is_for_error_handler(p, bif_export->module)) {
    handler = error_handler(p, of_functions);
    if (handler) goto handler_of_export;
  }
  if (!pending_module(bif_export->module)) {
    // Its on_load function may have ended since the export was read. The exports of a module are
    // connected before the module stops being pending, so the second look is certain.
    if (is_defined(*bif_export)) {
      I = bif_export->stub_code();
      VM_DISPATCH;
    }
    raise_error(p, atoms::undef);
    bif_next = nullptr;
    goto raise_with_arguments;
  }
  handler = after_on_load;  // that comes first
  goto handler_of_export;
}

handler_of_export:  // handler, for bif_export
  handled_module = bif_export->module;
  handled_arity = bif_export->arity;
  x[handled_arity] = bif_export->function;
handler_call : {  // handler(handled_module, what comes behind the arguments, [the arguments])
  const unsigned n = handled_arity;
  VM_COLLECT(2 * n + kStackReserveWords, n + 1);
  Term arguments = Term::nil();
  const Term what = x[n];
  for (unsigned k = n; k-- > 0;) arguments = make_cons(H, x[k], arguments);
  x[0] = handled_module;
  x[1] = what;
  x[2] = arguments;
  I = handler->address.load(std::memory_order_acquire);
  VM_ENTER;
}

raise_tagged : {
  VM_SWAP_OUT;
  const Term value = settled(p.heap, reason_value);
  Term* hp = p.heap.alloc(3);
  raise_error(p, make_tuple(hp, tagged_reason, value));
  goto raise;
}
badarith:
  VM_RAISE(atoms::badarith);
function_clause : {
  const auto* header = reinterpret_cast<const FunctionHeader*>(I);
  VM_SWAP_OUT;
  raise_error(p, atoms::function_clause);
  p.exception_trace = arguments_head(p, x, header->arity);
  goto raise;
}

  // ---- Exceptions; everything is stored back but I ----

raise : {
  if (p.bif_action == BifAction::kExitNow) goto exit_now;
  I = handle_exception(p, I, x);
  VM_SWAP_IN;
  if (I) VM_DISPATCH;
  bool report;
  const Term reason = uncaught_reason(p, &report);
  exit_process(p, reason, report);
  return RunResult::kExited;
}

normal_exit:
  VM_SWAP_OUT;
  exit_process(p, atoms::normal, false);
  return RunResult::kExited;
exiting:
  VM_SWAP_OUT;
  exit_process(p, p.exit_reason, false);
  return RunResult::kExited;
exit_now:
  exit_process(p, p.exception_value, false);
  return RunResult::kExited;
}

#pragma GCC diagnostic pop

}  // namespace vmrun
