// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>
#include <vector>

#include "runtime/compile/core/core_language.hpp"

/// Which variables a fun or letrec function takes from the functions around it, and how often each
/// variable is used. Runs over one top-level function before it is lowered. One compilation, one
/// thread.
namespace vmrun::compile::core {

/// A function to be generated: a definition, a lifted fun, a lifted letrec function or a wrapper of
/// `fun f/1`.
struct FunNote {
  FunNote* parent = nullptr;
  std::uint32_t index = 0;  // in Program::functions
  std::span<Var* const> params;
  Expr* body = nullptr;
  Lambda* lambda = nullptr;     // if it is a fun
  LetrecFun* letrec = nullptr;  // if it is a letrec function
  std::vector<Var*> free;       // in order of discovery; become further parameters
  std::unordered_set<Var*> free_set;
  std::vector<FunNote*> callees;   // letrec functions applied here; this function needs their free variables
                                   // too
  std::uint32_t lambda_index = 0;  // in Program::lambdas
};

class FunAnalysis {
 public:
  /// Fills in Var::owner/uses/slot and makes a FunNote for every function inside; `root` is the
  /// note of the definition. Slots are numbered from `next_slot` on.
  FunAnalysis(FunNote* root, std::uint32_t& next_slot) : next_slot_(next_slot), current_(root) {}
  void run();
  /// The functions found inside, outermost first.
  std::vector<FunNote*>& found() { return found_; }

 private:
  void bind(Var* v);
  void use(Var* v);
  void expr(Expr* e);
  void lambda(Lambda& l);
  void letrec(Letrec& l);
  void list(ExprList es);
  void pattern(Pat* p);
  void clauses(ClauseList cs);
  FunNote* inner(std::span<Var* const> params, Expr* body);
  static void need(FunNote* note, Var* v);

  std::uint32_t& next_slot_;
  FunNote* current_;
  std::vector<FunNote*> found_;
};

}  // namespace vmrun::compile::core
