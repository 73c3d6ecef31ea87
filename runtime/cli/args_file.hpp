#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Words of a command line that stand elsewhere: in variables of the environment, and in the files
/// that `-args_file` names.
namespace vmrun::cli {

/// Words of a text as erl reads them: blanks part them, quotes and backslashes keep blanks; in
/// files # begins a comment.
std::vector<std::string> words_of(std::string_view text, bool with_comments);

/// The words of a file. Returns an error as a sentence, or nothing.
std::optional<std::string> read_args_file(const std::string& name, std::vector<std::string>* words);

/// Copies words to *out with the words of a file for each `-args_file FILE`, in files too, up to
/// `-extra`. depth: of files within files, 0 to begin with.
std::optional<std::string> spread_args_files(const std::vector<std::string>& words, unsigned depth,
                                             std::vector<std::string>* out);

}  // namespace vmrun::cli
