// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/source/interned_names.hpp"
#include "runtime/compile/syntax/token.hpp"

/// Turns source text into tokens (Erlang reference manual, "Character Set and Source File Encoding"
/// and "Data Types"). The text must be well-formed UTF-8: check with find_invalid_utf8 first.
/// Errors become kError tokens in their place. One thread at a time.
namespace vmrun::compile {

class Lexer {
 public:
  Lexer(NodeArena& arena, Names& names, std::string_view text, std::uint32_t file);

  Token next();
  /// `maybe` and `else` are atoms where the maybe_expr feature is disabled.
  void set_maybe_enabled(bool on) { maybe_enabled_ = on; }
  bool maybe_enabled() const { return maybe_enabled_; }
  /// The following tokens get the place `line` of `file`, as `-file` asks.
  void relocate(std::uint32_t file, std::uint32_t line, std::uint32_t line_now);
  /// After an error: skips to the end of the form.
  void skip_form();
  Loc loc() const { return {file_, line_ + line_delta_, column_}; }

 private:
  char32_t peek(std::size_t ahead = 0) const;
  bool at_end() const { return at_ >= text_.size(); }
  char32_t take();
  bool take_if(char32_t c);
  Token make(Tok kind) const;
  Token fail(std::string_view message);
  Token fail_at(Loc loc, std::string_view message);
  Token check_end(Token token);
  Token scan_word(bool variable);
  Token scan_number();
  Token scan_based_float(const std::string& whole, int base);
  Token scan_char();
  Token scan_quoted_atom();
  Token scan_string();
  Token scan_sigil();
  Token scan_triple(bool raw_text, Token token);
  Token scan_punctuation();
  bool scan_digits(std::string& out, int base);
  bool scan_escape(char32_t& out);
  /// The body of a string up to `close`. Escapes are taken literally when `verbatim`.
  bool scan_string_body(char32_t close, bool verbatim, std::u32string& out);
  std::size_t count_quotes() const;
  std::u32string_view keep(const std::u32string& s);

  NodeArena& arena_;
  Names& names_;
  std::string_view text_;
  std::uint32_t file_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t line_delta_ = 0;
  std::uint32_t column_ = 1;
  Loc start_;
  bool maybe_enabled_ = true;
  std::string_view problem_;  // why the last scan_escape or scan_string_body failed
  Loc problem_loc_;
};

/// Returns the number of characters of the token at the front of a line's rest. The name behind `?`
/// and `#` belongs to it; a token that is not closed in this line extends to its end.
std::size_t token_length(std::string_view rest);

}  // namespace vmrun::compile
