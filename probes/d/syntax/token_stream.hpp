// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "probes/d/syntax/d_token.hpp"

/// The tokens for the parsers, which may look ahead as far as they need.
namespace vmrun::d::lang {

class TokenStream {
 public:
  explicit TokenStream(Lexer& lexer) : lexer_(lexer) {}

  /// Returns the n-th token from here. The reference is valid until the next take().
  const Token& peek(std::size_t n = 0);
  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// Fails with D_SYNTAX.
  [[noreturn]] void unexpected(const Token& token);
  std::string name();
  /// Takes the name of a member, which may be a keyword.
  std::string member_name();
  /// Returns where the lexer is, which may be ahead of the next token.
  Place place() const { return lexer_.place(); }

  /// Counts how deep calls of the parsers are nested, so that a text cannot decide how much stack
  /// is used.
  class Deeper {
   public:
    explicit Deeper(TokenStream& tokens);
    ~Deeper() { tokens_.depth_--; }

   private:
    TokenStream& tokens_;
  };

 private:
  Lexer& lexer_;
  std::deque<Token> ahead_;
  unsigned depth_ = 0;
};

}  // namespace vmrun::d::lang
