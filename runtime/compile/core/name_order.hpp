#pragma once
// The numbers in the names of what one function contains: '-f/1-fun-N-', '-f/1-lc$^N/1-M-'. They
// are counted as OTP's compiler counts (v3_core), so that stacks and funs show the same names. One
// function at a time; one thread.

#include <unordered_map>

#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/syntax/ast.hpp"

namespace vmrun::compile {

class NameOrder {
 public:
  explicit NameOrder(const ModuleTables& tables) : tables_(tables) {}
  /// For the next function.
  void clear();
  /// To be called for the parts of a function in their order.
  void index(const Expr& e);
  /// Of a FunExpr, a Qualifier that generates, a TryExpr or MaybeExpr. The last two count nothing:
  /// their number may be somebody else's too. What is not in the text (the default of a record's
  /// field), or is asked for again, gets a number behind all others.
  std::uint32_t number(const void* part);

 private:
  void index_comprehension(const ComprehensionExpr& e);
  void index_receive(const ReceiveExpr& e);

  const ModuleTables& tables_;
  std::unordered_map<const void*, std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
};

}  // namespace vmrun::compile
