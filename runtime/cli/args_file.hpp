#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Words of a command line that stand elsewhere: in variables of the environment, and in the files
/// that `-args_file` names.
namespace vmrun::cli {

/// What a backslash between double quotes does: vmrun's own files, as a shell, keep a quote by it;
/// to erl it is a character as any other.
enum class Backslash { kKeepsQuote, kIsCharacter };

/// Words of a text as erl reads them: blanks part them, quotes and backslashes keep blanks; in
/// files # begins a comment.
std::vector<std::string> words_of(std::string_view text, bool with_comments, Backslash between_quotes);

/// The words of a file. Returns an error as a sentence, or nothing.
std::optional<std::string> read_args_file(const std::string& name, Backslash between_quotes,
                                          std::vector<std::string>* words);

/// A command line as erl puts it together of several sources.
struct SpreadWords {
  std::vector<std::string> words;
  std::vector<std::string> extra;  // what stands behind `-extra`, in whatever source
  bool ends_in_extra = false;      // the last source had one
};

/// Adds words to *out, those of a file and `--` for each `-args_file FILE`, in files too. depth: of
/// files within files, 0 to begin with.
std::optional<std::string> spread_args_files(const std::vector<std::string>& words, unsigned depth,
                                             SpreadWords* out);

}  // namespace vmrun::cli
