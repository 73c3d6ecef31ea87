// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "probes/d/syntax/c_type_parser.hpp"
#include "probes/d/syntax/token_stream.hpp"
#include "probes/d/syntax/tree.hpp"

/// Parses expressions to trees.
namespace vmrun::d::lang {

class ExpressionParser {
 public:
  ExpressionParser(TokenStream& tokens, Tree& tree, TypeParser& types)
      : tokens_(tokens), tree_(tree), types_(types) {}

  /// Parses an expression that may have commas.
  Node* expression();
  Node* assignment();
  /// Parses one without assignments, which C calls a constant expression.
  Node* conditional();
  /// Parses a constant, a name, an aggregation with its keys, or what stands in ( ).
  Node* primary();

 private:
  using Deeper = TokenStream::Deeper;

  Node* binary(int least);
  Node* unary();
  Node* size_of(Place place);
  Node* postfix();
  Node* index(Node* node, Place place);
  Node* call(Node* node, Place place);
  Node* member(Node* node, Place place);
  Node* integer(const Token& token);
  Node* aggregation(Token token);
  Node* keyword(const Token& token);
  Node* offset_of(Place place);
  Node* xlate(Place place);
  /// open: the sign before the arguments, which `end` closes.
  std::vector<Node*> arguments(std::string_view end, Place open);

  TokenStream& tokens_;
  Tree& tree_;
  TypeParser& types_;
};

}  // namespace vmrun::d::lang
