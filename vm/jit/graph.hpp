// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "vm/code/machine_code.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/term.hpp"

/// The form from which machine code is made: blocks of instructions over values that are each
/// assigned once, close to the machine. It is built from a function's loaded instructions
/// (build_graph.hpp). A block's parameters are what other compilers call phi functions. Edges lead
/// forward, but those to the first block of a loop, whose code uses no value from before it beside
/// that block's parameters. Other jumps back leave for the interpreter.
///
/// No value outlives a call, unless that is inlined: what does, lies in y registers, which are
/// always stored where the interpreter has them. So each place where the function is entered (its
/// beginning, and behind calls) starts anew. x registers and floats are values. Wherever an
/// assumption fails, or an instruction is not done here, an exit stores the x registers that are
/// still needed and goes on with the instruction in the interpreter. One thread.
namespace vmrun::jit {

using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
using ExitId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// So many x registers are passed in the processor's registers, the others in memory.
inline constexpr unsigned kRegisterArguments = 6;

/// Which kinds of terms a value may be, and bounds if it is a small integer.
struct Type {
  enum : std::uint16_t {
    kSmall = 1,
    kBig = 2,
    kFloat = 4,
    kAtom = 8,
    kNil = 16,
    kCons = 32,
    kTuple = 64,
    kMap = 128,
    kFun = 256,
    kBits = 512,  // bit strings and match contexts
    kOtherBoxed = 1024,
    kOtherImmediate = 2048,  // local pids and ports
    kAny = 4095,
    kBoxed = kBig | kFloat | kTuple | kMap | kFun | kBits | kOtherBoxed,
    kImmediate = kSmall | kAtom | kNil | kOtherImmediate,
  };
  static constexpr SWord kLeast = Term::kSmallMin, kMost = Term::kSmallMax;

  std::uint16_t kinds = kAny;
  SWord low = kLeast, high = kMost;      // if it is small
  static constexpr Word kAnyHeader = 1;  // no header: it has another tag
  Word header = kAnyHeader;              // if it is a tuple: its header word
  bool has_header() const { return header != kAnyHeader; }

  static Type of(std::uint16_t kinds) {
    Type t;
    t.kinds = kinds;
    return t;
  }
  static Type small(SWord low, SWord high) { return {kSmall, low, high, kAnyHeader}; }
  static Type of(Term constant);
  bool is(unsigned wanted) const { return (kinds & ~wanted) == 0; }
  bool may_be(unsigned wanted) const { return (kinds & wanted) != 0; }
  bool operator==(const Type&) const = default;
  Type join(const Type& o) const;
  Type meet(const Type& o) const;
};

enum class Op : std::uint8_t {
  kConst,  // imm: the word
  kParam,  // of a block, or of the function: imm is then the x register
  kLoadX,  // imm: x register in memory
  kLoadY,
  kStoreY,
  kLoad,      // args: term; imm: distance in bytes from its untagged address, less the tag
  kPutList,   // args: head, tail
  kPutTuple,  // args: elements; imm: header (of any boxed term)
  kPutFun,    // args: free variables; imm: FunEntry
  kTupleSize,
  kTag,           // args: a number that is no term; a small integer
  kTupleElement,  // args: tuple, index (a small integer that is in bounds)
  kUpdateTuple,   // args: tuple, elements of the new one (kNone: the tuple's own); imm: its header
  kSetElement,    // args: tuple, value; imm: index
  kStoreX,        // args: a value; imm: x register in memory
  kAddressOfX,    // imm: likewise
  kMapGet,        // args: map, key…; the value, or 0. imm: a Callee that takes them
  kCall,          // args: its arguments; imm: a Callee (callees.hpp). All values are kept
  kCallBif,       // args: its arguments; imm: the function. It may return 0, and leave for the interpreter
  kMoveStack,     // imm: words that the stack shrinks by (as a signed number)
  kPushReturn,    // imm: an instruction, which a call that has been inlined returns to
  kNeed,          // imm: words of heap. Exit: there are fewer
  kPeek,          // the message at the save position, or 0: there is none at hand
  kPassMessage,   // the save position moves behind the message there
  kCount,         // a reduction. Exit: the slice is used up, and nothing has been counted
  kCountCall,     // likewise, but it has been counted
  // Small integers, tagged. With an exit: operands are checked unless their types are known, and
  // results that are no small integers leave.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kAnd,
  kOr,
  kXor,
  kShiftRight,  // by 0 to 63; without a result that is too large
  kShiftLeft,   // by 0 to 59
  kAbsolute,
  // Floats in registers of their own.
  kFloatParam,
  kUnbox,    // args: a float term
  kToFloat,  // args: a small integer
  kFloatConst,
  kFloatAdd,  // these four: exit if the result is not finite
  kFloatSubtract,
  kFloatMultiply,
  kFloatDivide,
  kBox,
  kSelf,
  // Words that are no terms, and the bytes of bit strings (build_matching.cpp).
  kOffset,      // args: word; imm: what is added
  kSum,         // args: two words
  kDifference,  // likewise
  kShift,       // args: word; imm: a Shift
  kJoin,        // args: a, b: a << imm | b
  kBytesAt,     // args: base, bits: the address base + bits / 8
  kBitsAt,      // args: likewise: the 64 bits from there on, the first one topmost. They are there
  kLoadBytes,   // args: address; imm: a Field
  kStoreBytes,  // args: word, address (the top of the heap if it is left out); imm: a Field
  kStoreWord,   // args: term, word; imm: as kLoad
  kHeapTop,     // imm: what is added to it
  kPutBinary,   // args: size in bytes, which have been written. Makes that a heap binary
  kCharge,      // args: word: so many reductions
};

/// Those that are not made if nobody uses their result.
inline bool is_pure_of_bits(Op op) {
  return (op >= Op::kOffset && op <= Op::kLoadBytes) || op == Op::kHeapTop;
}

/// A word shifted to the left, then to the right, with its sign or without; a small integer's tag
/// may replace the last bits.
struct Shift {
  std::uint8_t left, right;
  bool is_signed, tags;
  Word imm() const { return left | right << 8 | is_signed << 16 | tags << 17; }
  static Shift of(Word imm) {
    return {static_cast<std::uint8_t>(imm), static_cast<std::uint8_t>(imm >> 8), (imm & 1 << 16) != 0,
            (imm & 1 << 17) != 0};
  }
};

/// A word in memory, and what it is compared with.
struct Look {
  std::int32_t displacement, with;
  constexpr Word imm() const {
    return Word{static_cast<std::uint32_t>(displacement)} << 32 | static_cast<std::uint32_t>(with);
  }
  static Look of(Word imm) { return {static_cast<std::int32_t>(imm >> 32), static_cast<std::int32_t>(imm)}; }
};

/// 1, 2, 4 or 8 bytes in memory. What is stored is shifted first, to the left, or to the right if
/// that is negative.
struct Field {
  std::int32_t displacement;
  std::uint8_t bytes;
  bool swaps;  // the most significant byte comes first
  std::int8_t shift = 0;
  Word imm() const {
    return static_cast<std::uint32_t>(displacement) | Word{bytes} << 32 | Word{swaps} << 40 |
           Word{static_cast<std::uint8_t>(shift)} << 48;
  }
  static Field of(Word imm) {
    return {static_cast<std::int32_t>(imm), static_cast<std::uint8_t>(imm >> 32), (imm >> 40 & 1) != 0,
            static_cast<std::int8_t>(imm >> 48)};
  }
};

struct Inst {
  Op op;
  ValueId dst = kNone;
  std::uint32_t first_arg = 0, arg_count = 0;
  ExitId exit = kNone;
  const Word* at = nullptr;  // the instruction that it belongs to
  Word imm = 0;
  const Word* next = nullptr;  // kCallBif: where the interpreter goes on behind it
};

/// Tests at the end of blocks. Those of kinds look at one term; the others compare two words.
enum class Condition : std::uint8_t {
  kIsList,  // a cons cell
  kIsBoxed,
  kIsSmall,
  kIsImmediate,
  kIsAtom,
  kTagIs,         // the word, masked by imm's upper half, is its lower half
  kHeaderIs,      // a boxed term whose header word is imm
  kHeaderMasked,  // a boxed term whose header word, masked by imm's upper half, is its lower half
  kSame,          // the words are equal; args: a, b or imm
  kDiffers,       // they are not
  kLess,          // tagged small integers
  kBothSmall,
  kHeaderAtLeast,  // a boxed term whose header word is not less than imm
  kHeaderIn,       // a boxed term, imm has a bit for what its header says it is (Term::Sub)
  kIndexIn,        // args: tuple, small integer; the tuple has such an element
  kFunArity,       // a fun of the module's own code, with imm parameters
  kFunParameters,  // any fun, with imm parameters
  kBelow,          // words, as numbers without a sign
  kFits,           // the block's last instruction has a result that is a small integer
  kFragments,      // the heap has words outside its block
  kAtLeast,        // words with a sign: a >= b or imm
  kBitsClear,      // it has none of them
  kIsBitString,    // a boxed term that is one, or a match context
  kWordIs,         // args: address; imm: a Look
  kWordHas,        // likewise; some of its bits are set
};

enum class BlockEnd : std::uint8_t {
  kJump,        // to, with jump_args
  kBranch,      // condition: to or otherwise
  kSwitch,      // args[0]; cases; otherwise
  kExit,        // exit: the interpreter goes on with an instruction
  kCall,        // to the instruction at target, which begins a function; args: x registers
  kCallAt,      // likewise, to what the word at address imm says (exports, funs)
  kCallFun,     // likewise, to a fun, which is the last argument
  kCallExport,  // likewise, to the function of an export, whose address is the last argument
  kReturn,      // args[0]
  kNone,
};

struct Block {
  std::vector<ValueId> params;
  std::vector<Inst> code;
  BlockEnd end = BlockEnd::kNone;
  Condition condition{};
  BlockId to = kNone, otherwise = kNone;
  std::vector<ValueId> args;  // of the jump, the branch, the call
  Word imm = 0;
  ExitId exit = kNone;
  const Word* at = nullptr;         // the instruction that ends it
  const Word* target = nullptr;     // of a call
  const Word* return_to = nullptr;  // of a call that returns here; nullptr: a tail call
  const Word* entry = nullptr;      // it begins here from outside: x registers are its parameters
  struct Case {
    Word value;
    BlockId to;
  };
  std::vector<Case> cases;
  bool rare = false;                     // placed behind all others
  const Word* inlined_return = nullptr;  // as it begins: see Exit::return_to
};

/// Where the interpreter goes on, and what it needs.
struct Exit {
  const Word* at;
  How how = How::kAsItWas;
  /// A function that would have changed something has asked for it: nobody else may take it.
  bool is_asked_for = false;
  /// In the code of a call that has been inlined: where that returns to, if its return address is
  /// not on the stack yet. The exit puts it there.
  const Word* return_to = nullptr;
  struct Register {
    std::uint16_t x;
    ValueId value;
  };
  std::vector<Register> registers, floats;
};

struct Graph {
  const Word* function = nullptr;  // its first instruction
  const FunEntry* fun = nullptr;   // whose code it is
  std::vector<Block> blocks;
  std::vector<Op> ops;      // by value: what makes it
  std::vector<Word> imms;   // by value: imm of that (constants)
  std::vector<Type> types;  // by value
  std::vector<ValueId> args;
  std::vector<Exit> exits;
  std::unordered_map<ValueId, ValueId> unboxed;  // by kBox: its number
  std::vector<const FunctionHeader*> inlined;    // functions whose calls are replaced by their code

  ValueId value(Op op, Type type, Word imm = 0) {
    ops.push_back(op);
    types.push_back(type);
    imms.push_back(imm);
    return static_cast<ValueId>(ops.size() - 1);
  }
  std::span<const ValueId> args_of(const Inst& i) const { return {args.data() + i.first_arg, i.arg_count}; }
  bool is_const(ValueId v) const { return ops[v] == Op::kConst; }
  bool is_float(ValueId v) const { return ops[v] >= Op::kFloatParam && ops[v] <= Op::kFloatDivide; }
};

}  // namespace vmrun::jit
