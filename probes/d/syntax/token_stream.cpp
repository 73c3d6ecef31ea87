// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/token_stream.hpp"

namespace vmrun::d::lang {
namespace {

constexpr unsigned kDeepestNesting = 200;

}  // namespace

TokenStream::Deeper::Deeper(TokenStream& tokens) : tokens_(tokens) {
  if (++tokens.depth_ <= kDeepestNesting) return;
  tokens.depth_--;
  fail(tokens.place(), "D_SYNTAX", "nested too deeply");
}

const Token& TokenStream::peek(std::size_t n) {
  while (ahead_.size() <= n) ahead_.push_back(lexer_.next());
  return ahead_[n];
}

Token TokenStream::take() {
  peek();
  Token token = std::move(ahead_.front());
  ahead_.pop_front();
  return token;
}

bool TokenStream::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  take();
  return true;
}

void TokenStream::unexpected(const Token& token) {
  fail(token.place, "D_SYNTAX", "syntax error near " + token.shown());
}

void TokenStream::expect(std::string_view text) {
  if (!accept(text)) unexpected(peek());
}

std::string TokenStream::name() {
  if (peek().kind != Token::Kind::kName) unexpected(peek());
  return take().text;
}

std::string TokenStream::member_name() {
  if (peek().kind != Token::Kind::kKeyword) return name();
  return take().text;
}

}  // namespace vmrun::d::lang
