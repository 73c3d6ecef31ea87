// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/token_stream.hpp"

#include <algorithm>
#include <iterator>

namespace vmrun::d::lang {
namespace {

constexpr unsigned kDeepestNesting = 200;

struct OfErlang {
  std::string_view before, word, meant;
};
/// Operators of Erlang, as D's tokens, and what D has in their place.
constexpr OfErlang kOfErlang[] = {
    {"=", "<", "<="},      {"<", ">", "!="}, {"=", "/=", "!="},    {"=", ":", "=="}, {"", "and", "&&"},
    {"", "andalso", "&&"}, {"", "or", "||"}, {"", "orelse", "||"}, {"", "not", "!"}, {"", "xor", "^^"},
    {"", "div", "/"},      {"", "rem", "%"}, {"", "band", "&"},    {"", "bor", "|"}, {"", "bxor", "^"},
    {"", "bsl", "<<"},     {"", "bsr", ">>"}};
constexpr std::string_view kOfLoops[] = {"while", "for",      "do",     "goto", "switch",
                                         "break", "continue", "return", "case", "default"};

/// Says what a wrong token may mean. before: the token before it.
std::string token_hint(const Token& before, const Token& token) {
  for (const OfErlang& row : kOfErlang)
    if (row.word == token.text && (row.before.empty() || row.before == before.text))
      return ", did you mean " + std::string(row.meant) + "?";
  if (token.kind == Token::Kind::kKeyword && std::ranges::find(kOfLoops, token.text) != std::end(kOfLoops))
    return ": D has neither loops nor jumps";
  return "";
}

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
  if (token.is("{")) braces_++;
  if (token.is("}")) braces_--;
  if (token.kind == Token::Kind::kName) names_.push_back(token.text);
  if (token.kind == Token::Kind::kAggregation) names_.push_back("@" + token.text);
  last_ = token;
  return token;
}

void TokenStream::rewind() {
  if (!ahead_.empty()) lexer_.go_to(ahead_.front().place);
  ahead_.clear();
}

const Token& TokenStream::next_good() {
  for (;;) {
    try {
      return peek();
    } catch (const Failure&) {}
  }
}

void TokenStream::skip_statement(int depth) {
  int parentheses = -1;  // -1: the ; of for (;;) does not come
  for (;;) {
    const Token& next = next_good();
    if (next.kind == Token::Kind::kEnd || (next.is("}") && braces_ <= depth)) return;
    const Token token = take();
    if (token.is("for")) parentheses = 0;
    if (parentheses >= 0 && token.is("(")) parentheses++;
    if (parentheses > 0 && token.is(")")) parentheses--;
    if (braces_ > depth || parentheses > 0) continue;
    if (token.is(";") || (token.is("}") && !next_good().is("else"))) return;
  }
}

void TokenStream::skip_part() {
  for (;;) {
    if (next_good().kind == Token::Kind::kEnd) return;
    const Token token = take();
    if (braces_ > 0) continue;
    const bool ends = token.is(";") || token.is("}");
    braces_ = 0;
    if (ends) return rewind();
  }
}

void TokenStream::skip_to_brace() {
  while (next_good().kind != Token::Kind::kEnd && !next_good().is("{") && !next_good().is("}")) take();
}

bool TokenStream::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  take();
  return true;
}

void TokenStream::unexpected(const Token& token, const std::string& hint) {
  const std::string better = token_hint(last_, token);
  fail(token.place, "D_SYNTAX", "syntax error near " + token.shown() + (better.empty() ? hint : better));
}

void TokenStream::expect(std::string_view text) {
  if (accept(text)) return;
  std::string hint;
  if (last_.kind == Token::Kind::kName)
    if (const std::string_view meant = keyword_like(last_.text, false); !meant.empty() && text != ")")
      hint = ", did you mean " + std::string(meant) + " in place of " + last_.text + "?";
  if (hint.empty()) hint = ": " + std::string(text) + " is expected before it";
  unexpected(peek(), hint);
}

void TokenStream::expect_closing(std::string_view text, std::string_view opening, Place open) {
  if (accept(text)) return;
  const Token& next = peek();
  const std::string lacks = "this " + std::string(opening) + " has no " + std::string(text);
  if (next.kind == Token::Kind::kEnd) fail(open, "D_SYNTAX", "end of input: " + lacks);
  if (next.place.line == open.line) unexpected(next, ": " + std::string(text) + " is expected before it");
  unexpected(next, ": the " + std::string(opening) + " in line " + std::to_string(open.line) + " has no " +
                       std::string(text));
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
