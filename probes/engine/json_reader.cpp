// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/json_reader.hpp"

#include <cstdint>

namespace vmrun::d {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Goes to the value of a member, or of an element, of what begins here. Returns false when there
  /// is no such member.
  bool enter_member(std::string_view name);
  bool enter_element(std::uint64_t index);
  /// Returns the value that begins here.
  std::optional<std::string_view> value();

 private:
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  bool string(std::string_view& content);
  bool skip();

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Passes a string, and returns what is between its quotes.
bool Scanner::string(std::string_view& content) {
  if (!take('"')) return false;
  const std::size_t begin = at_;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      content = text_.substr(begin, at_ - begin);
      ++at_;
      return true;
    }
  }
  return false;
}

/// Passes one value. Brackets are counted; what is between them is not looked at.
bool Scanner::skip() {
  std::string_view content;
  std::size_t open = 0;
  do {
    switch (next()) {
      case '\0': return false;
      case '"':
        if (!string(content)) return false;
        break;
      case '{':
      case '[':
        ++open;
        ++at_;
        break;
      case '}':
      case ']':
        if (open == 0) return false;
        --open;
        ++at_;
        break;
      case ',':
      case ':':
        if (open == 0) return false;
        ++at_;
        break;
      default:
        while (at_ < text_.size() &&
               std::string_view(" \t\n\r,:{}[]\"").find(text_[at_]) == std::string_view::npos)
          ++at_;
    }
  } while (open != 0);
  return true;
}

bool Scanner::enter_member(std::string_view name) {
  if (!take('{')) return false;
  do {
    std::string_view key;
    if (!string(key) || !take(':')) return false;
    if (key == name) return true;
    if (!skip()) return false;
  } while (take(','));
  return false;
}

bool Scanner::enter_element(std::uint64_t index) {
  if (!take('[') || next() == ']') return false;
  for (; index != 0; --index)
    if (!skip() || !take(',')) return false;
  return true;
}

std::optional<std::string_view> Scanner::value() {
  std::string_view content;
  if (next() == '"') return string(content) ? std::optional(content) : std::nullopt;
  const std::size_t begin = at_;
  if (!skip()) return std::nullopt;
  return text_.substr(begin, at_ - begin);
}

/// Takes an index such as [12] from the front of a path. Returns false when the path does not begin
/// with one.
bool take_index(std::string_view& path, std::uint64_t& index) {
  std::size_t n = 1;
  index = 0;
  for (; n < path.size() && path[n] >= '0' && path[n] <= '9' && n < 12; ++n)
    index = index * 10 + static_cast<std::uint64_t>(path[n] - '0');
  if (n == 1 || n >= path.size() || path[n] != ']') return false;
  path.remove_prefix(n + 1);
  return true;
}

}  // namespace

std::optional<std::string_view> json_element(std::string_view text, std::string_view path) {
  Scanner scanner(text);
  for (bool first = true; !path.empty(); first = false) {
    std::uint64_t index;
    if (path[0] == '[') {
      if (!take_index(path, index) || !scanner.enter_element(index)) return std::nullopt;
      continue;
    }
    if (!first) {
      if (path[0] != '.') return std::nullopt;
      path.remove_prefix(1);
    }
    const std::string_view name = path.substr(0, path.find_first_of(".["));
    if (name.empty() || !scanner.enter_member(name)) return std::nullopt;
    path.remove_prefix(name.size());
  }
  return scanner.value();
}

}  // namespace vmrun::d
