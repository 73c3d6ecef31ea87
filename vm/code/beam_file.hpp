// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/term/term.hpp"

/// A .beam file, decoded: its chunks are checked and turned into plain tables; the code stays
/// generic operations. Any thread may use it; there is no state. The tables point into the caller's
/// bytes where they can, so those bytes must outlive the BeamFile. Every number is checked against
/// the table it indexes, so the loader need not check it again.
namespace vmrun {

/// What is wrong with a file and where.
struct BeamError {
  std::string message;     // "chunk Code: operand 2 of move: no such register"
  std::size_t offset = 0;  // byte in the file
  std::string text(std::string_view file) const;
};

/// An operand of a generic instruction.
struct Arg {
  enum class Kind : std::uint8_t {
    kNone,
    kX,
    kY,
    kFloatReg,
    kUnsigned,
    kBeyond,  // a number that does not fit a word
    kConst,
    kLiteral,
    kLabel,
    kAlloc,
    kList
  };
  static constexpr std::uint32_t kMostTypes = 1u << 24;
  Kind kind;
  std::uint32_t type : 24;  // kX, kY: the type that the compiler states, index into BeamFile::types; 0: any
  std::uint32_t count;      // kList: operands; kAlloc: funs
  // Register, number, term (kConst: an immediate), index into literals, label; kList: first
  // entry in BeamFile::extra; kAlloc: words | floats << 32.
  Word value;

  Arg(Kind k = Kind::kNone, Word v = 0, std::uint32_t n = 0) : kind(k), type(0), count(n), value(v) {}
  bool is_x() const { return kind == Kind::kX; }
  bool is_y() const { return kind == Kind::kY; }
  bool is_const() const { return kind == Kind::kConst; }
  Term term() const { return Term::from_raw(value); }
  bool operator==(const Arg& o) const { return kind == o.kind && value == o.value && count == o.count; }
};

struct GenericInstruction {
  std::uint8_t opcode;
  std::uint8_t arity;
  std::uint32_t first;   // operands: BeamFile::operands[first…]
  std::uint32_t offset;  // byte in the file, for messages
};

/// What a compiler knows about a value.
struct ValueType {
  std::uint16_t kinds;     // which kinds of terms it may be: bits of value_kind
  std::int64_t low, high;  // if it is an integer; low > high: not known
  bool is(std::uint16_t wanted) const { return (kinds & ~wanted) == 0; }
  /// Whether every possible value is a small integer.
  bool is_small() const;
};

namespace value_kind {
inline constexpr std::uint16_t kAtom = 1, kBitstring = 2, kMatchState = 4, kCons = 8, kFloat = 16, kFun = 32,
                               kInteger = 64, kMap = 128, kNil = 256, kPid = 512, kPort = 1024,
                               kReference = 2048, kTuple = 4096, kAny = 8191;
}  // namespace value_kind

struct BeamFile {
  struct Import {
    Term module, function;
    std::uint32_t arity;
  };
  struct Function {
    Term name;
    std::uint32_t arity, label;
  };  // exports and locals
  struct Lambda {
    Term name;
    std::uint32_t arity, label, index, free_count, old_uniq;
  };
  struct Line {
    std::uint32_t file, line;
  };
  /// What the compiler knows where a line begins (+beam_debug_info). frame: the number of stack
  /// slots, or an atom. variables: a list of name, place, name, place… calls: a list of arity,
  /// module and function; 256 + arity and function; or the name of a variable.
  struct DebugItem {
    Arg frame, variables, calls;
  };
  /// The definition of a native record. Default values: of kind kUnsigned: none.
  struct Record {
    struct Field {
      Term name;
      Arg value;
    };
    Term name, exported;  // exported: true or false
    std::vector<Field> fields;
  };
  struct Bytes {
    const std::uint8_t* data;
    std::size_t size;
  };

  Term module;
  std::vector<Term> atoms;  // 1…
  std::vector<Import> imports;
  std::vector<Function> exports, locals;
  std::vector<Lambda> lambdas;
  std::vector<Record> records;
  std::vector<Line> lines;                                          // 0 is "none"
  std::vector<std::string> line_files;                              // 0 is the module's own name, ".erl"
  bool has_executable_lines = false, forces_line_counters = false;  // options of erlc since OTP 27
  std::deque<std::string> storage;  // bytes made here that `literals` points into
  std::vector<Bytes> literals;      // external terms, version byte included
  Bytes strings{}, attributes{}, compile_info{}, meta{};
  std::uint8_t md5[16] = {};  // of the chunks that make up the code's identity; the uniq of its funs
  std::uint32_t label_count = 0, function_count = 0;
  std::vector<GenericInstruction> code;
  std::vector<Arg> operands;  // of all instructions
  std::vector<Arg> extra;     // members of lists
  std::vector<DebugItem> debug_items;
  /// The Type chunk; the first entry is "any". Types are trusted, as the order of instructions is:
  /// a compiler that writes wrong types can break its own module, as one that leaves tests out can.
  std::vector<ValueType> types{{value_kind::kAny, 0, -1}};

  const ValueType& type(const Arg& a) const { return types[a.type]; }
  const Arg* args(const GenericInstruction& i) const { return operands.data() + i.first; }
};

/// Fills `out`. Returns false and fills `error` when the bytes are not a valid .beam file. See
/// inflate_beam for compressed files.
[[nodiscard]] bool parse_beam(const std::uint8_t* bytes, std::size_t size, BeamFile* out, BeamError* error);

using ChunkName = std::array<std::uint8_t, 4>;

/// Returns the bytes of the first chunk with this name. The result is empty when the chunk is empty
/// or missing, when the file is malformed before it, or when this is not a .beam file.
std::span<const std::uint8_t> find_chunk(const std::uint8_t* bytes, std::size_t size, const ChunkName& name);

/// Inflates the bytes if they are a gzip stream (compressed modules). Otherwise returns false.
[[nodiscard]] bool inflate_beam(const std::uint8_t* bytes, std::size_t size, std::vector<std::uint8_t>* out);

}  // namespace vmrun
