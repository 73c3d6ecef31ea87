// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/compile/core/core_language.hpp"
#include "runtime/compile/source/compile_session.hpp"
#include "runtime/compile/syntax/ast.hpp"
#include "vm/heap/heap.hpp"

/// Makes Core: nodes in the compilation's arena, literals in its heap of constants, and the blocks
/// of statements that come before an expression. An expression made of literals only becomes a
/// literal. One compilation, one thread.
namespace vmrun::compile {

using Var = core::Var;
using CExpr = core::Expr;

/// A statement that comes before the rest of a block; the rest sees its bindings.
struct Statement {
  enum class Kind : std::uint8_t { kLet, kSeq, kMatch } kind;
  Loc loc;
  std::span<Var* const> vars;  // kLet
  CExpr* arg;
  core::Pat* pattern = nullptr;  // kMatch: case arg of pattern when guard -> REST
  CExpr* guard = nullptr;
  core::Fail fail = core::Fail::kImpossible;
  std::span<core::Clause* const> otherwise = {};  // kMatch: clauses behind
};
using Block = std::vector<Statement>;

inline bool is_literal(const CExpr* e) { return e->kind == core::Kind::kLiteral; }
inline bool is_atomic(const CExpr* e) { return is_literal(e) || e->kind == core::Kind::kVar; }
inline Term literal_of(const CExpr* e) { return e->as<core::Literal>().value; }

class Nodes {
 public:
  Nodes(Session& session, vmrun::Heap& heap) : session_(session), arena_(session.arena), heap_(heap) {}

  template <class T, class... Args>
  T* make(Args&&... args) {
    return arena_.make<T>(std::forward<Args>(args)...);
  }
  template <class T>
  std::span<T const> keep(const std::vector<T>& items) {
    return arena_.copy(items);
  }
  template <class T>
  std::span<T> copy(const T* items, std::size_t count) {
    return arena_.copy(items, count);
  }
  std::string_view copy(std::string_view text) { return arena_.copy(text); }
  /// Where literals live.
  vmrun::Heap& heap() { return heap_; }

  Term atom(std::string_view name);
  Term string_term(std::u32string_view chars, Term tail);
  Term integer_term(const IntegerExpr& e);
  CExpr* literal(Loc loc, Term t) { return make<core::Literal>(loc, t); }
  CExpr* atom_literal(Loc loc, std::string_view name) { return literal(loc, atom(name)); }
  CExpr* integer_literal(Loc loc, std::int64_t v);
  CExpr* ref(Var* v, Loc loc = {}) { return make<core::VarRef>(loc, v); }
  Var* fresh(std::string_view name = "_");
  CExpr* call(Loc loc, std::string_view module, std::string_view name, std::initializer_list<CExpr*> args);
  CExpr* erlang(Loc loc, std::string_view name, std::initializer_list<CExpr*> args) {
    return call(loc, "erlang", name, args);
  }
  CExpr* tuple(Loc loc, const std::vector<CExpr*>& elements);
  CExpr* cons(Loc loc, CExpr* head, CExpr* tail);
  core::Pat* wild() { return make<core::PWild>(); }
  core::Pat* literal_pattern(Term t) { return make<core::PLiteral>(t); }
  /// Evaluates an operator on literals. Returns nullptr when that fails or is not worthwhile.
  CExpr* fold_operator(Loc loc, std::string_view name, const std::vector<CExpr*>& args);

  void let(Block& block, Var* var, CExpr* arg);
  /// Returns the value as a variable (or literal) that can be used more than once.
  CExpr* named(CExpr* e, Block& block, std::string_view name = "_");
  CExpr* finish(Block& block, CExpr* result);

 private:
  Session& session_;
  NodeArena& arena_;
  vmrun::Heap& heap_;
  std::unordered_map<std::string_view, Term> atoms_;
};

}  // namespace vmrun::compile
