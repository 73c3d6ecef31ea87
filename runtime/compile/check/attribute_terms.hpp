// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/compile/check/builtins.hpp"
#include "runtime/compile/syntax/ast.hpp"

/// Reads the values of attributes, which are expressions that stand for terms. Constant operations;
/// any thread that owns the tree.
namespace vmrun::compile {

/// Whether the expression is a term as it is written, as the value of an attribute has to be.
/// `name_arity`: a/1 is one too.
bool is_term(const Expr& e, bool name_arity);
/// Calls `f` for every element of a list expression that ends in []; returns false when it is not
/// such a list, or when `f` does.
bool each_element(const Expr& list, const std::function<bool(const Expr&)>& f);
/// Calls `f` for every element of such a list, or for the expression if it is no list.
void each_or_itself(const Expr& e, const std::function<void(const Expr&)>& f);
/// Reads `name/arity`, also written {name, arity}.
std::optional<FunctionName> name_arity(const Expr& e, bool tuple_too);
/// The term in a message.
std::string term_text(const Expr& e);

}  // namespace vmrun::compile
