// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/args_file.hpp"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "vm/base/release.hpp"

namespace vmrun::cli {

using Words = std::vector<std::string>;
using Error = std::optional<std::string>;

Words words_of(std::string_view text, bool with_comments, Backslash between_quotes) {
  Words words;
  std::string word;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else if (with_comments && c == '#' && !in_word) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (c == '\'' || c == '"') {
      in_word = true;
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (c == '"' && text[i] == '\\' && i + 1 < text.size() && between_quotes == Backslash::kKeepsQuote)
          ++i;
        word += text[i];
      }
    } else {
      in_word = true;
      if (c == '\\' && i + 1 < text.size()) word += text[++i];
      else word += c;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

Error read_args_file(const std::string& name, Backslash between_quotes, Words* words) {
  std::ifstream file(name);
  if (!file) return fmt::format("-args_file: cannot read '{}'", name);
  *words = words_of(std::string{std::istreambuf_iterator<char>(file), {}}, true, between_quotes);
  return {};
}

Error spread_args_files(const Words& words, unsigned depth, SpreadWords* out) {
  constexpr unsigned kDeepest = 100;
  out->ends_in_extra = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-extra") {
      out->extra.insert(out->extra.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      out->ends_in_extra = true;
      return {};
    }
    if (words[i] != "-args_file") {
      out->words.push_back(words[i]);
      continue;
    }
    if (++i == words.size()) return "flag -args_file needs a file";
    if (depth == kDeepest)
      return fmt::format("-args_file {}: files name each other without an end", words[i]);
    Words in_file;
    if (Error e = read_args_file(words[i], Backslash::kIsCharacter, &in_file)) return e;
    if (Error e = spread_args_files(in_file, depth + 1, out)) return e;
    if (!out->ends_in_extra) out->words.emplace_back("--");
    else if (!release_has(Trait::kStartFlag)) out->extra.emplace_back("--");
    out->ends_in_extra = false;
  }
  return {};
}

}  // namespace vmrun::cli
