// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compile/syntax/ast.hpp"

/// Evaluates the constant expressions that `-if` and `-elif` take: literals, operators, guard tests
/// and `defined(NAME)`. One thread at a time.
namespace vmrun::compile {

struct Constant {
  enum class Kind : std::uint8_t { kInteger, kFloat, kAtom, kTuple, kNil, kList } kind;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view atom = {};
  std::vector<Constant> items = {};
  bool is_atom(std::string_view name) const { return kind == Kind::kAtom && atom == name; }
  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
};

class ConstantEvaluator {
 public:
  explicit ConstantEvaluator(std::function<bool(std::string_view)> is_defined)
      : is_defined_(std::move(is_defined)) {}

  /// Returns the value, or nothing when evaluation fails (as a guard fails). Sets `problem` and its
  /// place when the expression cannot be evaluated here.
  std::optional<Constant> evaluate(const Expr& e, std::string& problem, Loc& where);

 private:
  std::optional<Constant> call(const CallExpr& e, std::string& problem, Loc& where);
  std::optional<Constant> operation(const BinaryOpExpr& e, std::string& problem, Loc& where);
  std::function<bool(std::string_view)> is_defined_;
};

}  // namespace vmrun::compile
