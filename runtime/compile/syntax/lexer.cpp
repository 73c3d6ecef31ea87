// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/lexer.hpp"

#include <algorithm>
#include <string>

#include "runtime/compile/source/diagnostics.hpp"
#include "vm/base/character_width.hpp"

namespace vmrun::compile {

namespace {

constexpr char32_t kEnd = 0xFFFFFFFF;

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_upper(char32_t c) { return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7); }
bool is_lower(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0xFF && c != 0xF7); }
bool is_name_char(char32_t c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_' || c == '@'; }
bool is_blank(char32_t c) { return c <= 32 || (c >= 0x80 && c <= 0xA0) || c == 0xFEFF; }

int digit_value(char32_t c) {
  if (is_digit(c)) return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'z') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'Z') return static_cast<int>(c - 'A') + 10;
  return 99;
}

/// Characters of other languages, or of word processors, and their replacements.
struct ForeignCharacter {
  std::u32string_view characters;
  const char* hint;
};
constexpr ForeignCharacter kForeignCharacters[] = {
    {U"&", "and is 'andalso', of bits 'band'"},
    {U"^", "or else of bits is 'bxor', a power math:pow(Base, Exponent)"},
    {U"\u201C\u201D\u201E\u00AB\u00BB", "a string stands between \"straight\" quotes"},
    {U"\u2018\u2019\u201A", "a quoted atom stands between 'straight' quotes"},
    {U"`", "a string stands between \" and \", a quoted atom between ' and '"},
    {U"\u2010\u2011\u2012\u2013\u2014\u2212", "the minus sign is '-'"},
    {U"\u2192", "an arrow is '->'"},
};

bool is_unicode_scalar(char32_t c) { return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF); }

}  // namespace

Lexer::Lexer(NodeArena& arena, Names& names, std::string_view text, std::uint32_t file)
    : arena_(arena), names_(names), text_(text), file_(file) {
  // A script may start with an interpreter line.
  if (text_.starts_with("#!"))
    while (!at_end() && peek() != '\n') take();
}

char32_t Lexer::peek(std::size_t ahead) const {
  std::size_t at = at_;
  for (; ahead > 0; --ahead) {
    if (at >= text_.size()) return kEnd;
    next_code_point(text_, at);
  }
  return at < text_.size() ? next_code_point(text_, at) : kEnd;
}

char32_t Lexer::take() {
  char32_t c = next_code_point(text_, at_);
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  return c;
}

bool Lexer::take_if(char32_t c) {
  if (peek() != c) return false;
  take();
  return true;
}

void Lexer::relocate(std::uint32_t file, std::uint32_t line, std::uint32_t line_now) {
  file_ = file;
  line_delta_ = line - line_now + line_delta_;
}

Token Lexer::make(Tok kind) const {
  Token t;
  t.kind = kind;
  t.loc = start_;
  return t;
}

Token Lexer::fail(std::string_view message) { return fail_at(start_, message); }

Token Lexer::fail_at(Loc loc, std::string_view message) {
  Token t = make(Tok::kError);
  t.loc = loc;
  t.text = names_.intern(message);
  return t;
}

std::u32string_view Lexer::keep(const std::u32string& s) {
  const auto kept = arena_.copy(s.data(), s.size());
  return {kept.data(), kept.size()};
}

void Lexer::skip_form() {
  for (;;) {
    Token t = next();
    if (t.kind == Tok::kDot || t.kind == Tok::kEof) return;
  }
}

Token Lexer::next() {
  const Loc behind_last = loc();
  for (;;) {
    if (at_end()) {
      start_ = behind_last;
      return make(Tok::kEof);
    }
    const char32_t c = peek();
    if (is_blank(c)) {
      take();
    } else if (c == '%') {
      while (!at_end() && text_[at_] != '\n') take();
    } else {
      break;
    }
  }
  start_ = loc();
  const char32_t c = peek();
  if (is_lower(c)) return scan_word(false);
  if (is_upper(c) || c == '_') return scan_word(true);
  if (is_digit(c)) return check_end(scan_number());
  switch (c) {
    case '$': return scan_char();
    case '\'': return scan_quoted_atom();
    case '"': return check_end(scan_string());
    case '~': return check_end(scan_sigil());
    default: return scan_punctuation();
  }
}

/// No word touches a number, and no string another one.
Token Lexer::check_end(Token t) {
  if (t.kind == Tok::kInteger || t.kind == Tok::kFloat) {
    if (!is_name_char(peek())) return t;
    while (!at_end() && is_name_char(peek())) take();
    return fail(t.kind == Tok::kInteger ? "illegal integer: a letter, _ or @ follows its digits"
                                        : "illegal float: a letter, _ or @ follows its digits");
  }
  if (t.kind == Tok::kError || peek() != '"') return t;
  return fail_at(loc(), "adjacent string literals without intervening white space");
}

Token Lexer::scan_word(bool variable) {
  const std::size_t from = at_;
  while (!at_end() && is_name_char(peek())) take();
  const std::string_view word = text_.substr(from, at_ - from);
  if (!variable) {
    Tok keyword = keyword_of(word);
    if ((keyword == Tok::kMaybe || keyword == Tok::kElse) && !maybe_enabled_) keyword = Tok::kAtom;
    if (keyword != Tok::kAtom) {
      Token t = make(keyword);
      if (keyword == Tok::kMaybe && !at_end()) t.code = peek();
      return t;
    }
    if (word.size() > 255) return fail("atom length is limited to 255 characters");
  }
  Token t = make(variable ? Tok::kVar : Tok::kAtom);
  t.text = names_.intern(word);
  return t;
}

/// Reads digits of a base with single underscores between them. Returns false when there are none.
bool Lexer::scan_digits(std::string& out, int base) {
  if (digit_value(peek()) >= base) return false;
  while (!at_end()) {
    const char32_t c = peek();
    if (digit_value(c) < base) {
      out.push_back(static_cast<char>(take()));
    } else if (c == '_' && digit_value(peek(1)) < base) {
      take();
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::scan_number() {
  std::string digits;
  scan_digits(digits, 10);
  if (peek() == '#' && digit_value(peek(1)) < 36) {
    const int base = digits.size() <= 2 ? std::stoi(digits) : 0;
    if (base < 2 || base > 36) {
      take();
      std::string rest;
      scan_digits(rest, 36);
      return fail(format_message("illegal base '%s': a base is between 2 and 36", digits.c_str()));
    }
    if (digit_value(peek(1)) < base) {
      take();
      std::string value;
      scan_digits(value, base);
      if (is_name_char(peek())) return fail(format_message("illegal digit in an integer of base %d", base));
      if (peek() == '.' && digit_value(peek(1)) < 36) return scan_based_float(value, base);
      Token t = make(Tok::kInteger);
      t.base = static_cast<std::uint8_t>(base);
      t.text = arena_.copy(std::string_view(value));
      return t;
    }
    if (is_digit(peek(1))) {
      take();
      std::string rest;
      scan_digits(rest, 36);
      return fail(format_message("illegal digit in an integer of base %d", base));
    }
  }
  if (peek() == '.' && is_digit(peek(1))) {
    take();
    std::string text = digits + ".";
    scan_digits(text, 10);
    if (char32_t e = peek(); e == 'e' || e == 'E') {
      const char32_t sign = peek(1);
      if (is_digit(sign) || ((sign == '-' || sign == '+') && is_digit(peek(2)))) {
        take();
        text.push_back('e');
        if (!is_digit(sign)) text.push_back(static_cast<char>(take()));
        scan_digits(text, 10);
      } else {
        return fail("illegal float: the exponent has no digits");
      }
    }
    Token t = make(Tok::kFloat);
    t.text = arena_.copy(std::string_view(text));
    return t;
  }
  Token t = make(Tok::kInteger);
  t.text = arena_.copy(std::string_view(digits));
  return t;
}

/// Reads what follows the digits of a float with a base: the point, the fraction, and `#e` with a
/// decimal exponent, which may be missing. whole: the digits in front of the point.
Token Lexer::scan_based_float(const std::string& whole, int base) {
  take();
  std::string text = whole + ".";
  if (!scan_digits(text, base) || is_name_char(peek())) {
    std::string rest;
    scan_digits(rest, 36);
    return fail(format_message("illegal float: illegal digit in a float of base %d", base));
  }
  if (peek() == '#' && (peek(1) == 'e' || peek(1) == 'E')) {
    take();
    take();
    text.push_back('#');
    if (peek() == '-' || peek() == '+') text.push_back(static_cast<char>(take()));
    if (!scan_digits(text, 10)) return fail("illegal float: the exponent has no digits");
  }
  Token t = make(Tok::kFloat);
  t.base = static_cast<std::uint8_t>(base);
  if (base == 10) std::ranges::replace(text, '#', 'e');
  t.text = arena_.copy(std::string_view(text));
  return t;
}

/// An escape sequence after its backslash.
bool Lexer::scan_escape(char32_t& out) {
  problem_loc_ = loc();
  if (at_end()) {
    problem_ = "unexpected end of file in an escape sequence";
    return false;
  }
  char32_t c = take();
  if (c >= '0' && c <= '7') {
    out = c - '0';
    for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) out = out * 8 + (take() - '0');
    return true;
  }
  switch (c) {
    case 'b': out = 8; return true;
    case 'd': out = 127; return true;
    case 'e': out = 27; return true;
    case 'f': out = 12; return true;
    case 'n': out = 10; return true;
    case 'r': out = 13; return true;
    case 's': out = 32; return true;
    case 't': out = 9; return true;
    case 'v': out = 11; return true;
    case '^': {
      const char32_t k = at_end() ? kEnd : peek();
      if (k == '?') {
        take();
        out = 127;
        return true;
      }
      if (!((k >= '@' && k <= '_') || (k >= 'a' && k <= 'z'))) {
        problem_ = "illegal control character escape";
        return false;
      }
      out = take() & 31;
      return true;
    }
    case 'x': {
      std::uint64_t value = 0;
      if (take_if('{')) {
        std::size_t digits = 0;
        for (; digit_value(peek()) < 16; ++digits)
          value = std::min<std::uint64_t>(value * 16 + digit_value(take()), 1u << 30);
        if (digits == 0 || !take_if('}')) {
          problem_ = "illegal escape: expected hexadecimal digits and '}' after \\x{";
          return false;
        }
      } else {
        if (digit_value(peek()) >= 16 || digit_value(peek(1)) >= 16) {
          problem_ = "illegal escape: \\x takes two hexadecimal digits, or any number within braces";
          return false;
        }
        value = static_cast<std::uint64_t>(digit_value(take())) * 16;
        value += static_cast<std::uint64_t>(digit_value(take()));
      }
      if (!is_unicode_scalar(static_cast<char32_t>(value))) {
        problem_ = "illegal escape: not a Unicode code point";
        return false;
      }
      out = static_cast<char32_t>(value);
      return true;
    }
    default: out = c; return true;
  }
}

bool Lexer::scan_string_body(char32_t close, bool verbatim, std::u32string& out) {
  for (;;) {
    if (at_end()) {
      problem_loc_ = start_;
      problem_ = close == '\'' ? "unterminated quoted atom" : "unterminated string";
      return false;
    }
    char32_t c = peek();
    if (c == close) {
      take();
      return true;
    }
    take();
    if (c == '\\' && verbatim) {
      out.push_back(c);
    } else if (c == '\\') {
      char32_t value;
      if (!scan_escape(value)) {
        // Continue behind the string, so that its rest is not read as code.
        const std::string_view why = problem_;
        const Loc where = problem_loc_;
        std::u32string rest;
        scan_string_body(close, true, rest);
        problem_ = why;
        problem_loc_ = where;
        return false;
      }
      out.push_back(value);
    } else {
      out.push_back(c);
    }
  }
}

Token Lexer::scan_char() {
  take();
  if (at_end()) return fail("unexpected end of file after '$'");
  char32_t c = take();
  if (c == '\\' && !scan_escape(c)) return fail_at(problem_loc_, problem_);
  Token t = make(Tok::kChar);
  t.code = c;
  return t;
}

Token Lexer::scan_quoted_atom() {
  take();
  std::u32string chars;
  if (!scan_string_body('\'', false, chars)) return fail_at(problem_loc_, problem_);
  if (chars.size() > 255) return fail("atom length is limited to 255 characters");
  std::string name;
  for (char32_t c : chars) append_utf8(name, c);
  Token t = make(Tok::kAtom);
  t.text = names_.intern(name);
  return t;
}

std::size_t Lexer::count_quotes() const {
  std::size_t n = 0;
  while (at_ + n < text_.size() && text_[at_ + n] == '"') ++n;
  return n;
}

Token Lexer::scan_string() {
  Token t = make(Tok::kString);
  if (count_quotes() >= 3) return scan_triple(true, t);
  take();
  std::u32string chars;
  if (!scan_string_body('"', false, chars)) return fail_at(problem_loc_, problem_);
  t.chars = keep(chars);
  return t;
}

/// `"""` newline, lines, then a line of white space and as many quotes. That white space is removed
/// from every line; the last newline does not count. Escapes are read only in `~s"""` and `~b"""`.
Token Lexer::scan_triple(bool verbatim, Token t) {
  const std::size_t quotes = count_quotes();
  for (std::size_t i = 0; i < quotes; ++i) take();
  while (!at_end() && peek() != '\n' && is_blank(peek())) take();
  if (!take_if('\n')) {
    // OTP 26 and before read `"""` as an empty string and the start of another one; OTP 27 requires
    // a line end.
    return fail("a triple-quoted string must start with a line of its own after the quotes");
  }
  struct Line {
    std::size_t from, to;
    Loc loc;
  };
  std::vector<Line> lines;
  std::size_t indent_from = 0, indent_length = 0;
  for (;;) {
    if (at_end()) return fail("unterminated triple-quoted string");
    const std::size_t from = at_;
    const Loc where = loc();
    while (!at_end() && peek() != '\n' && is_blank(peek())) take();
    if (count_quotes() >= quotes) {
      indent_from = from;
      indent_length = at_ - from;
      for (std::size_t i = 0; i < quotes; ++i) take();
      break;
    }
    while (!at_end() && peek() != '\n') take();
    lines.push_back({from, at_, where});
    take_if('\n');
  }
  const std::string_view indent = text_.substr(indent_from, indent_length);
  std::string body;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = text_.substr(lines[i].from, lines[i].to - lines[i].from);
    if (i + 1 == lines.size() && line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(indent)) {
      line.remove_prefix(indent.size());
    } else if (!line.empty() && line != "\r") {
      return fail_at(lines[i].loc,
                     "a line of a triple-quoted string is indented less than its closing quotes");
    } else {
      line = {};
    }
    if (i > 0) body += '\n';
    body += line;
  }
  std::u32string chars;
  if (verbatim) {
    for (std::size_t at = 0; at < body.size();) chars.push_back(next_code_point(body, at));
  } else {
    body += '"';  // an unescaped quote inside would end a nested scan early, so escape those first
    std::string escaped;
    for (std::size_t at = 0; at + 1 < body.size(); ++at) {
      if (body[at] == '\\' && at + 2 < body.size()) escaped += body[at++];
      else if (body[at] == '"') escaped += '\\';
      escaped += body[at];
    }
    escaped += '"';
    Lexer inner(arena_, names_, arena_.copy(std::string_view(escaped)), file_);
    if (!inner.scan_string_body('"', false, chars)) return fail(inner.problem_);
  }
  t.chars = keep(chars);
  return t;
}

Token Lexer::scan_sigil() {
  take();
  const std::size_t from = at_;
  while (!at_end() && is_name_char(peek())) take();
  const std::string_view prefix = text_.substr(from, at_ - from);
  Token t = make(Tok::kSigil);
  t.text = names_.intern(prefix);
  const bool known = prefix.empty() || prefix == "s" || prefix == "S" || prefix == "b" || prefix == "B";
  if (!known) return fail(format_message("unknown sigil prefix '~%.*s'", VIEW(prefix)));
  const bool verbatim = prefix == "S" || prefix == "B";
  const char32_t open = at_end() ? kEnd : peek();
  char32_t close = open;
  switch (open) {
    case '"':
      if (count_quotes() >= 3) return scan_triple(verbatim || prefix.empty(), t);
      break;
    case '(': close = ')'; break;
    case '[': close = ']'; break;
    case '{': close = '}'; break;
    case '<': close = '>'; break;
    case '/':
    case '|':
    case '\'':
    case '`':
    case '#': break;
    default: return fail("a sigil needs a delimiter, as in ~\"text\"");
  }
  take();
  std::u32string chars;
  if (!scan_string_body(close, verbatim, chars)) return fail_at(problem_loc_, problem_);
  t.chars = keep(chars);
  return t;
}

Token Lexer::scan_punctuation() {
  struct Row {
    std::string_view spelling;
    Tok kind;
  };
  static constexpr Row kRows[] = {
#define X(name, spelling) {spelling, Tok::k##name},
      VMRUN_PUNCTUATION(X)
#undef X
  };
  std::string_view rest = text_.substr(at_, 3);
  const Row* best = nullptr;
  for (const Row& row : kRows)
    if (rest.starts_with(row.spelling) && (!best || row.spelling.size() > best->spelling.size())) best = &row;
  if (!best) {
    const char32_t c = take();
    std::string shown;
    append_utf8(shown, c);
    if (character_width(c) == 0) shown = format_message("U+%04X", static_cast<unsigned>(c));
    std::string message = "illegal character '" + shown + "'";
    for (const ForeignCharacter& f : kForeignCharacters)
      if (f.characters.find(c) != std::u32string_view::npos) message += std::string(": ") + f.hint;
    return fail(message);
  }
  for (std::size_t i = 0; i < best->spelling.size(); ++i) take();
  if (best->kind == Tok::kPoint && (at_end() || is_blank(peek()) || peek() == '%')) return make(Tok::kDot);
  return make(best->kind);
}

std::size_t token_length(std::string_view rest) {
  std::size_t first_end = 0;
  if (rest.empty() || is_blank(next_code_point(rest, first_end))) return 1;
  NodeArena arena;
  Names names(arena);
  Lexer lexer(arena, names, rest, 0);
  const Token first = lexer.next();
  const std::size_t length = lexer.loc().column - 1;
  if (first.kind != Tok::kQuestion && first.kind != Tok::kHash) return length;
  const Token name = lexer.next();
  const bool goes_on = name.loc.column == length + 1 && (name.kind == Tok::kAtom || name.kind == Tok::kVar);
  return goes_on ? lexer.loc().column - 1 : length;
}

}  // namespace vmrun::compile
