// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vm/base/loc.hpp"
#include "vm/base/node_arena.hpp"
#include "vm/ir/fail.hpp"
#include "vm/ir/segment.hpp"
#include "vm/ir/types.hpp"

/// SSA: per function a graph of basic blocks over single-assignment values. A block's parameters
/// are what other compilers call phi functions. Pattern matching has become tests and switches, and
/// closures have been lifted to functions of their own. The graph is acyclic except for receive
/// loops. Made by a front end (runtime/compile/lower), improved by the passes of passes.hpp, turned
/// into instructions by a back end (runtime/compile/emit). One compilation, one thread.
namespace vmrun::ir {

using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// An operand: a value of the function, or a constant.
struct Arg {
  std::uint32_t value = kNone;
  Term literal;
  static Arg of(ValueId v) { return {v, {}}; }
  static Arg lit(Term t) { return {kNone, t}; }
  bool is_value() const { return value != kNone; }
  bool is_literal() const { return value == kNone; }
  bool operator==(const Arg&) const = default;
};

enum class Op : std::uint8_t {
  // Pure, cannot fail.
  kMove,
  kGetHd,
  kGetTl,
  kGetElement,
  kPutList,
  kPutTuple,
  kMakeFun,
  kBsGetPosition,
  // Body operations that may raise, or have effects.
  kBif,
  kPutMapAssoc,
  kPutMapExact,
  kPutRecord,       // args: name, former record or [], field, value…
  kGetRecordField,  // args: record, name, field
  kBsCreate,
  kBsSetPosition,
  kBsGetTail,
  // Clobber every x register.
  kCall,
  kCallExt,
  kCallFun,
  kApply,
  kSend,
  kBsInitWritable,
  kBuildStacktrace,
  kRawRaise,
  kCatchEnd,
  kTryCase,
  // Float registers: load (imm 1: surely a float), operate (imm: + - * /), make a term.
  kFloatLoad,
  kFloatOp,
  kFloatBox,
  // Others.
  kTryEnd,
  kRemoveMessage,
  kTimeout,
  kMarkerReserve,
  kMarkerBind,
  kMarkerUse,
  kMarkerClear,
  // Only as the fallible operation that ends a block (see Block::end == kFallible).
  kTest,
  kGetMap,
  kGetRecord,  // args: record, fields
  kBsStart,
  kBsGet,
  kBsSkip,
  kBsMatchString,
  kBsTestTail,
  kBsTestUnit,
};

enum class Test : std::uint8_t {
  kLt,
  kGe,
  kEq,
  kNe,
  kEqExact,
  kNeExact,
  kInteger,
  kFloat,
  kNumber,
  kAtom,
  kPid,
  kReference,
  kPort,
  kNil,
  kBinary,
  kBitstr,
  kList,
  kNonemptyList,
  kTuple,
  kArity,
  kTagged,
  kBoolean,
  kFunction,
  kFunction2,
  kMap,
  kMapFields,
  kRecord,
  kRecordNamed,  // module, name
  kRecordOpen,   // external or auto_local
};

struct BifInfo;  // bif_info.hpp

struct Instr {
  Op op;
  Test test{};
  SegSpec spec{};         // kBsGet, kBsSkip
  std::uint64_t imm = 0;  // element index (from 0), arity, callee's function index, unit, number of bits
  Loc loc{};
  std::span<ValueId> dsts{};
  std::span<Arg> args{};
  const BifInfo* bif = nullptr;
  // kBsCreate: args are value, size pairs; a size of "all" is the atom all
  std::span<const SegSpec> segments{};
  std::span<const std::uint8_t> bytes{};  // kBsMatchString
  std::span<const Type> types{};          // kBif, kTest: what is known about the arguments, if anything
  ValueId dst() const { return dsts.empty() ? kNone : dsts[0]; }
};

enum class BlockEnd : std::uint8_t {
  kNone,         // block under construction
  kJump,         // to succ with jump_args
  kFallible,     // the last instruction either falls into succ or goes to fail
  kSwitchValue,  // subject, cases (all atoms or all small integers), fail = default
  kSwitchArity,
  kReturn,  // subject
  // error, subject. For function_clause the arguments are jump_args or, if these are empty, the
  // parameters.
  kError,
  kTry,  // tag in `tag`; succ = protected code, fail = handler
  kCatch,
  kLoopRec,      // message in `tag`; succ = matching, fail = wait
  kLoopRecEnd,   // succ = loop head
  kWait,         // succ = loop head
  kWaitTimeout,  // subject = timeout; fail = loop head; succ = time is up
  kUnreachable,
};

struct SwitchCase {
  Term value;  // kSwitchArity: a small
  BlockId to;
};

struct Block {
  std::vector<ValueId> params;
  std::vector<Instr> code;
  BlockEnd end = BlockEnd::kNone;
  Fail error{};
  bool is_handler = false;    // entered by an exception: only y registers survive
  bool is_loop_head = false;  // of a receive
  bool dead = false;
  BlockId succ = kNone;
  BlockId fail = kNone;
  BlockId handler = kNone;  // of the innermost try or catch around the block
  ValueId tag = kNone;
  Arg subject;
  Loc loc{};
  std::vector<Arg> jump_args;
  std::vector<SwitchCase> cases;
  // Filled in by analyses.
  std::vector<BlockId> preds;
  std::vector<ValueId> live_in;
};

struct Function {
  Term name;
  std::uint32_t arity = 0;  // free variables included
  std::uint32_t free_count = 0;
  bool is_exported = false;  // may be called from outside of the module
  bool is_native = false;    // a native library may replace it (-nifs)
  Loc loc;
  std::vector<ValueId> params;
  std::vector<Block> blocks;
  std::uint32_t value_count = 0;
  BlockId entry = 0;
  std::uint64_t accepts_context = 0;  // bit i: parameter i may arrive as a match context

  ValueId new_value() { return value_count++; }
  BlockId new_block(BlockId handler) {
    blocks.emplace_back();
    blocks.back().handler = handler;
    return static_cast<BlockId>(blocks.size() - 1);
  }
};

/// A fun that needs an entry in the FunT chunk.
struct LambdaEntry {
  std::uint32_t function;  // index in Program::functions
  std::uint32_t free_count;
};

/// What is known about the arguments and the result of a function for all its calls.
struct Signature {
  std::vector<Type> params;
  Type result;
  bool operator==(const Signature&) const = default;
};

struct Program {
  NodeArena& arena;
  std::vector<Function> functions;
  std::vector<LambdaEntry> lambdas;
  TypePool types;
  std::vector<Signature> signatures;  // indexed by function; empty: nothing is known
};

/// Calls f(BlockId) for every successor, without handlers.
template <class F>
void for_successors(const Block& b, F&& f) {
  if (b.succ != kNone) f(b.succ);
  for (const SwitchCase& c : b.cases) f(c.to);
  if (b.fail != kNone) f(b.fail);
}

inline bool clobbers_x(Op op) { return op >= Op::kCall && op <= Op::kTryCase; }
/// Whether the operation needs a return address on the stack, unless it is the last one of a
/// function.
inline bool is_call(Op op) { return op >= Op::kCall && op <= Op::kRawRaise; }
/// Whether the instruction may be dropped when its result is not used.
bool is_pure(const Instr& i);

}  // namespace vmrun::ir
