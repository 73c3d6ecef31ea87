// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Changes that stay closer to programs than changed bytes do. Pure functions.
namespace vmrun::fuzz {

inline std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 14695981039346656037ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

/// Exchanges two words; which ones, the text itself decides.
inline std::string exchanged(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t from = i;
    auto alnum = [&](std::size_t k) {
      return std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_';
    };
    while (i < text.size() && alnum(i) && alnum(from)) i++;
    if (i == from) i++;
    if (text[from] > ' ') words.emplace_back(from, i - from);
  }
  if (words.size() < 2) return text;
  const std::uint64_t h = hash_of(text);
  auto a = words[h % words.size()], b = words[(h >> 32) % words.size()];
  if (a.first > b.first) std::swap(a, b);
  if (a.first + a.second > b.first) return text;
  return text.substr(0, a.first) + text.substr(b.first, b.second) +
         text.substr(a.first + a.second, b.first - a.first - a.second) + text.substr(a.first, a.second) +
         text.substr(b.first + b.second);
}

}  // namespace vmrun::fuzz
