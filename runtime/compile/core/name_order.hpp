// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/syntax/ast.hpp"

/// The numbers in the names of funs and loops inside one function: '-f/1-fun-N-',
/// '-f/1-lc$^N/1-M-'. They are counted as OTP's compiler counts (v3_core), so that stacks and funs
/// show the same names. One function at a time; one thread.
namespace vmrun::compile {

class NameOrder {
 public:
  explicit NameOrder(const ModuleTables& tables) : tables_(tables) {}
  /// Prepares for the next function.
  void clear();
  /// Called for the parts of a function in their order.
  void index(const Expr& e);
  /// Returns the number of a FunExpr, a Qualifier that generates, a TryExpr or a MaybeExpr. The
  /// last two do not count, so another part may have their number too. A part that is not in the
  /// text (the default of a record's field), or is asked for again, gets a number behind all
  /// others.
  std::uint32_t number(const void* part);

 private:
  void index_comprehension(const ComprehensionExpr& e);
  void index_receive(const ReceiveExpr& e);

  const ModuleTables& tables_;
  std::unordered_map<const void*, std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
};

}  // namespace vmrun::compile
