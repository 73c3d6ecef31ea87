// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/token_cursor.hpp"

#include <algorithm>
#include <string>

#include "runtime/compile/syntax/syntax_hint.hpp"

namespace vmrun::compile {

const Token& TokenCursor::peek(std::size_t ahead) const {
  const std::size_t i = next_ + ahead;
  return i < tokens_.size() ? tokens_[i] : tokens_.back();
}

const Token& TokenCursor::take() {
  const Token& t = peek();
  if (next_ < tokens_.size()) ++next_;
  return t;
}

bool TokenCursor::take_if(Tok kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

const Token& TokenCursor::expect(Tok kind, std::string_view wanted) {
  if (!at(kind)) fail_here(wanted);
  return take();
}

void TokenCursor::expect_close(Tok kind, const Token& open) {
  if (take_if(kind)) return;
  std::string wanted = format_message("',' or '%.*s'", VIEW(token_spelling(kind)));
  if (kind == Tok::kEnd) wanted = "'end'";
  if (open.loc.line != peek().loc.line)
    wanted += format_message(" to close '%.*s' of line %u", VIEW(token_spelling(open.kind)), open.loc.line);
  fail_here(wanted);
}

void TokenCursor::fail_at(Loc loc, std::string message) {
  session_.diagnostics.error(loc, std::move(message));
  throw Abort{};
}

void TokenCursor::fail_here(std::string_view wanted) {
  const Token& t = peek();
  if (t.kind == Tok::kError) fail_at(t.loc, std::string(t.text));
  std::string message =
      t.kind == Tok::kEof ? "unexpected " + describe_token(t) : "syntax error before " + describe_token(t);
  const SyntaxHint hint = syntax_hint(tokens_, std::min(next_, tokens_.size() - 1), wanted);
  if (hint.instead) fail_at(t.loc, message + ": " + hint.text);
  if (!wanted.empty()) message += ": expected " + std::string(wanted);
  if (next_ > 0 && remainder_is_comment(peek(-1)))
    message += " (a comment begins with '%'; the remainder is 'rem')";
  fail_at(t.loc, message + hint.text);
}

/// Whether a comment looks like the remainder "X % 2" of other languages.
bool TokenCursor::remainder_is_comment(const Token& before) const {
  const std::string_view line = session_.sources.line(before.loc.file, before.loc.line);
  const std::size_t comment = line.find('%', before.loc.column);
  const bool behind = peek().loc.line > before.loc.line || at(Tok::kEof);
  if (comment == std::string_view::npos || !behind) return false;
  const std::size_t text = line.find_first_not_of(' ', comment + 1);
  return text != std::string_view::npos && line[text] >= '0' && line[text] <= '9';
}

void TokenCursor::fail_nesting() {
  fail_at(peek().loc, format_message("nesting too deep: more than %u levels", kMaxNesting));
}

}  // namespace vmrun::compile
