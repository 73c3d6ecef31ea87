// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/compile/source/source.hpp"
#include "runtime/compile/syntax/token.hpp"

/// The abstract syntax of a module. Expressions, patterns and guards share the node types, as in
/// Erlang's own abstract format; lint checks what is allowed where. Nodes live in the compilation's
/// NodeArena, are immutable after parsing, and carry the place of the token that messages about
/// them point at.
namespace vmrun::compile {

enum class ExprKind : std::uint8_t {
  kVar,
  kAtom,
  kInteger,
  kFloat,
  kString,
  kNil,
  kCons,
  kTuple,
  kMap,
  kBinary,
  kRecord,
  kRecordField,
  kRecordIndex,
  kUnary,
  kBinaryOp,
  kMatch,
  kMaybeMatch,
  kCall,
  kRemote,
  kFunLocal,
  kFunRemote,
  kFun,
  kBlock,
  kIf,
  kCase,
  kReceive,
  kTry,
  kCatch,
  kMaybe,
  kComprehension,
};

struct Expr {
  ExprKind kind;
  Loc loc;

  template <class T>
  const T& as() const {
    return static_cast<const T&>(*this);
  }
  bool is(ExprKind k) const { return kind == k; }
};

using ExprList = std::span<const Expr* const>;

/// Base for nodes of one kind: sets the tag.
template <ExprKind K>
struct ExprOf : Expr {
  static constexpr ExprKind kKind = K;
  explicit ExprOf(Loc where) : Expr{K, where} {}
};

/// One alternative of a function, fun, case, if, receive, try or else. `guards` is a disjunction of
/// conjunctions.
struct Clause {
  Loc loc;
  std::string_view name;  // function clauses and named funs
  ExprList patterns;      // a catch clause has {class, reason, stack} in the fields below instead
  std::span<const ExprList> guards;
  ExprList body;
};
using ClauseList = std::span<const Clause* const>;

struct VarExpr : ExprOf<ExprKind::kVar> {
  std::string_view name;
  VarExpr(Loc l, std::string_view n) : ExprOf(l), name(n) {}
  bool anonymous() const { return name == "_"; }
};

struct AtomExpr : ExprOf<ExprKind::kAtom> {
  std::string_view name;
  AtomExpr(Loc l, std::string_view n) : ExprOf(l), name(n) {}
};

/// An integer or character. A value of more than 62 bits is given by `digits` (of `base`), others
/// by `value`.
struct IntegerExpr : ExprOf<ExprKind::kInteger> {
  std::int64_t value = 0;
  std::string_view digits;
  std::uint8_t base = 10;
  bool is_char = false;
  explicit IntegerExpr(Loc l) : ExprOf(l) {}
  bool big() const { return !digits.empty(); }
};

struct FloatExpr : ExprOf<ExprKind::kFloat> {
  double value;
  FloatExpr(Loc l, double v) : ExprOf(l), value(v) {}
};

struct StringExpr : ExprOf<ExprKind::kString> {
  std::u32string_view chars;
  StringExpr(Loc l, std::u32string_view c) : ExprOf(l), chars(c) {}
};

struct NilExpr : ExprOf<ExprKind::kNil> {
  explicit NilExpr(Loc l) : ExprOf(l) {}
};

/// `[A, B | Tail]`: all elements of one bracket; `tail` is never null.
struct ConsExpr : ExprOf<ExprKind::kCons> {
  ExprList elements;
  const Expr* tail;
  ConsExpr(Loc l, ExprList e, const Expr* t) : ExprOf(l), elements(e), tail(t) {}
};

struct TupleExpr : ExprOf<ExprKind::kTuple> {
  ExprList elements;
  TupleExpr(Loc l, ExprList e) : ExprOf(l), elements(e) {}
};

struct MapField {
  Loc loc;
  bool exact;  // `:=`
  const Expr* key;
  const Expr* value;
};
struct MapExpr : ExprOf<ExprKind::kMap> {
  const Expr* base = nullptr;  // null for a new map
  std::span<const MapField> fields;
  MapExpr(Loc l, const Expr* b, std::span<const MapField> f) : ExprOf(l), base(b), fields(f) {}
};

enum class SegmentType : std::uint8_t { kDefault, kInteger, kFloat, kBinary, kBits, kUtf8, kUtf16, kUtf32 };

struct Segment {
  Loc loc;
  const Expr* value;
  const Expr* size = nullptr;  // null: the default of the type
  SegmentType type = SegmentType::kDefault;
  std::int8_t sign = -1;    // 0 unsigned, 1 signed
  std::int8_t endian = -1;  // 0 big, 1 little, 2 native
  int unit = 0;             // 0: the default of the type
  bool bits_named = false;  // `bits`/`bitstring` rather than `binary`/`bytes`

  /// `"abc":8` is bytes whatever its type is.
  bool is_text() const {
    return value->is(ExprKind::kString) && unit <= 1 && size && size->is(ExprKind::kInteger) &&
           !size->as<IntegerExpr>().big() && size->as<IntegerExpr>().value == 8;
  }
};
struct BinaryExpr : ExprOf<ExprKind::kBinary> {
  std::span<const Segment> segments;
  BinaryExpr(Loc l, std::span<const Segment> s) : ExprOf(l), segments(s) {}
};

struct RecordFieldInit {
  Loc loc;
  std::string_view name;  // "_" for all others
  const Expr* value;
};
/// How a record is named: `#name`, `#module:name` or `#_`.
struct RecordName {
  enum Kind : std::uint8_t { kPlain, kRemote, kAny } kind;
  std::string_view module;  // kRemote
  std::string_view name;    // not of kAny
};
/// `#name{…}` or `Base#name{…}`.
struct RecordExpr : ExprOf<ExprKind::kRecord> {
  const Expr* base = nullptr;
  RecordName id;
  std::string_view name;
  std::span<const RecordFieldInit> fields;
  RecordExpr(Loc l, const Expr* b, RecordName i, std::span<const RecordFieldInit> f)
      : ExprOf(l), base(b), id(i), name(i.name), fields(f) {}
};
/// `Base#name.field`.
struct RecordFieldExpr : ExprOf<ExprKind::kRecordField> {
  const Expr* base;
  RecordName id;
  std::string_view name;
  std::string_view field;
  Loc field_loc;
  RecordFieldExpr(Loc l, const Expr* b, RecordName i, std::string_view f, Loc fl)
      : ExprOf(l), base(b), id(i), name(i.name), field(f), field_loc(fl) {}
};
/// `#name.field`.
struct RecordIndexExpr : ExprOf<ExprKind::kRecordIndex> {
  std::string_view name;
  std::string_view field;
  Loc field_loc;
  RecordIndexExpr(Loc l, std::string_view n, std::string_view f, Loc fl)
      : ExprOf(l), name(n), field(f), field_loc(fl) {}
};

struct UnaryExpr : ExprOf<ExprKind::kUnary> {
  Tok op;
  const Expr* operand;
  UnaryExpr(Loc l, Tok o, const Expr* e) : ExprOf(l), op(o), operand(e) {}
};
/// All binary operators, `andalso`, `orelse` and `!` included.
struct BinaryOpExpr : ExprOf<ExprKind::kBinaryOp> {
  Tok op;
  const Expr* left;
  const Expr* right;
  BinaryOpExpr(Loc l, Tok o, const Expr* a, const Expr* b) : ExprOf(l), op(o), left(a), right(b) {}
};
/// `Pattern = Expr`; inside a pattern an alias.
struct MatchExpr : ExprOf<ExprKind::kMatch> {
  const Expr* left;
  const Expr* right;
  MatchExpr(Loc l, const Expr* a, const Expr* b) : ExprOf(l), left(a), right(b) {}
};
/// `Pattern ?= Expr` directly within `maybe`.
struct MaybeMatchExpr : ExprOf<ExprKind::kMaybeMatch> {
  const Expr* left;
  const Expr* right;
  MaybeMatchExpr(Loc l, const Expr* a, const Expr* b) : ExprOf(l), left(a), right(b) {}
};

struct CallExpr : ExprOf<ExprKind::kCall> {
  const Expr* target;  // an atom, a RemoteExpr, or any expression that gives a fun
  ExprList args;
  CallExpr(Loc l, const Expr* t, ExprList a) : ExprOf(l), target(t), args(a) {}
};
struct RemoteExpr : ExprOf<ExprKind::kRemote> {
  const Expr* module;
  const Expr* function;
  RemoteExpr(Loc l, const Expr* m, const Expr* f) : ExprOf(l), module(m), function(f) {}
};

struct FunLocalExpr : ExprOf<ExprKind::kFunLocal> {
  std::string_view name;
  std::uint32_t arity;
  FunLocalExpr(Loc l, std::string_view n, std::uint32_t a) : ExprOf(l), name(n), arity(a) {}
};
struct FunRemoteExpr : ExprOf<ExprKind::kFunRemote> {
  const Expr* module;
  const Expr* function;
  const Expr* arity;
  FunRemoteExpr(Loc l, const Expr* m, const Expr* f, const Expr* a)
      : ExprOf(l), module(m), function(f), arity(a) {}
};
struct FunExpr : ExprOf<ExprKind::kFun> {
  std::string_view name;  // empty for an unnamed fun
  ClauseList clauses;
  FunExpr(Loc l, std::string_view n, ClauseList c) : ExprOf(l), name(n), clauses(c) {}
};

struct BlockExpr : ExprOf<ExprKind::kBlock> {
  ExprList body;
  BlockExpr(Loc l, ExprList b) : ExprOf(l), body(b) {}
};
struct IfExpr : ExprOf<ExprKind::kIf> {
  ClauseList clauses;
  IfExpr(Loc l, ClauseList c) : ExprOf(l), clauses(c) {}
};
struct CaseExpr : ExprOf<ExprKind::kCase> {
  const Expr* subject;
  ClauseList clauses;
  CaseExpr(Loc l, const Expr* s, ClauseList c) : ExprOf(l), subject(s), clauses(c) {}
};
struct ReceiveExpr : ExprOf<ExprKind::kReceive> {
  ClauseList clauses;
  const Expr* timeout = nullptr;
  ExprList timeout_body;
  ReceiveExpr(Loc l, ClauseList c, const Expr* t, ExprList b)
      : ExprOf(l), clauses(c), timeout(t), timeout_body(b) {}
};

/// Catch clauses have three patterns: class, reason and stack trace (the latter a variable, "_"
/// when not written).
struct TryExpr : ExprOf<ExprKind::kTry> {
  ExprList body;
  ClauseList of_clauses;
  ClauseList catch_clauses;
  ExprList after;
  TryExpr(Loc l, ExprList b, ClauseList o, ClauseList c, ExprList a)
      : ExprOf(l), body(b), of_clauses(o), catch_clauses(c), after(a) {}
};
struct CatchExpr : ExprOf<ExprKind::kCatch> {
  const Expr* body;
  CatchExpr(Loc l, const Expr* b) : ExprOf(l), body(b) {}
};
struct MaybeExpr : ExprOf<ExprKind::kMaybe> {
  ExprList body;
  ClauseList else_clauses;
  MaybeExpr(Loc l, ExprList b, ClauseList e) : ExprOf(l), body(b), else_clauses(e) {}
};

enum class QualifierKind : std::uint8_t { kFilter, kList, kBinary, kMap, kZip };
struct Qualifier {
  QualifierKind kind;
  Loc loc;
  const Expr* pattern;                     // null for a filter and a zip; the key pattern of a map generator
  const Expr* value_pattern;               // map generators only
  const Expr* source;                      // the generator's subject, or the filter
  bool strict = false;                     // `<:-` and `<:=`: an element that does not match is an error
  std::span<const Qualifier> zipped = {};  // kZip: the generators between `&&`
  bool matches = false;                    // written as a match

  bool generates() const { return kind != QualifierKind::kFilter; }
  /// The generators of a zip, or the filter or generator itself.
  std::span<const Qualifier> parts() const {
    return kind == QualifierKind::kZip ? zipped : std::span<const Qualifier>(this, 1);
  }
};
enum class ComprehensionKind : std::uint8_t { kList, kBinary, kMap };
/// What a comprehension makes in each round.
struct ComprehensionValue {
  const Expr* key;  // map comprehensions only
  const Expr* value;
};
struct ComprehensionExpr : ExprOf<ExprKind::kComprehension> {
  ComprehensionKind what;
  std::span<const ComprehensionValue> values;  // at least one; of a binary comprehension only one
  std::span<const Qualifier> qualifiers;
  ComprehensionExpr(Loc l, ComprehensionKind w, std::span<const ComprehensionValue> v,
                    std::span<const Qualifier> q)
      : ExprOf(l), what(w), values(v), qualifiers(q) {}
};

// --- types ---------------------------------------------------------------------------------------

enum class TypeKind : std::uint8_t {
  kVar,
  kLiteral,
  kRange,
  kCall,
  kRemote,
  kTuple,
  kList,
  kNonemptyList,
  kMap,
  kMapField,
  kBinary,
  kFun,
  kAnyFun,
  kRecord,
  kRecordField,
  kUnion,
  kAnnotated,
  kProduct,
  kConstraint,
};

/// The value of an integer in a type.
struct TypeNumber {
  enum Kind : std::uint8_t { kNone, kKnown, kLarge } kind = kNone;  // kLarge: of more than 127 bits
  __int128 value = 0;
};

/// A type, kept only as far as lint checks it: its names and its parts.
struct TypeExpr {
  TypeKind kind;
  Loc loc;
  std::string_view module;                // kRemote; kRecord: empty unless written
  std::string_view name;                  // kVar, kCall, kRemote, kRecord, kRecordField
  std::span<const TypeExpr* const> args;  // kBinary: the size and the unit, as far as written
  TypeNumber number = {};                 // kLiteral
  bool computed = false;                  // kLiteral: written with an operator
};
using TypeList = std::span<const TypeExpr* const>;

// --- forms ---------------------------------------------------------------------------------------

enum class FormKind : std::uint8_t { kFunction, kAttribute, kRecord, kType, kSpec, kEof };

struct Form {
  FormKind kind;
  Loc loc;
  template <class T>
  const T& as() const {
    return static_cast<const T&>(*this);
  }
};

struct FunctionForm : Form {
  std::string_view name;
  std::uint32_t arity;
  ClauseList clauses;
};

/// `-name(Values…).`
struct AttributeForm : Form {
  std::string_view name;
  ExprList values;
};

struct RecordFieldDef {
  Loc loc;
  std::string_view name;
  const Expr* initial;  // null: undefined; of native records: none
  const TypeExpr* type;
};
struct RecordForm : Form {
  bool native;  // `-record #name{…}`
  std::string_view name;
  std::span<const RecordFieldDef> fields;
};

/// `-type`, `-opaque`, `-nominal`.
struct TypeForm : Form {
  std::string_view attribute;
  std::string_view name;
  TypeList params;
  const TypeExpr* definition;
};

/// `-spec`, `-callback`.
struct SpecForm : Form {
  std::string_view attribute;
  std::string_view module;  // empty unless written
  std::string_view name;
  std::uint32_t arity;
  TypeList signatures;
};

}  // namespace vmrun::compile
