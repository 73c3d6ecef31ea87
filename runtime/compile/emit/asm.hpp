// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vm/term/term.hpp"

/// Generic BEAM instructions as data: code generation makes them, the peephole pass improves them,
/// the writer encodes them and the printer shows them. The order of operands is that of the
/// published opcode table. One compilation, one thread.
namespace vmrun::compile {

/// Numbers of the generic instructions that are emitted (OTP 25's table; a number never changes its
/// meaning).
enum class Bop : std::uint8_t {
  kLabel = 1,
  kFuncInfo = 2,
  kIntCodeEnd = 3,
  kCall = 4,
  kCallLast = 5,
  kCallOnly = 6,
  kCallExt = 7,
  kCallExtLast = 8,
  kBif0 = 9,
  kBif1 = 10,
  kBif2 = 11,
  kAllocate = 12,
  kAllocateHeap = 13,
  kTestHeap = 16,
  kDeallocate = 18,
  kReturn = 19,
  kSend = 20,
  kRemoveMessage = 21,
  kTimeout = 22,
  kLoopRec = 23,
  kLoopRecEnd = 24,
  kWait = 25,
  kWaitTimeout = 26,
  kIsLt = 39,
  kIsGe = 40,
  kIsEq = 41,
  kIsNe = 42,
  kIsEqExact = 43,
  kIsNeExact = 44,
  kIsInteger = 45,
  kIsFloat = 46,
  kIsNumber = 47,
  kIsAtom = 48,
  kIsPid = 49,
  kIsReference = 50,
  kIsPort = 51,
  kIsNil = 52,
  kIsBinary = 53,
  kIsList = 55,
  kIsNonemptyList = 56,
  kIsTuple = 57,
  kTestArity = 58,
  kSelectVal = 59,
  kSelectTupleArity = 60,
  kJump = 61,
  kCatch = 62,
  kCatchEnd = 63,
  kMove = 64,
  kGetList = 65,
  kGetTupleElement = 66,
  kPutList = 69,
  kBadmatch = 72,
  kIfEnd = 73,
  kCaseEnd = 74,
  kCallFun = 75,
  kIsFunction = 77,
  kCallExtOnly = 78,
  kFmove = 96,
  kFconv = 97,
  kFadd = 98,
  kFsub = 99,
  kFmul = 100,
  kFdiv = 101,
  kFnegate = 102,
  kTry = 104,
  kTryEnd = 105,
  kTryCase = 106,
  kTryCaseEnd = 107,
  kRaise = 108,
  kApply = 112,
  kApplyLast = 113,
  kIsBoolean = 114,
  kIsFunction2 = 115,
  kBsGetInteger2 = 117,
  kBsGetFloat2 = 118,
  kBsGetBinary2 = 119,
  kBsSkipBits2 = 120,
  kBsTestTail2 = 121,
  kGcBif1 = 124,
  kGcBif2 = 125,
  kIsBitstr = 129,
  kBsTestUnit = 131,
  kBsMatchString = 132,
  kBsInitWritable = 133,
  kTrim = 136,
  kBsGetUtf8 = 138,
  kBsSkipUtf8 = 139,
  kBsGetUtf16 = 140,
  kBsSkipUtf16 = 141,
  kBsGetUtf32 = 142,
  kBsSkipUtf32 = 143,
  kOnLoad = 149,
  kGcBif3 = 152,
  kLine = 153,
  kPutMapAssoc = 154,
  kPutMapExact = 155,
  kIsMap = 156,
  kHasMapFields = 157,
  kGetMapElements = 158,
  kIsTaggedTuple = 159,
  kBuildStacktrace = 160,
  kRawRaise = 161,
  kGetHd = 162,
  kGetTl = 163,
  kPutTuple2 = 164,
  kBsGetTail = 165,
  kBsGetPosition = 167,
  kBsSetPosition = 168,
  kSwap = 169,
  kBsStartMatch4 = 170,
  kMakeFun3 = 171,
  kInitYregs = 172,
  kRecvMarkerBind = 173,
  kRecvMarkerClear = 174,
  kRecvMarkerReserve = 175,
  kRecvMarkerUse = 176,
  kBsCreateBin = 177,
  kCallFun2 = 178,
  kNifStart = 179,
  kBadrecord = 180,
  kBsMatch = 182,  // of OTP 26
  // OTP 29's:
  kIsAnyNativeRecord = 186,
  kIsNativeRecord = 187,
  kGetRecordElements = 188,
  kPutRecord = 189,
  kIsRecordAccessible = 190,
  kGetRecordField = 191,
};

struct Operand {
  enum Kind : std::uint8_t {
    kU,     // plain number
    kTerm,  // a constant of the program: atom, integer, nil or literal
    kX,
    kY,
    kFr,
    kLabel,   // 0: none
    kList,    // `n` operands follow
    kAlloc,   // heap need: n words, `floats`, `funs`
    kExt,     // an imported function: n = index in Code::imports
    kString,  // n bits starting at byte `at` of Code::strings
    kFun,     // n = index of the lambda
  } kind = kU;
  std::uint32_t n = 0;
  std::uint32_t floats = 0;  // kAlloc; kString: bits
  std::uint32_t funs = 0;
  Term term{};
  std::uint32_t type = 0;  // kX, kY: index in Code::types of what is known about its value; 0: nothing
  static Operand u(std::uint64_t v) { return {kU, static_cast<std::uint32_t>(v), 0, 0, {}, 0}; }
  static Operand x(std::uint32_t r) { return {kX, r, 0, 0, {}, 0}; }
  static Operand y(std::uint32_t r) { return {kY, r, 0, 0, {}, 0}; }
  static Operand fr(std::uint32_t r) { return {kFr, r, 0, 0, {}, 0}; }
  static Operand label(std::uint32_t l) { return {kLabel, l, 0, 0, {}, 0}; }
  static Operand of(Term t) { return {kTerm, 0, 0, 0, t, 0}; }
  static Operand list(std::size_t n) { return {kList, static_cast<std::uint32_t>(n), 0, 0, {}, 0}; }
  static Operand ext(std::uint32_t i) { return {kExt, i, 0, 0, {}, 0}; }
  static Operand fun(std::uint32_t i) { return {kFun, i, 0, 0, {}, 0}; }
  static Operand string(std::uint32_t at, std::uint32_t bits) { return {kString, at, bits, 0, {}, 0}; }
  bool is_reg() const { return kind == kX || kind == kY; }
  bool operator==(const Operand& o) const {
    return kind == o.kind && n == o.n && floats == o.floats && funs == o.funs && term == o.term;
  }
};

struct AsmInstr {
  Bop op;
  std::vector<Operand> args;
};

struct Import {
  Term module, name;
  std::uint32_t arity;
};

/// The code of a module, ready to be written.
struct Code {
  struct Fun {
    Term name;
    std::uint32_t arity;
    std::uint32_t entry;                // label
    std::uint32_t first, last;          // instructions, from the label before func_info
    std::uint64_t accepts_context = 0;  // bit i: argument i may be a match context
  };
  struct Lambda {
    std::uint32_t fun;  // index in funs
    std::uint32_t free_count;
  };
  struct Line {
    std::uint32_t file, line;
  };
  int release;  // of OTP, which the code is for
  std::vector<AsmInstr> code;
  std::vector<Fun> funs;
  std::vector<Lambda> lambdas;
  std::vector<Import> imports;
  std::vector<std::uint8_t> strings;
  /// Types of values for the Type chunk: kinds as bits (ir::kind), and the bounds of an integer if
  /// it has both (else 0 and -1). The first type is any value.
  struct ValueType {
    std::uint16_t kinds;
    std::int64_t low, high;
  };
  std::vector<ValueType> types;
  std::vector<Line> lines;   // operand n of kLine refers to lines[n - 1]; 0: no location
  std::uint32_t labels = 1;  // the next free one
};

}  // namespace vmrun::compile
