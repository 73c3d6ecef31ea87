// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/engine/host.hpp"
#include "probes/engine/program.hpp"

/// What goes into a compilation (compile.hpp) and what comes out of it. Texts are compiled to a
/// Script. That is the engine's Program, and what the consumer of its records needs to know: the
/// actions, their formats, the types of their fields. It is plain data that belongs to the caller
/// of compile.
namespace vmrun::d {

/// A type of C, as print() shows values of it. Types refer to each other by their index in
/// Script::types.
struct CType {
  enum class Kind : std::uint8_t {
    kVoid,
    kInteger,
    kEnum,
    kPointer,
    kArray,
    kStruct,
    kUnion,
    kFunction,
    kString,   // D's string: a text of at most strsize bytes
    kStack,    // of stack(), ustack(): only in keys and records
    kTerm,     // an Erlang term: never stored
    kTypedef,  // another name for `element`
  };
  struct Member {
    std::string name;
    std::uint32_t type = 0;
    std::uint32_t offset = 0;               // bytes
    std::uint8_t bit_offset = 0, bits = 0;  // of a bit-field, in the little-endian integer at offset
  };
  Kind kind = Kind::kVoid;
  std::string name;  // "unsigned int", "struct point", "pid_t"
  std::uint32_t bytes = 0;
  bool is_signed = false;
  bool complete = true;         // false: a struct that is only named
  std::uint32_t element = 0;    // of an array, a pointer, a typedef
  std::uint32_t count = 0;      // of an array
  std::uint32_t alignment = 0;  // of a struct or union
  std::vector<Member> members;
  std::vector<std::pair<std::string, std::int64_t>> enumerators;
};

/// A field of a record, an element of a key.
struct Field {
  enum class Kind : std::uint8_t {
    kInteger,  // one word, extended to 64 bits already
    kText,     // encoded: kText, kNull, or anything the consumer makes a text of
    kBytes,    // encoded: kBytes
    kStack,    // encoded: kStack
  };
  Kind kind = Kind::kInteger;
  std::uint8_t bytes = 8;  // width of an integer's type: 1, 2, 4, 8
  bool is_signed = true;   // the type's sign
  std::uint32_t type = 0;  // in Script::types
  std::uint32_t most = 0;  // most bytes of a text or of bytes; frames of a stack (0: as the option says)
};

enum class ActionKind : std::uint8_t {
  kPrintf,       // format; fields in its order, `*` widths included
  kPrinta,       // format (may be empty), aggregations; no fields
  kTrace,        // one field
  kSymbol,       // one field, from ufunc() and similar
  kPrint,        // one field; its type says how it is shown
  kTracemem,     // bytes; then perhaps an integer: how many of them count
  kStack,        // stack(): refused where there is no kernel; kept for completeness
  kUstack,       // one field, a stack
  kJstack,       // one field, a stack
  kSystem,       // as printf; the text is a command of the shell
  kFreopen,      // as printf; the text is a file name
  kFtruncate,    // no fields
  kClear,        // aggregations[0]
  kTrunc,        // aggregations[0]; a field: how many stay (may be negative); without: all go
  kNormalize,    // aggregations[0]; a field
  kDenormalize,  // aggregations[0]
  kSetopt,       // one or two texts: name, value
  kExit,         // a field: the status
};

struct ActionInfo {
  ActionKind kind = ActionKind::kTrace;
  std::uint16_t clause = 0;
  std::uint32_t line = 0;
  std::string format;
  std::vector<Field> fields;
  std::vector<std::uint32_t> aggregations;  // numbers in Program::aggregations
};

/// Stands beside Program::aggregations, by number.
struct AggregationInfo {
  std::vector<Field> keys;
};

/// Stands beside Program::clauses, by number.
struct ClauseInfo {
  std::string description;  // the probe descriptions as they are written
  std::uint32_t file = 0;   // in Script::files
  std::uint32_t line = 0;
  /// A place in the texts that were compiled.
  struct At {
    std::uint32_t source = 0, offset = 0;  // the number of the text, bytes
  };
  struct Matched {
    std::string description;
    std::size_t probes = 0;
    std::string why_none = {};  // empty: no reason is known
    std::string meant = {};     // a description that matches; empty: none is similar
    At at = {};
  };
  std::vector<Matched> matched = {};  // one for each description
};

struct Script {
  Program program;
  std::vector<ActionInfo> actions;            // beside Program::actions, by number
  std::vector<AggregationInfo> aggregations;  // beside Program::aggregations
  std::vector<ClauseInfo> clauses;            // beside Program::clauses
  std::vector<CType> types;                   // 0 is void
  std::vector<std::string> files;
  /// Every #pragma D option in its order: name, and value or "". Those of the engine are in
  /// program.options too; quiet and similar ones belong to the consumer.
  std::vector<std::pair<std::string, std::string>> options;
  std::size_t matched = 0;  // probes that descriptions matched, all clauses added up
};

/// What is wrong, and where; the tag is the one that dtrace publishes (D_SYNTAX).
struct CompileError {
  std::string tag, file, text;
  std::uint32_t line = 0;  // 0: the error belongs to no line
  // The rest shows the place. Column and length count characters; the column begins with 1.
  std::uint32_t column = 0, length = 0;
  std::string source_line = {};
};

/// One text to compile. All texts of a command are one script: they share variables and
/// aggregations.
struct Source {
  enum class Kind : std::uint8_t {
    kFile,      // -s: each clause has a predicate or a body
    kName,      // -n: `description`, `description /predicate/ { body }`
    kProvider,  // -P
    kModule,    // -m
    kFunction,  // -f
    kId,        // -i
  };
  Kind kind = Kind::kFile;
  std::string file;  // as errors name it; markers `# 12 "file"` in the text change it
  std::string text;
  std::string given = {};  // the word of the command line; empty: the same as `file`

  const std::string& word() const { return given.empty() ? file : given; }
};

/// A function of the target.
struct NamedFunction {
  std::string module, function;
  unsigned arity = 0;
};

struct CompileOptions {
  const std::vector<ProbeInfo>* probes = nullptr;  // the target's; null: there is no target
  // Returns how many functions of the target a description names. It is unset when the target has
  // no functions.
  std::function<std::size_t(const FunctionPattern&)> count_functions;
  // Returns their names, for messages; at most so many that a user waits for them.
  std::function<std::vector<NamedFunction>(const FunctionPattern&)> list_functions = {};
  bool zero_matches = false;           // -Z
  bool empty = false;                  // -xempty: a text without clauses is fine
  bool default_arguments = false;      // $1 that is not given is 0, $$1 "" (-xdefaultargs)
  bool typed_terms = true;             // whether there is targs
  std::vector<std::string> arguments;  // from $0 on
  // $target, $pid, $uid ...: name without $, value
  std::vector<std::pair<std::string, std::int64_t>> macros;
  // Options from -x name=value and from -b, -w and so on. They come before the pragmas of the
  // texts. Options that the language does not know are passed through to Script::options.
  std::vector<std::pair<std::string, std::string>> options;
};

}  // namespace vmrun::d
