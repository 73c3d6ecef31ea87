// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/token.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "runtime/compile/source/diagnostics.hpp"
#include "runtime/compile/syntax/based_float.hpp"

namespace vmrun::compile {

std::string_view token_spelling(Tok kind) {
  switch (kind) {
    case Tok::kEof: return "end of file";
    case Tok::kDot: return ".";
    case Tok::kError: return "error";
    case Tok::kAtom: return "atom";
    case Tok::kVar: return "variable";
    case Tok::kInteger: return "integer";
    case Tok::kFloat: return "float";
    case Tok::kChar: return "character";
    case Tok::kString: return "string";
    case Tok::kSigil: return "sigil";
#define X(name, spelling) \
  case Tok::k##name: return spelling;
      VMRUN_KEYWORDS(X) VMRUN_PUNCTUATION(X)
#undef X
  }
  return "?";
}

bool is_keyword(Tok kind) { return kind >= Tok::kAfter && kind <= Tok::kXor; }

std::optional<double> float_of_token(const Token& t) {
  if (t.base != 10) {
    const std::size_t mark = std::min(t.text.find('#'), t.text.size());
    return based_float(t.text.substr(0, mark), t.base, t.text.substr(std::min(mark + 1, t.text.size())));
  }
  double value = 0;
  auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  if (error == std::errc::result_out_of_range && value == 0 && t.text.find("e-") != std::string_view::npos)
    return 0;  // too small: rounds to zero
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Tok keyword_of(std::string_view word) {
  static const std::unordered_map<std::string_view, Tok> table = {
#define X(name, spelling) {spelling, Tok::k##name},
      VMRUN_KEYWORDS(X)
#undef X
  };
  // `let` and `cond` were reserved once; only `cond` still is, and neither has a meaning.
  const auto it = table.find(word);
  return it == table.end() || it->second == Tok::kLet ? Tok::kAtom : it->second;
}

namespace {

void append_escaped(std::string& out, char32_t c, char32_t quote) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\v': out += "\\v"; return;
    case 27: out += "\\e"; return;
    case 127: out += "\\d"; return;
    default: break;
  }
  if (c == quote || c == '\\') {
    out += '\\';
    append_utf8(out, c);
  } else if (c < 32 || (c >= 128 && c < 160)) {
    out += format_message("\\%o", static_cast<unsigned>(c));
  } else {
    append_utf8(out, c);
  }
}

std::string quote_string(std::u32string_view chars, std::size_t limit) {
  std::string out = "\"";
  for (std::size_t i = 0; i < chars.size() && i < limit; ++i) append_escaped(out, chars[i], '"');
  return out + (chars.size() > limit ? "...\"" : "\"");
}

/// One of another base is written in decimal.
std::string float_source(const Token& t) {
  const std::optional<double> value = t.base == 10 ? std::nullopt : float_of_token(t);
  if (!value) return std::string(t.text);
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, *value);
  std::string text(digits, end);
  const std::size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos) text.insert(std::min(exponent, text.size()), ".0");
  return text;
}

std::string char_literal(char32_t c) {
  std::string out = "$";
  if (c == ' ') return "$\\s";
  append_escaped(out, c, 0);
  return out;
}

}  // namespace

std::string quote_atom(std::string_view name) {
  bool plain = !name.empty();
  for (std::size_t at = 0, n = 0; plain && at < name.size(); ++n) {
    const char32_t c = next_code_point(name, at);
    const bool lower = (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0xFF && c != 0xF7);
    const bool other = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@' ||
                       (c >= 0xC0 && c <= 0xDE && c != 0xD7);
    plain = lower || (n > 0 && other);
  }
  if (plain && keyword_of(name) == Tok::kAtom) return std::string(name);
  std::string out = "'";
  for (std::size_t at = 0; at < name.size();) append_escaped(out, next_code_point(name, at), '\'');
  return out + "'";
}

std::string describe_token(const Token& t) {
  switch (t.kind) {
    case Tok::kEof: return std::string(t.text.empty() ? token_spelling(t.kind) : t.text);
    case Tok::kDot: return "'.'";
    case Tok::kAtom:
      return t.text == quote_atom(t.text) ? "'" + std::string(t.text) + "'" : quote_atom(t.text);
    case Tok::kVar: return "'" + std::string(t.text) + "'";
    case Tok::kInteger: return t.base == 10 ? std::string(t.text.substr(0, 60)) : token_source(t);
    case Tok::kFloat: return float_source(t).substr(0, 60);
    case Tok::kChar: return char_literal(t.code);
    case Tok::kString: return quote_string(t.chars, 40);
    case Tok::kSigil: return "~" + std::string(t.text) + quote_string(t.chars, 40);
    default: return "'" + std::string(token_spelling(t.kind)) + "'";
  }
}

std::string token_source(const Token& t) {
  switch (t.kind) {
    case Tok::kAtom: return quote_atom(t.text);
    case Tok::kVar: return std::string(t.text);
    case Tok::kFloat: return float_source(t);
    case Tok::kInteger:
      if (t.base == 10) return std::string(t.text);
      // Decimal if it fits a machine word, else as written; the value is the same.
      if (t.text.size() <= 12)
        return std::to_string(std::strtoull(std::string(t.text).c_str(), nullptr, t.base));
      return std::to_string(t.base) + "#" + std::string(t.text);
    case Tok::kChar: return char_literal(t.code);
    case Tok::kString: return quote_string(t.chars, SIZE_MAX);
    case Tok::kSigil: return "~" + std::string(t.text) + quote_string(t.chars, SIZE_MAX);
    default: return std::string(token_spelling(t.kind));
  }
}

}  // namespace vmrun::compile
