// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

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
  /// Takes the sign that closes what begins at `open`.
  void expect_closing(std::string_view text, std::string_view opening, Place open);
  /// Fails with D_SYNTAX.
  [[noreturn]] void unexpected(const Token& token, const std::string& hint = "");
  std::string name();
  /// Takes the name of a member, which may be a keyword.
  std::string member_name();
  /// Returns where the lexer is, which may be ahead of the next token.
  Place place() const { return lexer_.place(); }
  /// Makes the lexer go on at the next token.
  void rewind();

  /// Returns how many braces are open.
  int depth() const { return braces_; }
  /// Called where a statement or declaration begins.
  void begin_part() { names_.clear(); }
  /// Passes the rest of a wrong statement: to the ; or } behind it, or to the } of the block around
  /// it, which stays. depth: how many braces were open when it began.
  void skip_statement(int depth);
  /// Passes the rest of a wrong clause or declaration, where no brace was open.
  void skip_part();
  /// Whether no token follows.
  bool is_at_end() { return next_good().kind == Token::Kind::kEnd; }
  /// Passes what stands before the next { or the end.
  void skip_to_brace();
  /// Returns the names and aggregations that were taken since begin_part().
  const std::vector<std::string>& names() const { return names_; }

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
  /// Like peek(), but passes what is no token.
  const Token& next_good();

  std::deque<Token> ahead_;
  std::vector<std::string> names_;
  Token last_;  // the token that was taken last
  int braces_ = 0;
  unsigned depth_ = 0;
};

}  // namespace vmrun::d::lang
