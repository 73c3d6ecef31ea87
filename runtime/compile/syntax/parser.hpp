// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/compile/syntax/expr_parser.hpp"
#include "runtime/compile/syntax/type_parser.hpp"

/// The parser: turns the tokens of one form, with macros expanded and the dot included, into its
/// syntax tree. A form with an error is reported once and dropped. The next form starts afresh, so
/// one run reports several errors. One thread at a time.
namespace vmrun::compile {

class Parser {
 public:
  Parser(Session& session, const std::vector<Token>& tokens) : in_(session, tokens) {}

  /// Returns nullptr after an error.
  const Form* parse_form();
  /// Parses all the tokens as the body of a function without arguments. Returns nullptr after an
  /// error.
  const Form* parse_body_of(std::string_view function);
  /// Parses an expression that makes up all the tokens, as in `-if(Expr)`. Returns nullptr after an
  /// error.
  const Expr* parse_whole_expression();

 private:
  const Form* parse_function();
  const Form* parse_attribute();
  const Form* parse_record_form(Loc loc);
  const Form* parse_type_form(Loc loc, std::string_view attribute);
  const Form* parse_spec_form(Loc loc, std::string_view attribute);

  TokenCursor in_;
  ExprParser exprs_{in_};
  TypeParser types_{in_};
};

}  // namespace vmrun::compile
