#pragma once
// Private to the to_core_*.cpp files: the state of lowering one module. See to_core.hpp.
//
// How expressions that bind variables become Core: `value(e, block)` returns a Core expression and
// appends to `block` what has to happen before it and stays visible after it: lets, effects,
// matches. `finish` nests the block around its result. An operand that left statements in its block
// forces its earlier siblings into variables, so that evaluation stays left to right.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/compile/core/to_core.hpp"

namespace vmrun::compile {

class Lowering {
 public:
  Lowering(Session& session, ModuleTables& tables, vmrun::Heap& heap)
      : session_(session), tables_(tables), arena_(session.arena), heap_(heap) {}

  core::Module run(const LowerOptions& options);

 private:
  using Var = core::Var;
  using CExpr = core::Expr;

  /// Something that comes before the rest of a block and whose bindings the rest sees.
  struct Statement {
    enum class Kind : uint8_t { kLet, kSeq, kMatch } kind;
    Loc loc;
    std::span<Var* const> vars;  // kLet
    CExpr* arg;
    core::Pat* pattern = nullptr;  // kMatch: case arg of pattern when guard -> REST
    CExpr* guard = nullptr;
    core::Fail fail = core::Fail::kImpossible;
    std::span<core::Clause* const> otherwise = {};  // kMatch: clauses behind
  };
  using Block = std::vector<Statement>;

  // Nodes and literals.
  template <class T, class... Args>
  T* make(Args&&... args) {
    return arena_.make<T>(std::forward<Args>(args)...);
  }
  template <class T>
  std::span<T const> keep(const std::vector<T>& items) {
    return arena_.copy(items);
  }
  Term atom(std::string_view name);
  CExpr* literal(Loc loc, Term t) { return make<core::Literal>(loc, t); }
  CExpr* atom_literal(Loc loc, std::string_view name) { return literal(loc, atom(name)); }
  CExpr* integer_literal(Loc loc, int64_t v);
  CExpr* ref(Var* v, Loc loc = {}) { return make<core::VarRef>(loc, v); }
  Var* fresh(std::string_view name = "_");
  CExpr* call(Loc loc, std::string_view module, std::string_view name, std::initializer_list<CExpr*> args);
  CExpr* erlang(Loc loc, std::string_view name, std::initializer_list<CExpr*> args) {
    return call(loc, "erlang", name, args);
  }
  CExpr* tuple(Loc loc, const std::vector<CExpr*>& elements);
  CExpr* cons(Loc loc, CExpr* head, CExpr* tail);
  static bool is_literal(const CExpr* e) { return e->kind == core::Kind::kLiteral; }
  static bool is_atomic(const CExpr* e) { return is_literal(e) || e->kind == core::Kind::kVar; }
  static Term literal_of(const CExpr* e) { return e->as<core::Literal>().value; }
  Term string_term(std::u32string_view chars, Term tail);
  Term integer_term(const IntegerExpr& e);
  /// Evaluates an operator on literals; null when that fails or is not worth it.
  CExpr* fold_operator(Loc loc, std::string_view name, const std::vector<CExpr*>& args);
  /// A constant expression as a term (attributes, patterns); the non-value when it is none.
  Term constant(const Expr& e, bool attribute);

  // Scopes.
  struct Binding {
    std::string_view name;
    Var* previous;
  };
  Var* lookup(std::string_view name) const;
  Var* bind(std::string_view name);
  void bind_to(std::string_view name, Var* var);
  size_t mark() const { return trail_.size(); }
  /// Names bound since a mark, latest variable of each.
  std::vector<std::pair<std::string_view, Var*>> bound_since(size_t mark) const;
  void undo(size_t mark);
  bool bound_between(std::string_view name, size_t from, size_t to) const;
  bool bound_by_sibling(std::string_view name) const;
  using Siblings = std::vector<std::pair<size_t, size_t>>;
  /// A fun or comprehension is a scope of its own: it does not see what operands to its left have
  /// bound. Gives what siblings_ is to be afterwards.
  [[nodiscard]] Siblings hide_siblings();

  // Which variables a construct has to hand on: those that occur again behind it.
  void index_uses(const Expr& e);
  bool used_after(const Expr& construct, std::string_view name) const;

  // Expressions (to_core_expr.cpp).
  CExpr* value(const Expr& e, Block& block, bool wanted = true);
  void effect(const Expr& e, Block& block);
  /// A body as one expression, in a scope of its own.
  CExpr* body(ExprList exprs);
  CExpr* body_into(ExprList exprs, Block& block, bool wanted = true);
  CExpr* finish(Block& block, CExpr* result);
  std::vector<CExpr*> operands(const std::vector<const Expr*>& exprs, Block& block);
  /// The value in a variable (or as a literal), for use more than once.
  CExpr* named(CExpr* e, Block& block, std::string_view name = "_");
  void let(Block& block, Var* var, CExpr* arg);
  CExpr* match(const MatchExpr& e, Block& block, bool wanted);
  CExpr* call_expr(const CallExpr& e, Block& block);
  CExpr* local_call(const CallExpr& e, Block& block);
  CExpr* operator_expr(const BinaryOpExpr& e, Block& block);
  CExpr* map_expr(const MapExpr& e, Block& block);
  CExpr* fun_expr(const FunExpr& e);
  CExpr* fun_local(const FunLocalExpr& e);
  CExpr* is_record_call(Loc loc, const Expr& subject, std::string_view record, Block& block);

  // Control (to_core_control.cpp).
  struct LoweredClause {
    const Clause* source;
    core::PatList patterns;
    CExpr* guard;
    Block block;
    CExpr* result;
    std::vector<std::pair<std::string_view, Var*>> bound;
  };
  CExpr* case_expr(const CaseExpr& e, Block& block, bool wanted);
  CExpr* if_expr(const IfExpr& e, Block& block, bool wanted);
  CExpr* receive_expr(const ReceiveExpr& e, Block& block, bool wanted);
  CExpr* try_expr(const TryExpr& e);
  CExpr* maybe_expr(const MaybeExpr& e);
  LoweredClause clause(const Clause& c, bool in_head, bool wanted = true);
  /// Finishes clauses and, if they bind variables that are used later, lets `build` make a
  /// construct of several values whose variables are bound in `block`.
  CExpr* join(const Expr& e, std::vector<LoweredClause>& clauses, Block& block, bool wanted,
              const std::function<CExpr*(core::ClauseList)>& build);
  core::ClauseList closed_clauses(ClauseList clauses);
  core::FunDef* function(const FunctionForm& f);
  CExpr* function_body(Loc loc, ClauseList clauses, std::span<Var* const>& params);

  // Guards (to_core_guard.cpp).
  CExpr* guard(std::span<const ExprList> guards, const std::vector<CExpr*>& extra);
  const Expr& modern_test(const Expr& e);
  CExpr* guard_test(const Expr& e);
  CExpr* guard_value(const Expr& e, std::vector<CExpr*>& checks);
  bool is_guard_expr(const Expr& e) const;

  // Patterns (to_core_pattern.cpp).
  struct PatternContext {
    size_t start;                    // bindings newer than this belong to the pattern
    bool head;                       // a function or fun head, or a generator: outer variables are shadowed
    bool skip = false;               // the shape of a binary generator's pattern, whatever the values
    std::vector<CExpr*> tests = {};  // equalities with variables that are bound already
  };
  /// A size or a map key: it sees what was bound before the pattern, and of the pattern only `own`,
  /// the variables of earlier segments.
  CExpr* pattern_operand(const Expr& e, const PatternContext& context, std::span<const std::string_view> own);
  core::Pat* pattern(const Expr& e, PatternContext& context);
  core::Pat* variable_pattern(std::string_view name, Loc loc, PatternContext& context);
  core::Pat* binary_pattern(const BinaryExpr& e, PatternContext& context, Var* rest);
  core::Pat* record_pattern(const RecordExpr& e, PatternContext& context);
  core::Pat* map_pattern(const MapExpr& e, PatternContext& context);
  core::Pat* string_pattern(const Expr& prefix, core::Pat* tail);
  core::Pat* wild() { return make<core::PWild>(); }
  core::Pat* literal_pattern(Term t) { return make<core::PLiteral>(t); }

  // Binaries (to_core_binary.cpp).
  core::SegSpec segment_spec(const Segment& s) const;
  /// Default size of a segment that has none written; null where there is none.
  CExpr* default_size(const Segment& s);
  void append_segments(const BinaryExpr& e, Block& block, std::vector<core::Segment>& out);
  CExpr* binary_expr(const BinaryExpr& e, Block& block);
  CExpr* fold_binary(Loc loc, const std::vector<core::Segment>& segments);

  // Records (to_core_record.cpp).
  const RecordInfo* record(std::string_view name);
  CExpr* record_new(const RecordExpr& e, Block& block);
  CExpr* record_update(const RecordExpr& e, Block& block);
  CExpr* record_field(const RecordFieldExpr& e, Block& block);
  CExpr* record_info(const CallExpr& e);

  // Comprehensions (to_core_comprehension.cpp).
  CExpr* comprehension(const ComprehensionExpr& e, bool wanted);
  struct Loop;
  struct GeneratorShape;
  CExpr* qualifiers(const ComprehensionExpr& e, size_t at, Loop& loop);
  CExpr* generator_guard(const ComprehensionExpr& e, size_t& at, std::vector<CExpr*> tests);
  CExpr* generator_loop(const ComprehensionExpr& e, size_t at, Loop& loop, const GeneratorShape& shape,
                        CExpr* source);
  CExpr* binary_generator(const ComprehensionExpr& e, size_t at, Loop& loop);
  CExpr* map_generator(const ComprehensionExpr& e, size_t at, Loop& loop);
  CExpr* collection_loop(const ComprehensionExpr& e, size_t at, Loop& loop, CExpr* source,
                         const std::function<core::Pat*(PatternContext&)>& element);
  CExpr* bad_generator(Loc loc, Var* subject);
  core::LetrecFun* loop_function(std::string_view prefix, Loc loc, const std::vector<Var*>& params);

  Session& session_;
  ModuleTables& tables_;
  NodeArena& arena_;
  vmrun::Heap& heap_;
  std::unordered_map<std::string_view, Var*> scope_;
  std::vector<Binding> trail_;
  struct {
    size_t from = 0, to = 0;                // of the trail
    std::span<const std::string_view> own;  // visible all the same
  } hidden_;
  Siblings siblings_;  // ranges of the trail: what operands to the left of the present ones have bound
  std::unordered_map<std::string_view, uint32_t> last_use_;
  std::unordered_map<const Expr*, uint32_t> end_of_;
  uint32_t clock_ = 0;
  uint32_t fun_index_ = 0;
  uint32_t letrec_index_ = 0;
  std::vector<CExpr*>* guard_checks_ = nullptr;  // set while inside a guard: record checks go there
  std::unordered_map<std::string_view, Term> atoms_;
};

}  // namespace vmrun::compile
