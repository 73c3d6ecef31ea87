// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Command-line words that stand elsewhere: in environment variables, and in the files that
/// `-args_file` names.
namespace vmrun::cli {

/// What a backslash between double quotes does. In vmrun's own files it quotes a quote, as in a
/// shell; for erl it is a character like any other.
enum class Backslash { kKeepsQuote, kIsCharacter };

/// Splits a text into words as erl does: blanks separate words, quotes and backslashes keep blanks,
/// and in files # begins a comment.
std::vector<std::string> words_of(std::string_view text, bool with_comments, Backslash between_quotes);

/// Reads the words of a file. Returns an error as a sentence, or nothing.
std::optional<std::string> read_args_file(const std::string& name, Backslash between_quotes,
                                          std::vector<std::string>* words);

/// A command line that erl puts together from several sources.
struct SpreadWords {
  std::vector<std::string> words;
  std::vector<std::string> extra;  // words behind `-extra`, from any source
  bool ends_in_extra = false;      // the last source had an `-extra`
};

/// Adds words to *out. Each `-args_file FILE` is replaced by the words of the file and `--`, in
/// files too. depth: nesting of files, 0 at first.
std::optional<std::string> spread_args_files(const std::vector<std::string>& words, unsigned depth,
                                             SpreadWords* out);

}  // namespace vmrun::cli
