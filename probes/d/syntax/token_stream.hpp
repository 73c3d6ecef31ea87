#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "probes/d/syntax/token.hpp"

/// The tokens as the parsers take them, with as many looked at ahead as they need.
namespace vmrun::d::lang {

class TokenStream {
 public:
  explicit TokenStream(Lexer& lexer) : lexer_(lexer) {}

  /// The token that comes as the n-th from here. The reference is good until the next take().
  const Token& peek(std::size_t n = 0);
  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// Fails with D_SYNTAX.
  [[noreturn]] void unexpected(const Token& token);
  std::string name();
  /// Of a member: keywords are good names too.
  std::string member_name();
  /// Where the lexer is, which may be ahead of the next token.
  Place place() const { return lexer_.place(); }

  /// Counts how deep calls of the parsers are nested: bytes must not decide how much stack is used.
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
