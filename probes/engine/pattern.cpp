// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/pattern.hpp"

#include <cstddef>

namespace vmrun::d {
namespace {

/// Returns the bytes of the UTF-8 character at `at`, which lies inside the text.
std::string_view character(std::string_view text, std::size_t at) {
  const auto is_continued = [&](std::size_t n) {
    return (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80;
  };
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 1;
  if (at + bytes > text.size()) return text.substr(at, 1);
  for (std::size_t n = 1; n < bytes; n++)
    if (!is_continued(at + n)) return text.substr(at, 1);
  return text.substr(at, bytes);
}

std::string_view take(std::string_view text, std::size_t& at) {
  const std::string_view c = character(text, at);
  at += c.size();
  return c;
}

/// Matches one [class] of a pattern. `at` is behind the bracket and moves behind the end of the
/// class. Returns false when the class has no end.
bool class_matches(std::string_view pattern, std::size_t& at, std::string_view c, bool& yes) {
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) at++;
  yes = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) {
      at++;
      yes = yes != negated;
      return true;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) at++;
    const std::string_view low = take(pattern, at);
    std::string_view high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      at++;
      if (pattern[at] == '\\' && at + 1 < pattern.size()) at++;
      high = take(pattern, at);
    }
    // The bytes of UTF-8 sort as the characters do.
    yes = yes || (c >= low && c <= high);
  }
  return false;
}

/// Matches one element of a pattern, which is not a * and does not end the pattern, against one
/// character.
bool one_matches(std::string_view pattern, std::size_t& at, std::string_view c) {
  const char p = pattern[at];
  if (p == '?') {
    at++;
    return true;
  }
  if (p == '[') {
    bool yes;
    std::size_t end = at + 1;
    if (class_matches(pattern, end, c, yes)) {
      at = end;
      return yes;
    }
  }
  if (p == '\\' && at + 1 < pattern.size()) at++;
  return take(pattern, at) == c;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return true;
  // The last * takes in one more character whenever what follows it does not match.
  std::size_t at = 0, n = 0, star = std::string_view::npos, star_n = 0;
  while (n < name.size()) {
    if (pattern.substr(at).starts_with(kNothing)) {
      at += kNothing.size();
    } else if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_n = n;
    } else if (std::size_t next = at; at < pattern.size() && one_matches(pattern, next, character(name, n))) {
      at = next;
      n += character(name, n).size();
    } else if (star != std::string_view::npos) {
      at = star;
      n = star_n += character(name, star_n).size();
    } else {
      return false;
    }
  }
  while (at < pattern.size() && (pattern[at] == '*' || pattern.substr(at).starts_with(kNothing)))
    at += pattern[at] == '*' ? 1 : kNothing.size();
  return at == pattern.size();
}

}  // namespace vmrun::d
