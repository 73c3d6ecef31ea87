// SPDX-License-Identifier: Apache-2.0
#include "probes/d/descriptions/quoted_names.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "probes/engine/pattern.hpp"
#include "vm/base/utf8.hpp"

namespace vmrun::d::lang {
namespace {

struct Escape {
  char letter, stands_for;
};
constexpr Escape kEscapes[] = {{'b', '\b'}, {'d', 127}, {'e', 27},   {'f', '\f'}, {'n', '\n'},
                               {'r', '\r'}, {'s', ' '}, {'t', '\t'}, {'v', '\v'}};

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// Reads at most `most` digits of this base, and returns how many there were.
int read_digits(std::string_view text, std::size_t& at, int base, int most, std::uint32_t& value) {
  int n = 0;
  for (; n < most && at < text.size() && digit_of(text[at]) < base; n++)
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit_of(text[at++]));
  return n;
}

/// Reads \x41 or \x{20ac}; `at` is behind the x.
bool read_hexadecimal(std::string_view text, std::size_t& at, std::uint32_t& value) {
  if (at >= text.size() || text[at] != '{') return read_digits(text, at, 16, 2, value) == 2;
  at++;
  return read_digits(text, at, 16, 6, value) > 0 && at < text.size() && text[at++] == '}';
}

/// Reads one escape sequence; `at` is behind the backslash.
bool read_escape(std::string_view text, std::size_t& at, std::uint32_t& value) {
  const char c = text[at++];
  if (c == 'x') return read_hexadecimal(text, at, value) && value < 0x110000 && (value & ~0x7ffu) != 0xd800;
  if (c == '^') {
    if (at >= text.size() || text[at] < '@' || text[at] > 'z') return false;
    value = static_cast<std::uint32_t>(text[at++] & 31);
    return true;
  }
  if (digit_of(c) < 8) {
    at--;
    return read_digits(text, at, 8, 3, value) > 0;
  }
  const auto* found = std::ranges::find(kEscapes, c, &Escape::letter);
  value = static_cast<unsigned char>(found == std::end(kEscapes) ? c : found->stands_for);
  return true;
}

/// Whether a name in a description may have this character without quotes.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '@' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::size_t quoted_end(std::string_view text, std::size_t at) {
  for (at++; at < text.size(); at++) {
    if (text[at] == '\'') return at + 1;
    if (text[at] == '\\') at++;
  }
  return std::string_view::npos;
}

bool read_quoted(std::string_view between, std::string& name, std::string& why) {
  for (std::size_t at = 0; at < between.size();) {
    if (between[at] != '\\' || at + 1 >= between.size()) {
      name += between[at++];
      continue;
    }
    const std::size_t begin = at++;
    std::uint32_t value = 0;
    if (!read_escape(between, at, value)) {
      why = fmt::format("the escape sequence {} means no character", between.substr(begin, at - begin));
      return false;
    }
    utf8::append(name, value);
  }
  return true;
}

std::string literal_pattern(std::string_view name) {
  // A pattern without characters would match all names.
  if (name.empty()) return std::string(kNothing);
  std::string out;
  for (const char c : name) {
    if (std::string_view("*?[]\\/").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string written_name(std::string_view name) {
  if (!name.empty() && std::ranges::all_of(name, is_plain)) return std::string(name);
  std::string out = "'";
  for (const char c : name) {
    const auto* escape = std::ranges::find(kEscapes, c, &Escape::stands_for);
    if (c == '\'' || c == '\\') (out += '\\') += c;
    else if (escape != std::end(kEscapes) && c != ' ') (out += '\\') += escape->letter;
    else if (c >= 0 && c < ' ') out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else out += c;
  }
  return out + '\'';
}

std::string written_pattern(std::string_view pattern) {
  if (pattern == kNothing) return written_name("");
  std::string out, literal;
  const auto put_literal = [&] {
    if (!literal.empty()) out += written_name(literal);
    literal.clear();
  };
  for (std::size_t at = 0; at < pattern.size(); at++) {
    if (pattern.substr(at).starts_with(kNothing)) {
      at++;
      continue;
    }
    if (std::string_view("*?[").find(pattern[at]) == std::string_view::npos) {
      if (pattern[at] == '\\' && at + 1 < pattern.size()) at++;
      literal += pattern[at];
      continue;
    }
    put_literal();
    const std::size_t end = pattern[at] == '[' ? pattern.find(']', at + 2) : at;
    const std::size_t last = end == std::string_view::npos ? at : end;
    out += pattern.substr(at, last + 1 - at);
    at = last;
  }
  put_literal();
  return out;
}

}  // namespace vmrun::d::lang
