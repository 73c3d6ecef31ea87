// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/compile/source/source.hpp"
#include "vm/base/node_arena.hpp"
#include "vm/ir/fail.hpp"
#include "vm/ir/segment.hpp"
#include "vm/term/term.hpp"

/// Core: the language between the syntax tree and code generation, modelled on the published Core
/// Erlang (Carlsson et al., "Core Erlang 1.0.3"). The front end lowers a module to it; the back end
/// (codegen.hpp) takes it from there. Nodes live in the compilation's NodeArena; literals are VM
/// terms whose words live as long as that arena. One compilation, one thread.
///
/// Invariants of the front end:
///  - Every Var object is bound exactly once (by a function's parameters, let, a pattern, a try, a
///    Lambda's self). A scope sees its own and outer variables; a Lambda or letrec function may use
///    variables of the functions around it freely.
///  - Pattern variables are always fresh. A variable that is already bound, or repeated in a
///    pattern, becomes a fresh one plus the guard test `Fresh =:= Old`.
///  - Sub-expressions may be any expressions. They are evaluated left to right, each once. (They
///    need not be named by a let first.)
///  - Every expression gives one value, except kValues and expressions that end in it (case
///    branches, let bodies). Those may stand only where several values are expected: as the `arg`
///    of a let of as many variables.
///  - There are no records, comprehensions or macros any more. andalso/orelse stay (AndAlso,
///    OrElse).
///  - Guards are trees of kAllOf / kAnyOf / kAndAlso / kOrElse over expressions made of literals,
///    variables, tuples, lists, maps, binaries and calls of guard BIFs (`call erlang:F`). A test
///    that raises, or gives something other than true, fails.
///
/// Names like '-f/1-fun-0-' are made by the back end from Lambda::index and LetrecFun::name.
namespace vmrun::compile::core {

/// A variable. Identity is the object; the name is for listings only.
struct Var {
  std::string_view name;
  // The back end's notes.
  std::uint32_t uses = 0;
  std::uint32_t slot = 0;
  struct FunNote* owner = nullptr;
};

enum class Kind : std::uint8_t {
  kLiteral,
  kVar,
  kFunRef,
  kLambda,
  kCons,
  kTuple,
  kMap,
  kRecord,
  kBinary,
  kValues,
  kLet,
  kSeq,
  kCase,
  kLetrec,
  kApplyLocal,
  kApplyLetrec,
  kApply,
  kCall,
  kPrimop,
  kReceive,
  kTry,
  kCatch,
  kAndAlso,
  kOrElse,
  kAllOf,
  kAnyOf,
};

struct Expr {
  Kind kind;
  Loc loc;  // of the construct that can fail or call; unknown if the compiler made it
  template <class T>
  T& as() {
    return static_cast<T&>(*this);
  }
  template <class T>
  const T& as() const {
    return static_cast<const T&>(*this);
  }
};
using ExprList = std::span<Expr* const>;

template <Kind K>
struct ExprOf : Expr {
  static constexpr Kind kKind = K;
  explicit ExprOf(Loc where) : Expr{K, where} {}
};

struct Literal : ExprOf<Kind::kLiteral> {
  Term value;
  Literal(Loc l, Term v) : ExprOf(l), value(v) {}
};

struct VarRef : ExprOf<Kind::kVar> {
  Var* var;
  VarRef(Loc l, Var* v) : ExprOf(l), var(v) {}
};

/// `fun f/1` of this module, as a value.
struct FunRef : ExprOf<Kind::kFunRef> {
  Term name;
  std::uint32_t arity;
  FunRef(Loc l, Term n, std::uint32_t a) : ExprOf(l), name(n), arity(a) {}
};

struct FunNote;  // the back end's record of a function

/// A fun expression: one function without clauses. The clauses are a kCase on the parameters with
/// Fail::kFunctionClause.
struct Lambda : ExprOf<Kind::kLambda> {
  std::span<Var* const> params;
  Expr* body;
  Var* self = nullptr;      // the name of a named fun, as a variable of the body; else null
  std::string_view name;    // that name, for '-f/1-Name/1-M-'; else empty
  std::uint32_t index = 0;  // N of '-f/1-fun-N-'
  FunNote* note = nullptr;
  Lambda(Loc l, std::span<Var* const> p, Expr* b) : ExprOf(l), params(p), body(b) {}
};

struct Cons : ExprOf<Kind::kCons> {
  Expr* head;
  Expr* tail;
  Cons(Loc l, Expr* h, Expr* t) : ExprOf(l), head(h), tail(t) {}
};

struct Tuple : ExprOf<Kind::kTuple> {
  ExprList elements;
  Tuple(Loc l, ExprList e) : ExprOf(l), elements(e) {}
};

/// `Base#{K1 => V1, K2 := V2}`; a new map has a literal #{} as base (or null).
struct MapPair {
  bool exact;  // :=
  Expr* key;
  Expr* value;
};
struct Map : ExprOf<Kind::kMap> {
  Expr* base;
  std::span<const MapPair> pairs;
  Map(Loc l, Expr* b, std::span<const MapPair> p) : ExprOf(l), base(b), pairs(p) {}
};

/// A native record, new or with other values. id: its name if it is of this module, {Module, Name},
/// or _ . Access of a field is a call of erlang:get_record_field(Record, id, Field).
struct RecordPair {
  Term field;
  Expr* value;
};
struct Record : ExprOf<Kind::kRecord> {
  Term id;
  Expr* base;  // null: a new one
  std::span<const RecordPair> pairs;
  Record(Loc l, Term i, Expr* b, std::span<const RecordPair> p) : ExprOf(l), id(i), base(b), pairs(p) {}
};

using ir::SegSpec;
using ir::SegType;

/// A segment in construction. Strings are spelled out, a segment per character.
struct Segment {
  SegSpec spec;
  Expr* value;
  Expr* size;
  Loc loc;
};
struct Binary : ExprOf<Kind::kBinary> {
  std::span<const Segment> segments;
  Binary(Loc l, std::span<const Segment> s) : ExprOf(l), segments(s) {}
};

struct Values : ExprOf<Kind::kValues> {
  ExprList elements;
  Values(Loc l, ExprList e) : ExprOf(l), elements(e) {}
};

struct Let : ExprOf<Kind::kLet> {
  std::span<Var* const> vars;
  Expr* arg;
  Expr* body;
  Let(Loc l, std::span<Var* const> v, Expr* a, Expr* b) : ExprOf(l), vars(v), arg(a), body(b) {}
};

/// Evaluates `first` for its effects, then gives `second`.
struct Seq : ExprOf<Kind::kSeq> {
  Expr* first;
  Expr* second;
  Seq(Loc l, Expr* a, Expr* b) : ExprOf(l), first(a), second(b) {}
};

// --- patterns ------------------------------------------------------------------------------------

enum class PatKind : std::uint8_t { kWild, kVar, kLiteral, kCons, kTuple, kMap, kRecord, kBinary, kAlias };

struct Pat {
  PatKind kind;
  template <class T>
  const T& as() const {
    return static_cast<const T&>(*this);
  }
};
using PatList = std::span<Pat* const>;

struct PWild : Pat {
  PWild() : Pat{PatKind::kWild} {}
};
struct PVar : Pat {
  Var* var;
  explicit PVar(Var* v) : Pat{PatKind::kVar}, var(v) {}
};
/// Any term; compared with =:=. (An empty map literal matches any map: spell that as a PMap without
/// pairs.)
struct PLiteral : Pat {
  Term value;
  explicit PLiteral(Term v) : Pat{PatKind::kLiteral}, value(v) {}
};
struct PCons : Pat {
  Pat* head;
  Pat* tail;
  PCons(Pat* h, Pat* t) : Pat{PatKind::kCons}, head(h), tail(t) {}
};
struct PTuple : Pat {
  PatList elements;
  explicit PTuple(PatList e) : Pat{PatKind::kTuple}, elements(e) {}
};
/// Keys are guard expressions over variables bound outside the pattern (mostly literals). A key
/// that fails does not match.
struct PMapPair {
  Expr* key;
  Pat* value;
};
struct PMap : Pat {
  std::span<const PMapPair> pairs;
  explicit PMap(std::span<const PMapPair> p) : Pat{PatKind::kMap}, pairs(p) {}
};
/// A native record. id: {Module, Name}, or the non-value for any. scope: external or auto_local,
/// with which code sees the fields; the non-value: that is not tested.
struct PRecordPair {
  Term field;
  Pat* value;
};
struct PRecord : Pat {
  Term id, scope;
  std::span<const PRecordPair> pairs;
  PRecord(Term i, Term s, std::span<const PRecordPair> p)
      : Pat{PatKind::kRecord}, id(i), scope(s), pairs(p) {}
};
/// Values are variables, wildcards or literals (integers for kInteger and kUtf*, floats or integers
/// for kFloat). Sizes are guard expressions over outer variables and those of earlier segments.
struct PSegment {
  SegSpec spec;
  Pat* value;
  Expr* size;
};
struct PBinary : Pat {
  std::span<const PSegment> segments;
  explicit PBinary(std::span<const PSegment> s) : Pat{PatKind::kBinary}, segments(s) {}
};
/// Both must match: `var = pattern`, or any two patterns (`left` is any pattern).
struct PAlias : Pat {
  Pat* left;
  Pat* right;
  PAlias(Pat* a, Pat* b) : Pat{PatKind::kAlias}, left(a), right(b) {}
};

struct Clause {
  Loc loc;
  PatList patterns;       // as many as subjects
  Expr* guard = nullptr;  // null: true
  Expr* body;
};
using ClauseList = std::span<Clause* const>;

using ir::Fail;

/// Clauses are tried in order. Also `if` (no subjects) and `P = E`.
struct Case : ExprOf<Kind::kCase> {
  ExprList subjects;
  ClauseList clauses;
  Fail fail;
  Case(Loc l, ExprList s, ClauseList c, Fail f) : ExprOf(l), subjects(s), clauses(c), fail(f) {}
};

/// Local functions that are only applied (kApplyLetrec) and never values: comprehension loops,
/// after-bodies.
struct LetrecFun {
  std::string_view name;  // "lc$^0", "after$^1", …
  std::span<Var* const> params;
  Expr* body = nullptr;
  Loc loc;
  FunNote* note = nullptr;
};
struct Letrec : ExprOf<Kind::kLetrec> {
  std::span<LetrecFun* const> funs;
  Expr* body;
  Letrec(Loc l, std::span<LetrecFun* const> f, Expr* b) : ExprOf(l), funs(f), body(b) {}
};

/// f(Args) of this module.
struct ApplyLocal : ExprOf<Kind::kApplyLocal> {
  Term name;
  ExprList args;
  ApplyLocal(Loc l, Term n, ExprList a) : ExprOf(l), name(n), args(a) {}
};
struct ApplyLetrec : ExprOf<Kind::kApplyLetrec> {
  LetrecFun* fun;
  ExprList args;
  ApplyLetrec(Loc l, LetrecFun* f, ExprList a) : ExprOf(l), fun(f), args(a) {}
};
/// F(Args), where F is any expression that gives a fun.
struct Apply : ExprOf<Kind::kApply> {
  Expr* fun;
  ExprList args;
  Apply(Loc l, Expr* f, ExprList a) : ExprOf(l), fun(f), args(a) {}
};
/// M:F(Args). BIFs and operators are calls of erlang:F with literal names: '+', '=:=', element,
/// self, '!', …
struct Call : ExprOf<Kind::kCall> {
  Expr* module;
  Expr* function;
  ExprList args;
  Call(Loc l, Expr* m, Expr* f, ExprList a) : ExprOf(l), module(m), function(f), args(a) {}
};

enum class Prim : std::uint8_t {
  kBuildStacktrace,  // (RawStack): the list; RawStack is the third variable of a try
  kRawRaise,         // (Class, Reason, RawStack): continues with an exception
  kBsInitWritable,   // (SizeBits): an empty binary that a comprehension will append to
};
struct Primop : ExprOf<Kind::kPrimop> {
  Prim op;
  ExprList args;
  Primop(Loc l, Prim o, ExprList a) : ExprOf(l), op(o), args(a) {}
};

struct Receive : ExprOf<Kind::kReceive> {
  ClauseList clauses;  // one pattern each; may be empty
  Expr* timeout;       // null: wait forever
  Expr* action;        // of `after`; null when timeout is
  Receive(Loc l, ClauseList c, Expr* t, Expr* a) : ExprOf(l), clauses(c), timeout(t), action(a) {}
};

/// try Arg of Var -> Body catch <Class, Reason, RawStack> -> Handler.  `body` and `handler` are
/// outside the protection. The handler decides by a kCase on the variables and ends in
/// Prim::kRawRaise where no clause matches. `vars` receive the values of `arg` (one, or several if
/// arg gives kValues).
struct Try : ExprOf<Kind::kTry> {
  Expr* arg;
  std::span<Var* const> vars;
  Expr* body;
  std::span<Var* const> evars;  // always three
  Expr* handler;
  Try(Loc l, Expr* a, std::span<Var* const> v, Expr* b, std::span<Var* const> e, Expr* h)
      : ExprOf(l), arg(a), vars(v), body(b), evars(e), handler(h) {}
};

struct Catch : ExprOf<Kind::kCatch> {
  Expr* body;
  Catch(Loc l, Expr* b) : ExprOf(l), body(b) {}
};

/// Short-circuit operators. A left side that is not a boolean raises {badarg, Value} (in a guard it
/// fails).
struct AndAlso : ExprOf<Kind::kAndAlso> {
  Expr* left;
  Expr* right;
  AndAlso(Loc l, Expr* a, Expr* b) : ExprOf(l), left(a), right(b) {}
};
struct OrElse : ExprOf<Kind::kOrElse> {
  Expr* left;
  Expr* right;
  OrElse(Loc l, Expr* a, Expr* b) : ExprOf(l), left(a), right(b) {}
};

/// Guards only: `,` and `;`. An alternative of AnyOf that raises is false.
struct AllOf : ExprOf<Kind::kAllOf> {
  ExprList tests;
  AllOf(Loc l, ExprList t) : ExprOf(l), tests(t) {}
};
struct AnyOf : ExprOf<Kind::kAnyOf> {
  ExprList alternatives;
  AnyOf(Loc l, ExprList a) : ExprOf(l), alternatives(a) {}
};

// --- module --------------------------------------------------------------------------------------

struct FunDef {
  Term name;
  std::uint32_t arity;
  std::span<Var* const> params;
  Expr* body;
  Loc loc;
};

struct Export {
  Term name;
  std::uint32_t arity;
};

struct Attribute {
  Term name;
  Term value;  // a list, as in the Attr chunk: [{name, [value]}]
};

/// The definition of a native record.
struct RecordDef {
  struct Field {
    Term name;
    Term value;  // the non-value: it has no default
  };
  Term name;
  bool exported;
  std::span<const Field> fields;
};

struct Module {
  Term name;
  std::span<const Export> exports;  // module_info/0,1 are added by the back end
  std::span<const Attribute> attributes;
  std::span<const RecordDef> records;
  std::span<FunDef* const> functions;
  std::span<const std::string_view> files;  // indexed by Loc::file, as stack traces show them
  std::string_view source;                  // for module_info(compile)
  FunDef* on_load = nullptr;
  std::span<FunDef* const> nifs;  // declared by -nifs
};

}  // namespace vmrun::compile::core
