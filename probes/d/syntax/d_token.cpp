// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/d_token.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool word_char(char c) { return letter(c) || digit(c); }
bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
/// Whether the word of a probe description may have this character outside of quotes. Letters that
/// are not ASCII are letters of Erlang's names.
bool description_char(char c) {
  return word_char(c) || static_cast<unsigned char>(c) >= 0x80 ||
         (c != '\0' && std::strchr("-:.`?*\\[]!^@", c));
}
bool begins_description(char c) { return description_char(c) || c == '$' || c == '\''; }

// The keywords are sorted, for a binary search.
struct Keyword {
  std::string_view word;
  bool declares;
};
constexpr std::array kWords = std::to_array<Keyword>({
    {"auto", true},      {"break", false},    {"case", false},      {"char", true},      {"const", true},
    {"continue", false}, {"counter", true},   {"default", false},   {"do", false},       {"double", true},
    {"else", false},     {"enum", true},      {"extern", true},     {"float", true},     {"for", false},
    {"goto", false},     {"if", false},       {"import", false},    {"inline", true},    {"int", true},
    {"long", true},      {"offsetof", false}, {"probe", false},     {"provider", true},  {"register", true},
    {"restrict", true},  {"return", false},   {"self", true},       {"short", true},     {"signed", true},
    {"sizeof", false},   {"static", true},    {"string", true},     {"stringof", false}, {"struct", true},
    {"switch", false},   {"this", true},      {"translator", true}, {"typedef", true},   {"union", true},
    {"unsigned", true},  {"userland", true},  {"void", true},       {"volatile", true},  {"while", false},
    {"xlate", false},
});

const Keyword* keyword(std::string_view word) {
  const auto* found = std::ranges::lower_bound(kWords, word, {}, &Keyword::word);
  return found != kWords.end() && found->word == word ? &*found : nullptr;
}

constexpr std::string_view kOfPreprocessor[] = {"define", "elif",   "else",    "endif", "if",
                                                "ifdef",  "ifndef", "include", "undef", "warning"};

std::string hint_of(std::string_view meant, const char* sign) {
  return meant.empty() ? std::string() : did_you_mean(sign + std::string(meant));
}

// The longest come first.
constexpr std::string_view kSigns[] = {
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "^^", "+=",
    "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "(",  ")",  "[",  "]",  "{",  "}",  ";",  ",",  "?",
    ":",   "=",   "<",   ">",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "!",  "~",  "."};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    if (blank(line[i])) {
      i++;
      continue;
    }
    std::size_t end = i + 1;
    if (line[i] == '"') {
      while (end < line.size() && line[end] != '"') end++;
      end = std::min(end + 1, line.size());
    } else {
      while (end < line.size() && !blank(line[end])) end++;
    }
    words.emplace_back(line.substr(i, end - i));
    i = end;
  }
  return words;
}

bool all_digits(std::string_view word) { return !word.empty() && std::ranges::all_of(word, digit); }

int digit_value(char c) {
  if (digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// Returns where a number ends. It has digits (hexadecimal ones after 0x) and suffixes.
std::size_t number_end(std::string_view word) {
  const bool is_hexadecimal = word.size() > 2 && word[0] == '0' && (word[1] | 0x20) == 'x';
  std::size_t at = is_hexadecimal ? 2 : 0;
  while (at < word.size() && digit_value(word[at]) < (is_hexadecimal ? 16 : 10)) at++;
  while (at < word.size() && std::strchr("uUlL", word[at])) at++;
  return at;
}

}  // namespace

std::string_view keyword_like(std::string_view word, bool declares) {
  NearName near(word);
  constexpr std::string_view kOfStatements[] = {"if",   "else",     "sizeof", "stringof",
                                                "this", "offsetof", "xlate",  "self"};
  if (!declares)
    for (const std::string_view known : kOfStatements) near.offer(known);
  for (const Keyword& known : kWords)
    if (declares && known.declares) near.offer(known.word);
  return near.found();
}

std::size_t token_bytes(std::string_view text) {
  if (text.empty()) return 1;
  std::size_t end = text[0] == '@' || text[0] == '$' || text[0] == '`' || text[0] == '#' ? 1 : 0;
  while (end < text.size() && word_char(text[end])) end++;
  if (end != 0) return end;
  if (text[0] == '"' || text[0] == '\'') {
    for (end = 1; end < text.size() && text[end] != '\n' && text[end] != text[0]; end++)
      if (text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n') end++;
    return end < text.size() && text[end] == text[0] ? end + 1 : 1;  // without an end: its beginning
  }
  for (const std::string_view s : kSigns)
    if (text.starts_with(s)) return s.size();
  return 1;
}

std::size_t description_bytes(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    if (text[end] == '\'') {
      const std::size_t close = text.find_first_of("'\n", end + 1);
      if (close == std::string_view::npos || text[close] == '\n') break;
      end = close + 1;
    } else if (description_char(text[end]) || text[end] == '$' ||
               (text[end] == '/' && end != 0 && end + 1 < text.size() && digit(text[end + 1]))) {
      end++;
    } else {
      break;
    }
  }
  return end == 0 ? 1 : end;
}

bool is_keyword(std::string_view word) { return keyword(word) != nullptr; }
bool begins_declaration(std::string_view word) {
  const Keyword* k = keyword(word);
  return k != nullptr && k->declares;
}

std::string Token::shown() const {
  if (kind == Kind::kEnd) return "end of input";
  if (kind == Kind::kString) return "a string";
  if (is("/{")) return "\"/\"";
  return '"' + (kind == Kind::kAggregation ? "@" : std::string()) + text + '"';
}

void Lexer::comment() {
  const Place begin = place();
  at_ += 2;
  while (at_ < text_.size() && !(look() == '*' && look(1) == '/')) {
    if (look() == '/' && look(1) == '*')
      fail(place(), "D_SYNTAX",
           "/* encountered inside a comment: the one that begins in line " + std::to_string(begin.line) +
               " has no */ before it");
    if (look() == '\n') line_.line++;
    at_++;
  }
  if (at_ >= text_.size()) fail(begin, "D_SYNTAX", "end of input inside a comment: no */ follows");
  at_ += 2;
}

void Lexer::skip() {
  while (at_ < text_.size()) {
    const char c = look();
    if (c == '\n') {
      line_.line++;
      line_start_ = true;
      at_++;
    } else if (blank(c)) {
      at_++;
    } else if (c == '\\' && look(1) == '\n') {
      line_.line++;
      at_ += 2;
    } else if (c == '/' && look(1) == '*') {
      comment();
    } else if (c == '/' && look(1) == '/') {
      while (at_ < text_.size() && look() != '\n') at_++;
    } else if (c == '#' && line_start_) {
      control_line();
    } else {
      return;
    }
  }
}

void Lexer::control_line() {
  const std::size_t begin = at_ + 1;
  std::size_t end = text_.find('\n', begin);
  if (end == std::string_view::npos) end = text_.size();
  const std::string_view line = text_.substr(begin, end - begin);
  const Place place = this->place();
  at_ = end;
  if (line.starts_with('!')) {
    if (place.line != 1) fail(place, "D_PRAGCTL_INVAL", "#! is for the first line");
    return;
  }
  std::vector<std::string> words = words_of(line);
  if (words.empty()) return;
  if (words[0] == "line" || all_digits(words[0])) {
    const std::size_t n = words[0] == "line" ? 1 : 0;
    if (n >= words.size() || !all_digits(words[n]) || words[n].size() > 9)
      fail(place, "D_PRAGCTL_INVAL", "#line needs the number of a line");
    line_.line = static_cast<std::uint32_t>(std::stoul(words[n])) - 1;  // the end of this line counts one
    if (n + 1 < words.size()) {
      std::string file = words[n + 1];
      if (file.size() >= 2 && file.front() == '"' && file.back() == '"')
        file = file.substr(1, file.size() - 2);
      line_.file = macros_.file_number(file);
    }
  } else if (words[0] == "pragma") {
    words.erase(words.begin());
    macros_.pragma({place, std::move(words)});
  } else if (words[0] == "error") {
    std::string text = "#error:";
    for (std::size_t i = 1; i < words.size(); i++) text += ' ' + words[i];
    fail(place, "D_PRAGERR", text);
  } else if (words[0] != "ident") {
    NearName near(words[0]);
    for (const std::string_view known : {"pragma", "line", "error", "ident"}) near.offer(known);
    const bool is_of_cpp = std::ranges::find(kOfPreprocessor, words[0]) != std::end(kOfPreprocessor);
    fail(place, "D_PRAGCTL_INVAL",
         "invalid control directive: #" + words[0] +
             (is_of_cpp ? ": it is for the preprocessor, which -C runs" : hint_of(near.found(), "#")));
  }
}

Token Lexer::number() {
  Token token{.kind = Token::Kind::kInteger, .place = place()};
  const std::size_t begin = at_;
  while (word_char(look())) at_++;
  std::string_view digits = text_.substr(begin, at_ - begin);
  if (const std::size_t end = number_end(digits); end < digits.size())
    fail(token.place, "D_SYNTAX",
         "syntax error near \"" + std::string(digits.substr(end)) + "\": it follows the number " +
             std::string(digits.substr(0, end)) + " without a sign between them");
  token.text = digits;
  if (look() == '.' && digit(look(1)))
    fail(token.place, "D_SYNTAX", "floating-point constants are not permitted in D programs");
  bool has_unsigned = false;
  int longs = 0;
  while (!digits.empty() && std::strchr("uUlL", digits.back())) {
    const char c = digits.back();
    if (c == 'u' || c == 'U') {
      if (has_unsigned) fail(token.place, "D_INT_DIGIT", "constant " + token.text + " has an invalid suffix");
      has_unsigned = true;
    } else if (++longs > 2) {
      fail(token.place, "D_INT_DIGIT", "constant " + token.text + " has an invalid suffix");
    }
    digits.remove_suffix(1);
  }
  unsigned base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    base = digits[1] == 'x' || digits[1] == 'X' ? 16 : 8;
    digits.remove_prefix(base == 16 ? 2 : 1);
    if (digits.empty()) fail(token.place, "D_INT_DIGIT", "constant " + token.text + " has no digits");
  }
  for (const char c : digits) {
    const unsigned value = static_cast<unsigned>(digit_value(c));
    if (value >= base)
      fail(token.place, "D_INT_DIGIT", "constant " + token.text + " contains the invalid digit '" + c + '\'');
    if (__builtin_mul_overflow(token.value, base, &token.value) ||
        __builtin_add_overflow(token.value, value, &token.value))
      fail(token.place, "D_INT_OFLOW",
           "constant " + token.text + " cannot be represented in any built-in integral type");
  }
  token.is_unsigned = has_unsigned;
  token.is_long = longs > 0;
  token.is_decimal = base == 10;
  return token;
}

unsigned char Lexer::escape() {
  at_++;  // the backslash
  const char c = look();
  at_++;
  switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case 'x': {
      unsigned value = 0;
      for (int n = 0; n < 2 && digit_value(look()) < 16; n++, at_++)
        value = value * 16 + static_cast<unsigned>(digit_value(look()));
      return static_cast<unsigned char>(value);
    }
    default: break;
  }
  if (c < '0' || c > '7') return static_cast<unsigned char>(c);
  unsigned value = static_cast<unsigned>(c - '0');
  for (int n = 0; n < 2 && look() >= '0' && look() <= '7'; n++, at_++)
    value = value * 8 + static_cast<unsigned>(look() - '0');
  return static_cast<unsigned char>(value);
}

Token Lexer::quoted(char quote) {
  Token token{.kind = Token::Kind::kString, .place = place()};
  at_++;
  while (look() != quote || at_ >= text_.size()) {
    if (at_ >= text_.size())
      fail(token.place, "D_SYNTAX",
           std::string("end of input inside a string or character constant: no ") + quote + " follows");
    if (look() == '\n') {
      if (quote == '"') fail(token.place, "D_STR_NL", "newline encountered in string literal");
      fail(token.place, "D_CHR_NL", "newline encountered in character constant");
    }
    if (look() == '\\' && look(1) == '\n') {
      line_.line++;
      at_ += 2;
    } else if (look() == '\\' && at_ + 1 < text_.size()) {
      token.text += static_cast<char>(escape());
    } else {
      token.text += text_[at_++];
    }
  }
  at_++;
  if (quote == '"') {
    // A NUL ends a text, as in C.
    token.text.resize(std::min(token.text.find('\0'), token.text.size()));
    return token;
  }
  token.kind = Token::Kind::kInteger;
  token.is_character = true;
  if (token.text.empty()) fail(token.place, "D_CHR_NULL", "empty character constant");
  if (token.text.size() > 8) fail(token.place, "D_CHR_OFLOW", "character constant is too long");
  if (token.text.size() == 1) {
    token.value =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<signed char>(token.text[0])));
  } else {
    for (const char c : token.text) token.value = token.value << 8 | static_cast<unsigned char>(c);
  }
  return token;
}

std::string Lexer::macro_name() {
  const std::size_t begin = at_;
  if (digit(look())) {
    while (digit(look())) at_++;
  } else {
    while (word_char(look())) at_++;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

std::string Lexer::macro_hint(const std::string& name) const {
  return macros_.like ? hint_of(macros_.like(name), "$") : std::string();
}

Token Lexer::macro() {
  const Place place = this->place();
  at_++;
  const bool as_text = look() == '$';
  if (as_text) at_++;
  const std::string name = macro_name();
  if (name.empty()) fail(place, "D_SYNTAX", "$ needs the name of a macro variable");
  std::string value;
  if (!macros_.find(as_text ? '$' + name : name, value))
    fail(place, "D_MACRO_UNDEF", "macro argument $" + name + " is not defined" + macro_hint(name));
  Token token{.kind = Token::Kind::kString, .text = value, .place = place};
  if (as_text) return token;
  if (value.empty()) fail(place, "D_MACRO_UNDEF", "macro argument $" + name + " is empty");
  const bool negative = value[0] == '-' || value[0] == '+';
  if (digit(value[negative ? 1 : 0])) {
    // Reads a number as strtoull does.
    Macros none;
    Lexer inner(std::string_view(value).substr(negative ? 1 : 0), place.file, none);
    inner.line_ = place;
    try {
      token = inner.number();
    } catch (Failure& failure) {
      failure.place = place;
      throw;
    }
    if (inner.at_ < inner.text_.size())
      fail(place, "D_MACRO_OFLOW", "macro $" + name + ": invalid number " + value);
    token.place = place;
    if (value[0] == '-') token.value = 0 - token.value;
    token.text = value;
    return token;
  }
  if (letter(value[0]) && std::ranges::all_of(value, word_char)) {
    token.kind = is_keyword(value) ? Token::Kind::kKeyword : Token::Kind::kName;
    return token;
  }
  if (name == "0") return token;  // the script's name
  fail(place, "D_SYNTAX", "macro $" + name + " is neither an integer nor an identifier: " + value);
}

char Lexer::peek_from(std::size_t* at) const {
  Macros quiet{
      .find = {}, .pragma = [](const Pragma&) {}, .file_number = [](const std::string&) { return 0u; }};
  Lexer ahead(text_, line_.file, quiet);
  ahead.at_ = *at;
  ahead.line_start_ = false;
  ahead.line_ = line_;
  try {
    const char c = ahead.peek();
    *at = ahead.at_;
    return c;
  } catch (const Failure&) {
    return ' ';
  }
}

Token Lexer::sign() {
  Token token{.kind = Token::Kind::kSign, .place = place()};
  if (look() == '/' && look(1) != '=') {
    // The / that ends a predicate is followed by a clause's body, or by nothing.
    std::size_t behind = at_ + 1;
    const char c = peek_from(&behind);
    if (c == '{' || c == ';' || c == '\0') {
      at_++;
      token.text = "/{";
      return token;
    }
  }
  for (const std::string_view s : kSigns) {
    if (!text_.substr(at_).starts_with(s)) continue;
    token.text = s;
    at_ += s.size();
    return token;
  }
  const unsigned char c = static_cast<unsigned char>(look());
  at_++;  // the parser may go on behind it
  if (c > ' ' && c < 127)
    fail(token.place, "D_SYNTAX", std::string("syntax error near \"") + static_cast<char>(c) + '"');
  static constexpr char kHex[] = "0123456789abcdef";
  fail(token.place, "D_SYNTAX", std::string("invalid byte 0x") + kHex[c >> 4] + kHex[c & 15]);
}

Token Lexer::next() {
  skip();
  line_start_ = false;
  const char c = look();
  if (at_ >= text_.size()) return {.place = place()};
  if (digit(c)) return number();
  if (c == '"' || c == '\'') return quoted(c);
  if (c == '$') return macro();
  if (c == '@') {
    Token token{.kind = Token::Kind::kAggregation, .place = place()};
    at_++;
    const std::size_t begin = at_;
    if (letter(look()))
      while (word_char(look())) at_++;
    token.text = text_.substr(begin, at_ - begin);
    return token;
  }
  if (letter(c) || c == '`') {
    Token token{.kind = Token::Kind::kName, .place = place()};
    const std::size_t begin = at_;
    while (word_char(look()) || look() == '`') at_++;
    token.text = text_.substr(begin, at_ - begin);
    if (is_keyword(token.text)) token.kind = Token::Kind::kKeyword;
    return token;
  }
  return sign();
}

bool Lexer::at_description(const std::function<bool(const std::string&)>& is_type) {
  skip();
  std::size_t end = at_;
  while (end < text_.size() && word_char(text_[end])) end++;
  const std::string word(text_.substr(at_, end - at_));
  // `self` and `int` begin declarations, but `int:` and `self-x` are names.
  if (word.empty() || digit(word[0]) || !(begins_declaration(word) || is_type(word)))
    return begins_description(look());
  return end < text_.size() && std::strchr(":-.?$['", text_[end]) != nullptr;
}

/// Reads a name in quotes as it is written; nothing in it is replaced.
std::string Lexer::quoted_name() {
  std::size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '\'' && text_[end] != '\n')
    end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2 : 1;
  if (end >= text_.size() || text_[end] == '\n')
    fail(place(), "D_SYNTAX",
         "a name in a probe description has no closing quote: " +
             std::string(text_.substr(at_, std::min<std::size_t>(end - at_, 40))));
  std::string out(text_.substr(at_, end + 1 - at_));
  at_ = end + 1;
  return out;
}

/// Whether the / at this place is that of lists:reverse/1, before its digits; `end` is behind the
/// digits. A predicate that looks like that is a number between two slashes.
bool Lexer::arity_ends(std::size_t end, bool function_is_last) {
  if (end < text_.size() && text_[end] == ':') return true;
  if (!function_is_last || (end < text_.size() && word_char(text_[end]))) return false;
  if (peek_from(&end) != '/') return true;
  end++;
  const char after = peek_from(&end);
  return after != '{' && after != ';' && after != '\0';
}

std::string Lexer::description(bool function_is_last) {
  skip();
  line_start_ = false;
  std::string out;
  while (at_ < text_.size()) {
    if (look() == '$') {
      const Place place = this->place();
      at_++;
      const bool as_text = look() == '$';
      if (as_text) at_++;
      const std::string name = macro_name();
      std::string value;
      if (name.empty() || !macros_.find(as_text ? '$' + name : name, value))
        fail(place, "D_MACRO_UNDEF", "macro argument $" + name + " is not defined" + macro_hint(name));
      out += value;
    } else if (look() == '\'') {
      out += quoted_name();
    } else if (look() == '\\' && look(1) > ' ') {
      out += text_.substr(at_, 2);
      at_ += 2;
    } else if (description_char(look())) {
      out += text_[at_++];
    } else if (look() == '/' && !out.empty() && digit(look(1))) {
      std::size_t end = at_ + 1;
      while (end < text_.size() && digit(text_[end])) end++;
      if (!arity_ends(end, function_is_last)) break;
      out += text_.substr(at_, end - at_);
      at_ = end;
    } else {
      break;
    }
  }
  return out;
}

}  // namespace vmrun::d::lang
