#include "runtime/compile/syntax/token_cursor.hpp"

#include <string>

namespace vmrun::compile {

const Token& TokenCursor::peek(size_t ahead) const {
  size_t i = next_ + ahead;
  return i < tokens_.size() ? tokens_[i] : tokens_.back();
}

const Token& TokenCursor::take() {
  const Token& t = peek();
  if (next_ < tokens_.size()) next_++;
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
  std::string message = "syntax error before " + describe_token(t);
  if (t.kind == Tok::kEof) fail_at(t.loc, "unexpected end of file: the last form does not end with '.'");
  if (!wanted.empty()) message += ": expected " + std::string(wanted);
  fail_at(t.loc, std::move(message));
}

void TokenCursor::fail_nesting() {
  fail_at(peek().loc, format_message("nesting too deep: more than %u levels", kMaxNesting));
}

}  // namespace vmrun::compile
