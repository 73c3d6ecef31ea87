// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/d/syntax/failure.hpp"

/// The first pass: it turns bytes into tokens. It also handles comments, control lines (#pragma,
/// markers of the preprocessor) and macro variables ($1, $target). D has two sorts of words.
/// Between clauses, a probe description is one word (read by `description`); elsewhere, words are
/// C's tokens (read by `next`).
namespace vmrun::d::lang {

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kInteger,  // value, suffix
    kString,   // text, escapes replaced
    kName,
    kKeyword,
    kSign,         // an operator or separator; "/{" ends a predicate
    kAggregation,  // text without @
  };
  Kind kind = Kind::kEnd;
  std::string text;
  std::uint64_t value = 0;
  bool is_unsigned = false, is_long = false, is_decimal = true, is_character = false;
  Place place;

  bool is(std::string_view sign_or_keyword) const {
    return (kind == Kind::kSign || kind == Kind::kKeyword) && text == sign_or_keyword;
  }
  /// Returns the token as an error message names it.
  std::string shown() const;
};

/// A control line for the compiler.
struct Pragma {
  Place place;
  std::vector<std::string> words;  // after #pragma
};

/// What $name and $1 stand for. Both functions return whether there is such a macro.
struct Macros {
  std::function<bool(std::string_view name, std::string& value)> find;
  std::function<void(const Pragma&)> pragma;
  std::function<std::uint32_t(const std::string& file)> file_number;
  /// Returns the name that a wrong one probably means, or an empty text. It may be unset.
  std::function<std::string(std::string_view name)> like = {};
};

class Lexer {
 public:
  /// source: the number of the text, for places.
  Lexer(std::string_view text, std::uint32_t file, const Macros& macros, std::uint32_t source = 0)
      : text_(text), line_{file, 1, source}, macros_(macros) {}

  Token next();
  /// Called between clauses. Returns whether the word of a probe description follows, not a
  /// declaration. is_type: tells names of types from others.
  bool at_description(const std::function<bool(const std::string&)>& is_type);
  /// Reads that word. Macros are replaced; quotes and escapes stay as they are. The word is empty
  /// when there is none. function_is_last: with -f, where reverse/1 alone has an arity.
  std::string description(bool function_is_last);
  bool at_end() {
    skip();
    return at_ >= text_.size();
  }
  /// Returns the next byte that is neither blank nor comment, or 0 at the end.
  char peek() {
    skip();
    return look();
  }
  Place place() const {
    Place here = line_;
    here.offset = static_cast<std::uint32_t>(at_);
    return here;
  }
  /// Goes back to a token.
  void go_to(const Place& place) {
    line_ = place;
    at_ = place.offset;
  }

 private:
  char look(std::size_t n = 0) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  void skip();
  void comment();
  void control_line();
  void pragma(const std::vector<std::string>& words, Place place);
  Token number();
  Token quoted(char quote);
  unsigned char escape();
  Token macro();
  std::string macro_name();
  std::string macro_hint(const std::string& name) const;
  std::string quoted_name();
  bool arity_ends(std::size_t end, bool function_is_last);
  /// Returns the first byte from there on that is neither blank nor comment, or 0 at the end. One
  /// that is blank stands for a comment with an error, which is reported when it is read.
  char peek_from(std::size_t* at) const;
  Token sign();

  std::string_view text_;
  std::size_t at_ = 0;
  Place line_;  // where the lexer is; its offset is not used
  bool line_start_ = true;
  const Macros& macros_;
};

bool is_keyword(std::string_view word);
/// Returns the keyword that a wrong word probably means; empty when there is none. declares: one
/// that begins a declaration, else one that a statement may have.
std::string_view keyword_like(std::string_view word, bool declares);
/// Returns how many bytes the token has with which the text begins. It is at least 1.
std::size_t token_bytes(std::string_view text);
/// Returns how many bytes the probe description has with which the text begins.
std::size_t description_bytes(std::string_view text);
/// Whether a keyword can begin a declaration.
bool begins_declaration(std::string_view keyword);

}  // namespace vmrun::d::lang
