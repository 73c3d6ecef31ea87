#pragma once
// Private to the lint_*.cpp files: the state of checking one module. See lint.hpp.
//
// Variables: `vars_` maps the names visible at this point to what is known of them; changes are
// logged in `trail_`, so that leaving a clause, fun or comprehension undoes them. Whether a
// variable is used is counted per scope (function clause, fun clause, comprehension) and name, over
// all branches.

#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/compile/check/lint.hpp"

namespace vmrun::compile {

class Linter {
 public:
  Linter(Session& session, const ParsedModule& module, ModuleTables& tables)
      : session_(session), module_(module), t_(tables), unread_(module.unread) {}
  void run();

 private:
  enum class State : uint8_t { kUnbound, kBound, kUnsafe };
  struct Usage {
    std::vector<Loc> bound_at;
    bool used = false;
  };
  struct Variable {
    State state = State::kUnbound;
    Usage* usage = nullptr;
    std::string_view
        // of an unsafe one: 'case', 'try', …; of a bound one that has not been read since: what
        // handed it on
        where;
    Loc loc;
  };
  struct Change {
    std::string_view name;
    Variable previous;
  };
  using Bindings = std::vector<std::pair<std::string_view, Variable>>;
  struct Scope {
    std::unordered_map<std::string_view, Usage*> usages;
    std::vector<std::pair<std::string_view, Usage*>> order;
  };

  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  void warning(Loc loc, std::string message) { session_.diagnostics.warning(loc, std::move(message)); }
  bool enabled(std::string_view nowarn) const { return !t_.has_option(nowarn); }

  // Module level (lint.cpp).
  void check_function(const FunctionForm& f);
  void check_record(const RecordForm& r);
  void check_exports();
  void check_calls();
  void check_unused_functions();
  void check_unused_records();
  void check_behaviours();
  void use_function(FunctionName name, Loc loc);
  /// Whether a form that could not be read may define what has this name.
  bool may_be_unread(std::string_view name) const { return unread_.text || unread_.names.count(name) != 0; }
  /// A test that is no part of the module.
  bool left_out(const FunctionForm& f) const { return t_.functions.count({f.name, f.arity}) == 0; }
  bool in_main_file(Loc loc) const { return loc.file == 0; }

  // Variables (lint.cpp).
  size_t mark() const { return trail_.size(); }
  Variable* find(std::string_view name);
  void set(std::string_view name, Variable v);
  void bind(std::string_view name, Loc loc);
  void undo(size_t mark);
  Bindings bound_since(size_t mark);
  /// Undoes what was bound since a mark and gives it back as unsafe (`where` empty: as it is).
  Bindings take_since(size_t mark, std::string_view where = {}, Loc loc = {});
  void put(const Bindings& bindings);
  Usage* usage_of(std::string_view name);
  void use(const VarExpr& v);
  /// A variable that has a value already stands in a pattern.
  void matched_again(const VarExpr& v, const Variable& known, bool same_pattern);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();

  // Expressions (lint_expr.cpp).
  void expr(const Expr& e);
  void body(ExprList exprs);
  /// Operands that do not see each other's bindings.
  void operands(const std::vector<const Expr*>& exprs);
  void operands(ExprList exprs) { operands(std::vector<const Expr*>(exprs.begin(), exprs.end())); }
  void clauses(ClauseList list, std::string_view what, Loc loc, const ExprList* extra_body = nullptr);
  void merge(std::vector<Bindings>& branches, std::string_view what, Loc loc);
  void case_clause(const Clause& c);
  void fun_clauses(ClauseList list, std::string_view shadow_what);
  void call(const CallExpr& e);
  void local_call(const CallExpr& e, std::string_view name);
  void try_expr(const TryExpr& e);
  void comprehension(const ComprehensionExpr& e);
  void map_fields(const MapExpr& e);
  void unreachable_clauses(ClauseList list);
  void ignored_value(const Expr& e);
  void format_call(const CallExpr& e, std::string_view module, std::string_view name);

  // Records.
  const RecordInfo* record(std::string_view name, Loc loc);
  void record_field(const RecordInfo& r, std::string_view field, Loc loc);
  void record_fields(const RecordExpr& e, const RecordInfo& r);

  // Guards and binaries (lint_guard.cpp).
  void guards(std::span<const ExprList> alternatives);
  bool obsolete_test(const Expr& e);
  void guard(const Expr& e);
  void guard_call(const CallExpr& e);
  void segment(const Segment& s, bool in_pattern, bool last);

  // Patterns (lint_pattern.cpp).
  struct PatternContext {
    size_t start;
    std::string_view shadows;  // "fun", "generate", …: variables of outer scopes are shadowed; empty: matched
  };
  /// A size or a map key: it sees what was bound before the pattern, and of the pattern only `own`,
  /// the variables of earlier segments.
  void pattern_operand(const Expr& e, const PatternContext& context, std::span<const std::string_view> own);
  void pattern(const Expr& e, const PatternContext& context);
  void patterns(ExprList list, const PatternContext& context);
  void pattern_variable(const VarExpr& v, const PatternContext& context);
  void pattern_binary(const BinaryExpr& e, const PatternContext& context);
  void sized_fields(const BinaryExpr& e);
  bool is_constant(const Expr& e) const;
  bool bound_here(std::string_view name, size_t start) const;

  // Types (lint_types.cpp).
  void check_types();
  void type(const TypeExpr& t, std::unordered_map<std::string_view, std::pair<Loc, int>>* vars);
  void type_variables(const std::unordered_map<std::string_view, std::pair<Loc, int>>& vars);

  Session& session_;
  const ParsedModule& module_;
  ModuleTables& t_;
  const Unread& unread_;
  std::unordered_map<std::string_view, Variable> vars_;
  std::vector<Change> trail_;
  struct {
    size_t from = 0, to = 0;                // of the trail
    std::span<const std::string_view> own;  // visible all the same
  } hidden_;
  std::deque<Usage> usages_;
  std::vector<Scope> scopes_;
  size_t form_order_ = 0;
  FunctionName current_{};
  struct Use {
    FunctionName from, to;
    Loc loc;
  };
  std::vector<Use> uses_;
  std::unordered_map<FunctionName, Loc, FunctionNameHash> defined_types_;
  std::unordered_set<FunctionName, FunctionNameHash> used_types_;
};

}  // namespace vmrun::compile
