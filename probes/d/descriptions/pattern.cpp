#include "probes/d/descriptions/pattern.hpp"

namespace vmrun::d {
namespace {

/// One [class] of a pattern; `at` is behind the bracket and moves behind the end. False: no end.
bool class_matches(std::string_view pattern, std::size_t& at, char c, bool& yes) {
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
    const char low = pattern[at++];
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    yes = yes || (c >= low && c <= high);
  }
  return false;
}

/// One element of a pattern against one character.
bool one_matches(std::string_view pattern, std::size_t& at, char c) {
  const char p = pattern[at++];
  if (p == '?') return true;
  if (p == '[') {
    bool yes;
    std::size_t end = at;
    if (class_matches(pattern, end, c, yes)) {
      at = end;
      return yes;
    }
  }
  if (p == '\\' && at < pattern.size()) return pattern[at++] == c;
  return p == c;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return true;
  // The last * takes in one more character whenever what follows it does not match.
  std::size_t at = 0, n = 0, star = std::string_view::npos, star_n = 0;
  while (n < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_n = n;
    } else if (std::size_t next = at; at < pattern.size() && one_matches(pattern, next, name[n])) {
      at = next;
      n++;
    } else if (star != std::string_view::npos) {
      at = star;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') at++;
  return at == pattern.size();
}

}  // namespace vmrun::d
