// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/syntax/ast.hpp"
#include "runtime/compile/syntax/token_cursor.hpp"

/// Recursive descent through types and specifications. They are parsed in full, and kept as far as
/// lint checks them. Shares the cursor of its form's parser; one thread at a time.
namespace vmrun::compile {

class TypeParser {
 public:
  explicit TypeParser(TokenCursor& in) : in_(in) {}

  const TypeExpr* parse_type();
  const TypeExpr* parse_signature();
  TypeList parse_types_until(Tok close, const Token& open);

 private:
  const TypeExpr* parse_union_member();
  const TypeExpr* parse_type_sum(int level);
  const TypeExpr* computed(Loc loc, TypeNumber number);
  const TypeExpr* parse_type_primary();
  const TypeExpr* parse_map_type(Loc loc);
  const TypeExpr* parse_record_type(Loc loc);
  const TypeExpr* parse_binary_type(Loc loc);
  const TypeExpr* parse_fun_type(Loc loc);
  const TypeExpr* type(TypeKind kind, Loc loc, TypeList args = {}, std::string_view name = {},
                       std::string_view module = {});

  TokenCursor& in_;
};

}  // namespace vmrun::compile
